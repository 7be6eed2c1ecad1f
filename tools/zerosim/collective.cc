// zerosim collective: what one collective takes on a cluster, as nccl-tests would print it.
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "models/network/collective_sweep.h"
#include "models/scenario/files.h"
#include "models/scenario/read_scenario.h"
#include "models/topology_files/dot_drawing.h"
#include "tools/zerosim/chart.h"
#include "tools/zerosim/collective_chart.h"
#include "tools/zerosim/collective_question.h"
#include "tools/zerosim/collective_table.h"
#include "tools/zerosim/command.h"
#include "tools/zerosim/output_file.h"
#include "tools/zerosim/sha256.h"
#include "validate/nccl_tests_log.h"

namespace zerosim {
namespace {

constexpr const char* kFooter =
    "CLUSTER is a scenario, of which the cluster alone is read, or a file with no more than a\n"
    "section \"cluster\". Sizes are as nccl-tests has them: 8, 64K, 8G, in powers of 1024; of an\n"
    "all-gather or reduce-scatter all ranks together.\n"
    "\n"
    "Examples:\n"
    "  zerosim collective --cluster scenarios/llama3_8b_zero3_64xh100.yaml --op all_reduce\n"
    "  zerosim collective --cluster my.yaml --op all_gather --nodes 16 --min 1M --max 8G\n"
    "  zerosim collective --cluster my.yaml --op all_to_all --algorithm two_hop --csv out.csv\n"
    "  zerosim collective --cluster a.yaml --cluster b.yaml --env NCCL_ALGO=Ring --json -\n"
    "  zerosim collective --cluster my.yaml --compare all_reduce_perf.log --plot busbw.svg\n"
    "  zerosim collective --cluster my.yaml --algorithm nccl --algorithm ring --plot busbw.svg";

CollectiveAnswer Answer(const std::string& path, const ClusterResult& read,
                        const std::string& algorithm, const CollectiveOptions& options) {
  CollectiveAnswer answer{.cluster = read.name,
                          .path = path,
                          .sha256 = Sha256Hex(read.canonical_text),
                          .question = QuestionOf(options, algorithm),
                          .rows = {},
                          .measured = {}};
  CollectiveQuestion& question = answer.question;
  question.nodes = options.nodes > 0 ? options.nodes : read.cluster.nodes;
  question.gpus_per_node =
      options.gpus_per_node > 0 ? options.gpus_per_node : read.cluster.node.gpus;
  if (!options.compare.empty()) {
    const Files::Content content = DiskFiles().Read(options.compare);
    if (!content.text) throw UsageError(fmt::format("{}: {}", options.compare, content.problem));
    answer.measured =
        TakeLog(options, ReadNcclTestsLog({options.compare, *content.text}), &question);
  }
  try {
    answer.rows = SweepCollective(read.cluster, question);
  } catch (const std::invalid_argument& e) {
    throw UsageError(fmt::format("{}: {}", path, e.what()));
  }
  return answer;
}

void WriteTo(const std::string& path, const std::string& text) {
  if (path.empty()) return;
  OutputFile file(path);
  file.Write(text);
  file.Commit();
}

std::string Picture(const std::vector<CollectiveAnswer>& answers) {
  for (const CollectiveAnswer& answer : answers) {
    if (!answer.rows.empty()) return DrawSvg(ChartOf(answers));
  }
  throw UsageError("--plot: there is no row to draw");
}

void RunCollective(const CollectiveOptions& options) {
  std::vector<Override> set;
  for (const std::string& text : options.set) set.push_back(ParseOverride(text));
  std::vector<CollectiveAnswer> answers;
  if (!options.dot.empty() && options.clusters.size() > 1) {
    throw UsageError(
        fmt::format("--dot draws one cluster, and --cluster names {}", options.clusters.size()));
  }
  std::string drawing;
  for (const std::string& path : options.clusters) {
    const ClusterResult read = ReadClusterOf(path, set, DefaultCatalog());
    if (!options.dot.empty()) drawing = DrawCluster(read.name, read.cluster);
    for (const std::string& algorithm : options.algorithms) {
      answers.push_back(Answer(path, read, algorithm, options));
    }
  }
  const std::string picture = options.plot.empty() ? "" : Picture(answers);
  WriteTo(options.json, CollectiveJson(answers).dump(2) + "\n");
  WriteTo(options.csv, CollectiveCsv(answers));
  WriteTo(options.plot, picture);
  WriteTo(options.dot, drawing);
  if (options.quiet) return;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    fmt::print("{}{}", i > 0 ? "\n" : "", CollectiveTable(answers[i]));
  }
}

}  // namespace

