// zerosim collective: what one collective takes on a cluster, as nccl-tests would print it.
#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "models/core/units_text.h"
#include "models/network/collective_sweep.h"
#include "models/scenario/files.h"
#include "models/scenario/read_scenario.h"
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
    "  zerosim collective --cluster my.yaml --compare all_reduce_perf.log";

constexpr CollectiveKind kKinds[] = {CollectiveKind::kAllReduce,     CollectiveKind::kAllGather,
                                     CollectiveKind::kReduceScatter, CollectiveKind::kAllToAll,
                                     CollectiveKind::kBroadcast,     CollectiveKind::kReduce,
                                     CollectiveKind::kSendReceive};
constexpr Algorithm kAlgorithms[] = {Algorithm::kRing,
                                     Algorithm::kTree,
                                     Algorithm::kHierarchicalRing,
                                     Algorithm::kHalvingDoubling,
                                     Algorithm::kPat,
                                     Algorithm::kNvls,
                                     Algorithm::kNvlsTree,
                                     Algorithm::kCollNet,
                                     Algorithm::kDirect,
                                     Algorithm::kTwoHop,
                                     Algorithm::kTorusRings};

struct CollectiveOptions {
  std::vector<std::string> clusters;
  std::vector<std::string> set;
  std::string op = "all_reduce";
  bool op_given = false;
  bool nccl_given = false;
  int nodes = 0;          // 0: those of the cluster
  int gpus_per_node = 0;  // 0: all of the node
  std::string least = "8";
  std::string most = "8G";
  double factor = 2;
  std::string algorithm = "nccl";
  std::string nccl = Name(NcclVersion());
  std::vector<std::string> env;
  int gpus_per_process = 1;
  std::string compare;
  std::string json;
  std::string csv;
  bool quiet = false;
};

template <typename Enum, std::size_t kCount>
std::vector<std::string> NamesOf(const Enum (&values)[kCount]) {
  std::vector<std::string> names;
  for (const Enum value : values) names.emplace_back(NameOf(value));
  return names;
}

// As nccl-tests reads them: a number and perhaps K, M, G or T, powers of 1024.
Bytes ParseTestSize(const char* option, const std::string& text) {
  std::string number = text;
  double unit = 1;
  const std::string_view units = "KMGT";
  if (!number.empty()) {
    const std::size_t power =
        units.find(static_cast<char>(std::toupper(static_cast<unsigned char>(number.back()))));
    if (power != std::string_view::npos) {
      unit = std::pow(1024.0, static_cast<double>(power) + 1);
      number.pop_back();
    }
  }
  const std::optional<double> value = ParseNumber(number);
  const double most = 1e15;
  if (!value || *value * unit < 1 || *value * unit > most) {
    throw UsageError(
        fmt::format("{}: expected a size from 1 byte to 1e15 such as 8, 64K or 8G, "
                    "got \"{}\"",
                    option, text));
  }
  return Bytes::Count(std::llround(*value * unit));
}

template <typename Enum, std::size_t kCount>
Enum ValueOf(const std::string& name, const Enum (&values)[kCount]) {
  return *std::ranges::find_if(values, [&](Enum value) { return NameOf(value) == name; });
}

CollectiveQuestion QuestionOf(const CollectiveOptions& options) {
  CollectiveQuestion question;
  question.kind = ValueOf(options.op, kKinds);
  question.best = options.algorithm == "best";
  if (options.algorithm != "nccl" && !question.best) {
    question.algorithm = ValueOf(options.algorithm, kAlgorithms);
  }
  const std::optional<NcclVersion> version = ParseNcclVersion(options.nccl);
  if (!version) {
    throw UsageError(
        fmt::format("--nccl: expected a version such as 2.27.5, got \"{}\"", options.nccl));
  }
  question.version = *version;
  for (const std::string& variable : options.env) {
    if (const auto problem = SetVariable(variable, &question.overrides)) {
      const bool named = variable.find('=') != std::string::npos;
      throw UsageError(fmt::format("--env{} {}", named ? "" : ":", *problem));
    }
  }
  if (question.algorithm && !options.env.empty()) {
    throw UsageError(fmt::format("--env has no effect with --algorithm {}", options.algorithm));
  }
  question.gpus_per_process = options.gpus_per_process;
  const Bytes least = ParseTestSize("--min", options.least);
  const Bytes most = ParseTestSize("--max", options.most);
  if (most < least) {
    throw UsageError(fmt::format("--max {} is less than --min {}", options.most, options.least));
  }
  question.sizes = Sizes(least, most, options.factor);
  return question;
}

