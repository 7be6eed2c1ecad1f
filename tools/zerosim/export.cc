// zerosim export: writes a scenario as a file of another tool: its strategy as a configuration of
// DeepSpeed, its cluster as a drawing or as a platform of SimGrid.
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "models/scenario/read_scenario.h"
#include "models/topology_files/dot_drawing.h"
#include "models/topology_files/simgrid_xml.h"
#include "tools/zerosim/command.h"
#include "tools/zerosim/deepspeed_json.h"

namespace zerosim {
namespace {

struct ExportOptions {
  std::string format;
  std::string scenario;
  std::vector<std::string> set;
};

void ExportStrategy(const ExportOptions& options, const std::vector<Override>& set) {
  const ReadResult read = ReadScenario(options.scenario, set, DefaultCatalog());
  if (read.scenario.fsdp) {
    throw UsageError(
        fmt::format("export deepspeed: {}: the strategy is fsdp, which DeepSpeed has "
                    "no key for; expected zero",
                    options.scenario));
  }
  const DeepSpeedExport result = ExportDeepSpeed(read.scenario);
  fmt::print("{}\n", result.config.dump(2));
  std::fflush(stdout);
  for (const std::string& what : result.left_out) {
    fmt::print(stderr, "{}: not in the configuration: {}\n", options.scenario, what);
  }
}

void ExportCluster(const ExportOptions& options, const std::vector<Override>& set) {
  const ClusterResult read = ReadClusterOf(options.scenario, set, DefaultCatalog());
  try {
    if (options.format == "dot") {
      fmt::print("{}", DrawCluster(read.name, read.cluster));
      return;
    }
    const SimgridExport result = ExportSimgrid(read.name, read.cluster);
    fmt::print("{}", result.xml);
    std::fflush(stdout);
    for (const std::string& what : result.left_out) {
      fmt::print(stderr, "{}: not in the platform: {}\n", options.scenario, what);
    }
  } catch (const std::invalid_argument& e) {
    throw UsageError(fmt::format("export {}: {}: {}", options.format, options.scenario, e.what()));
  }
}

void Export(const ExportOptions& options) {
  std::vector<Override> set;
  for (const std::string& text : options.set) set.push_back(ParseOverride(text));
  if (options.format == "deepspeed") {
    ExportStrategy(options, set);
  } else {
    ExportCluster(options, set);
  }
}

}  // namespace

Command AddExport(CLI::App& zerosim) {
  const auto options = std::make_shared<ExportOptions>();
  CLI::App* app = zerosim.add_subcommand("export", "Write a scenario as a file of another tool");
  app->add_option("FORMAT", options->format,
                  "deepspeed: the strategy as ds_config.json; dot: the cluster as a drawing for "
                  "Graphviz; simgrid: its network as a platform of SimGrid")
      ->required()
      ->check(OneOf({"deepspeed", "dot", "simgrid"}));
  app->add_option("SCENARIO", options->scenario,
                  "YAML file; for dot and simgrid a file with a cluster is enough")
      ->required()
      ->check(FilePath());
  app->add_option("--set", options->set, "Override a key by its path; may be repeated")
      ->type_name("KEY=VALUE")
      ->take_all()
      ->expected(1);
  app->footer(
      "deepspeed: sequence length, activation checkpointing and the number of ranks are for the "
      "training "
      "script\nand the launcher; no key of DeepSpeed holds them.\n"
      "\n"
      "simgrid: hosts are nodes. What of the cluster it does not hold is said on standard error; "
      "zerosim import\nsimgrid reads it back.\n"
      "\n"
      "Examples:\n"
      "  zerosim export deepspeed scenarios/zeropp_dgx2_384.yaml > ds_config.json\n"
      "  zerosim export dot scenarios/zeropp_dgx2_384.yaml | dot -Tsvg > cluster.svg\n"
      "  zerosim export simgrid scenarios/zeropp_dgx2_384.yaml > platform.xml");
  return {app, [options] { Export(*options); }};
}

}  // namespace zerosim