Command AddCollective(CLI::App& zerosim) {
  const auto options = std::make_shared<CollectiveOptions>();
  CLI::App* app = zerosim.add_subcommand(
      "collective", "Predict one collective over sizes, as nccl-tests would measure it");
  app->add_option("--cluster", options->clusters, "File with the cluster; may be given again")
      ->required()
      ->type_name("FILE")
      ->take_all()
      ->expected(1)
      ->check(FilePath());
  app->add_option("--op", options->op, "Collective")
      ->capture_default_str()
      ->check(OneOf(CollectiveNames()));
  app->add_option("--nodes", options->nodes, "Nodes that take part; all of the cluster")
      ->check(CLI::Range(1, std::numeric_limits<int>::max()));
  app->add_option("--gpus-per-node", options->gpus_per_node, "GPUs of each; all")
      ->check(CLI::Range(1, 1024));
  app->add_option("--min", options->least, "Least size")->capture_default_str();
  app->add_option("--max", options->most, "Greatest size")->capture_default_str();
  app->add_option("--factor", options->factor, "From one size to the next")
      ->capture_default_str()
      ->check(CLI::Range(1.01, 1e9));
  app->add_option("--algorithm", options->algorithms,
                  "nccl: what NCCL takes; best: the fastest of all; another: that, at full rate, "
                  "without NCCL's protocols; may be given again")
      ->take_all()
      ->expected(1)
      ->default_str(kNccl)
      ->check(OneOf(AlgorithmNames()));
  app->add_option("--nccl", options->nccl, "Version of NCCL")->capture_default_str();
  app->add_option("--env", options->env, "NCCL_ALGO, NCCL_PROTO, NCCL_MIN_CTAS, ...=VALUE")
      ->type_name("NAME=VALUE")
      ->take_all()
      ->expected(1);
  app->add_option("--gpus-per-process", options->gpus_per_process,
                  "GPUs that one process drives (-g of nccl-tests)")
      ->capture_default_str()
      ->check(CLI::Range(1, 1024));
  app->add_option("--compare", options->compare,
                  "Log of nccl-tests to hold the prediction against; its sizes, version and ranks "
                  "hold unless given")
      ->type_name("LOG")
      ->check(FilePath());
  app->add_option("--set", options->set, "Override a key of the cluster")
      ->type_name("KEY=VALUE")
      ->take_all()
      ->expected(1);
  app->add_option("--json", options->json, "Write the results as JSON")->type_name("FILE");
  app->add_option("--csv", options->csv, "Write the results as CSV")->type_name("FILE");
  app->add_option("--plot", options->plot,
                  "Draw busbw against size as SVG, all clusters and algorithms on one picture "
                  "(needs gnuplot)")
      ->type_name("FILE")
      ->check(FilePath());
  app->add_option("--dot", options->dot, "Write a drawing of the cluster for Graphviz")
      ->type_name("FILE")
      ->check(FilePath());
  app->add_flag("--quiet", options->quiet, "Print no table");
  app->footer(kFooter);
  return {app, [options, app] {
            options->op_given = app->count("--op") > 0;
            options->nccl_given = app->count("--nccl") > 0;
            RunCollective(*options);
          }};
}

}  // namespace zerosim
