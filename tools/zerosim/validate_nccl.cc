// zerosim validate-nccl: holds the model of NCCL against logs of nccl-tests.
#include <memory>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "models/scenario/files.h"
#include "tools/zerosim/command.h"
#include "tools/zerosim/nccl_validation.h"
#include "validate/nccl_clusters.h"
#include "validate/nccl_comparison.h"
#include "validate/nccl_tests_log.h"

namespace zerosim {
namespace {

constexpr const char* kFooter =
    "CLUSTERS says which cluster each log comes from: validate/README.md has its format. Measured "
    "is\n"
    "the faster of out-of-place and in-place. Nothing is fitted to these logs; data sheets and "
    "the\n"
    "constants that NCCL ships give the predictions.\n"
    "\n"
    "Example:\n"
    "  zerosim validate-nccl validate/nccl_clusters.yaml --logs ../data/nccl-tests";

struct ValidateNcclOptions {
  std::string clusters;
  std::string logs;
  bool all = false;
};

void ValidateNccl(const ValidateNcclOptions& options) {
  const DiskFiles disk;
  const NcclClusters clusters = ReadNcclClusters(options.clusters, disk);
  NcclComparison comparison;
  std::size_t unread = 0;
  for (const NcclCluster& cluster : clusters.clusters) {
    for (const NcclRun& run : cluster.runs) {
      const std::string path = options.logs + "/" + run.log;
      const Files::Content content = disk.Read(path);
      if (!content.text) throw UsageError(fmt::format("{}: {}", path, content.problem));
      const NcclTestsLog log = ReadNcclTestsLog({path, *content.text});
      unread += log.problems.size();
      CompareLog(cluster, run, log, &comparison);
    }
  }
  fmt::print("{}", NcclValidationText(comparison, options.all));
  if (unread > 0)
    fmt::print("Rows of logs that other output cut short and that are left out: {}\n", unread);
}

}  // namespace

Command AddValidateNccl(CLI::App& zerosim) {
  const auto options = std::make_shared<ValidateNcclOptions>();
  CLI::App* app =
      zerosim.add_subcommand("validate-nccl", "Hold the model of NCCL against logs of nccl-tests");
  app->add_option("CLUSTERS", options->clusters, "YAML file of clusters and their logs")
      ->required()
      ->check(FilePath());
  app->add_option("--logs", options->logs, "Folder of the logs")
      ->required()
      ->type_name("FOLDER")
      ->check(FilePath());
  app->add_flag("--all", options->all, "Print every row");
  app->footer(kFooter);
  return {app, [options] { ValidateNccl(*options); }};
}

}  // namespace zerosim