// The rows of a log that have a time: the faster placement of each, since single runs have spikes.
// What the log says of the run holds where no option does.
std::vector<Seconds> TakeLog(const CollectiveOptions& options, const NcclTestsLog& log,
                             CollectiveQuestion* question) {
  if (log.rows.empty()) {
    throw UsageError(fmt::format("{}: no rows of nccl-tests in it", options.compare));
  }
  if (!options.op_given) {
    const auto* kind = std::ranges::find_if(kKinds, [&](CollectiveKind candidate) {
      return log.collective && NcclKindOf(candidate) == *log.collective;
    });
    if (kind == std::end(kKinds)) {
      throw UsageError(
          fmt::format("{}: does not say which collective; give --op", options.compare));
    }
    question->kind = *kind;
  }
  if (log.version && !options.nccl_given) question->version = *log.version;
  if (log.gpus_per_process) question->gpus_per_process = *log.gpus_per_process;
  const int nodes = log.nodes();
  if (options.nodes == 0 && nodes > 0) question->nodes = nodes;
  if (options.gpus_per_node == 0 && nodes > 0) {
    question->gpus_per_node = static_cast<int>(log.ranks.size()) / nodes;
  }
  std::vector<Seconds> measured;
  question->sizes.clear();
  for (const NcclTestsRow& row : log.rows) {
    Seconds time = row.out_of_place ? row.out_of_place->time : Seconds();
    if (row.in_place && (time == Seconds() || row.in_place->time < time)) time = row.in_place->time;
    if (row.size <= Bytes() || time <= Seconds()) continue;
    question->sizes.push_back(row.size);
    measured.push_back(time);
  }
  return measured;
}

CollectiveAnswer Answer(const std::string& path, const CollectiveOptions& options,
                        const std::vector<Override>& set) {
  const ClusterResult read = ReadClusterOf(path, set, DefaultCatalog());
  CollectiveAnswer answer{.cluster = read.name,
                          .sha256 = Sha256Hex(read.canonical_text),
                          .question = QuestionOf(options),
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

void RunCollective(const CollectiveOptions& options) {
  std::vector<Override> set;
  for (const std::string& text : options.set) set.push_back(ParseOverride(text));
  std::vector<CollectiveAnswer> answers;
  for (const std::string& path : options.clusters) answers.push_back(Answer(path, options, set));
  WriteTo(options.json, CollectiveJson(answers).dump(2) + "\n");
  WriteTo(options.csv, CollectiveCsv(answers));
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
      ->check(OneOf(NamesOf(kKinds)));
  app->add_option("--nodes", options->nodes, "Nodes that take part; all of the cluster")
      ->check(CLI::Range(1, std::numeric_limits<int>::max()));
  app->add_option("--gpus-per-node", options->gpus_per_node, "GPUs of each; all")
      ->check(CLI::Range(1, 1024));
  app->add_option("--min", options->least, "Least size")->capture_default_str();
  app->add_option("--max", options->most, "Greatest size")->capture_default_str();
  app->add_option("--factor", options->factor, "From one size to the next")
      ->capture_default_str()
      ->check(CLI::Range(1.01, 1e9));
  std::vector<std::string> algorithms = NamesOf(kAlgorithms);
  algorithms.insert(algorithms.begin(), {"nccl", "best"});
  app->add_option(
         "--algorithm", options->algorithm,
         "nccl: what NCCL takes; another: that, at full rate, without NCCL's protocols; best: "
         "the fastest of all these for each size")
      ->capture_default_str()
      ->check(OneOf(algorithms));
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
  app->add_flag("--quiet", options->quiet, "Print no table");
  app->footer(kFooter);
  return {app, [options, app] {
            options->op_given = app->count("--op") > 0;
            options->nccl_given = app->count("--nccl") > 0;
            RunCollective(*options);
          }};
}

}  // namespace zerosim
