#include "validate/nccl_clusters.h"

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "models/core/units_text.h"
#include "models/scenario/document.h"

namespace zerosim {
namespace {

constexpr std::int64_t kMostCount = 1'000'000;

class Reader {
 public:
  explicit Reader(Problems* problems) : problems_(problems) {}

  NcclClusters Read(const Node& root) {
    NcclClusters result;
    Expect(root, {"clusters", "skipped"});
    for (const Node& node : Items(root, "clusters")) result.clusters.push_back(Cluster(node));
    if (root.Find("skipped") != nullptr) {
      for (const Node& node : Items(root, "skipped")) {
        Expect(node, {"log", "reason"});
        result.skipped.push_back({Log(node), Text(node, "reason")});
      }
    }
    return result;
  }

 private:
  NcclCluster Cluster(const Node& node) {
    Expect(node,
           {"name", "about", "gpu", "fabric", "source", "assumed", "version", "topology", "runs"});
    NcclCluster cluster;
    cluster.name = Text(node, "name");
    cluster.about = Text(node, "about");
    cluster.gpu = Text(node, "gpu");
    cluster.fabric = Text(node, "fabric");
    cluster.source = Text(node, "source");
    cluster.assumed = Text(node, "assumed");
    NcclRun run;
    Parse(node, "version", "a version such as 2.26.2", ParseNcclVersion, &run.version);
    Require(node, {"version", "topology"});
    if (const Node* topology = node.Find("topology")) cluster.topology = Topology(*topology);
    for (const Node& item : Items(node, "runs")) {
      cluster.runs.push_back(Run(item, run, cluster.topology));
    }
    return cluster;
  }

  NcclTopology Topology(const Node& node) {
    Expect(node, {"compute_capability", "gpus_per_node", "nvlinks", "nvlink", "pcie", "nvls",
                  "nics", "nic", "cpu", "ll128_between_nodes"});
    NcclTopology topology;
    Count(node, "compute_capability", 30, &topology.compute_capability);
    Count(node, "gpus_per_node", 1, &topology.gpus_per_node);
    Count(node, "nvlinks", 0, &topology.nvlinks);
    Parse(node, "nvlink", R"(a rate such as "25 GB/s")", ParseRate, &topology.nvlink);
    Count(node, "pcie", 3, &topology.pcie_generation);
    Flag(node, "nvls", &topology.nvls);
    Count(node, "nics", 0, &topology.nics_per_node);
    Parse(node, "nic", R"(a rate such as "400 Gbps")", ParseRate, &topology.nic);
    Parse(node, "cpu", "intel, amd or other", Cpu, &topology.cpu);
    Flag(node, "ll128_between_nodes", &topology.ll128_between_nodes);
    return topology;
  }

  NcclRun Run(const Node& node, const NcclRun& defaults, const NcclTopology& topology) {
    Expect(node, {"log", "collective", "nodes", "gpus", "version", "algorithms", "protocols",
                  "min_channels"});
    Require(node, {"collective", "nodes", "gpus"});
    NcclRun run = defaults;
    run.log = Log(node);
    Parse(node, "collective", "a collective such as all_reduce", ParseNcclCollective,
          &run.collective);
    Count(node, "nodes", 1, &run.group.nodes);
    Count(node, "gpus", 1, &run.group.gpus_per_node);
    if (run.group.gpus_per_node > topology.gpus_per_node) {
      problems_->Add(
          node.Find("gpus")->where,
          fmt::format("gpus: {} of {} in a node", run.group.gpus_per_node, topology.gpus_per_node));
    }
    Parse(node, "version", "a version such as 2.26.2", ParseNcclVersion, &run.version);
    Count(node, "min_channels", 1, &run.overrides.min_channels);
    Override(node, "algorithms", SetAlgorithms, &run.overrides);
    Override(node, "protocols", SetProtocols, &run.overrides);
    return run;
  }

  static std::optional<CpuVendor> Cpu(std::string_view text) {
    if (text == "intel") return CpuVendor::kIntel;
    if (text == "amd") return CpuVendor::kAmd;
    if (text == "other") return CpuVendor::kOther;
    return std::nullopt;
  }

  void Expect(const Node& node, std::initializer_list<std::string_view> keys) {
    if (!node.is_map()) {
      problems_->Add(node.where, "expected a section, got " + Describe(node));
      return;
    }
    for (const Entry& entry : node.entries) {
      if (std::ranges::find(keys, entry.key) != keys.end()) continue;
      problems_->Add(entry.where,
                     fmt::format("{}: no such key; expected {}", entry.key, fmt::join(keys, ", ")));
    }
  }

  void Require(const Node& node, std::initializer_list<std::string_view> keys) {
    for (const std::string_view key : keys) {
      if (node.is_map() && node.Find(key) == nullptr) {
        problems_->Add(node.where, fmt::format("{}: missing", key));
      }
    }
  }

  const std::vector<Node>& Items(const Node& node, std::string_view key) {
    static const std::vector<Node> none;
    const Node* list = node.Find(key);
    if (list != nullptr && list->kind == Node::Kind::kList) return list->items;
    if (node.is_map()) {
      problems_->Add(list == nullptr ? node.where : list->where,
                     fmt::format("{}: expected a list", key));
    }
    return none;
  }

  std::string Text(const Node& node, std::string_view key) {
    const Node* value = node.Find(key);
    if (value != nullptr && value->is_text()) return value->text;
    if (node.is_map()) {
      problems_->Add(value == nullptr ? node.where : value->where,
                     fmt::format("{}: expected a text", key));
    }
    return "";
  }

  std::string Log(const Node& node) {
    std::string log = Text(node, "log");
    if (!log.empty() && !logs_.insert(log).second) {
      problems_->Add(node.Find("log")->where, fmt::format("log: {} is there twice", Quoted(log)));
    }
    return log;
  }

  // Leaves *out as it is if the key is not there; a value that cannot be read is a problem.
  template <typename T>
  void Parse(const Node& node, std::string_view key, std::string_view wanted,
             std::optional<T> (*parse)(std::string_view), T* out) {
    const Node* value = node.Find(key);
    if (value == nullptr) return;
    const std::optional<T> parsed = value->is_text() ? parse(value->text) : std::nullopt;
    if (parsed) {
      *out = *parsed;
    } else {
      problems_->Add(value->where,
                     fmt::format("{}: expected {}, got {}", key, wanted, Describe(*value)));
    }
  }

  void Count(const Node& node, std::string_view key, int least, int* out) {
    const Node* value = node.Find(key);
    if (value == nullptr) return;
    const auto count = value->is_text() ? ParseInteger(value->text) : std::nullopt;
    if (count && *count >= least && *count <= kMostCount) {
      *out = static_cast<int>(*count);
    } else {
      problems_->Add(value->where, fmt::format("{}: expected a whole number from {} to {}, got {}",
                                               key, least, kMostCount, Describe(*value)));
    }
  }

  void Flag(const Node& node, std::string_view key, bool* out) {
    const auto parse = [](std::string_view text) -> std::optional<bool> {
      if (text == "true") return true;
      if (text == "false") return false;
      return std::nullopt;
    };
    Parse<bool>(node, key, "true or false", parse, out);
  }

  using Set = std::optional<std::string> (*)(std::string_view, NcclOverrides*);
  void Override(const Node& node, std::string_view key, Set set, NcclOverrides* overrides) {
    if (node.Find(key) == nullptr) return;
    const std::string text = Text(node, key);
    if (text.empty()) return;
    if (const auto problem = set(text, overrides)) {
      problems_->Add(node.Find(key)->where, fmt::format("{}: {}", key, *problem));
    }
  }

  Problems* problems_;
  std::set<std::string> logs_;
};

}  // namespace

NcclClusters ReadNcclClusters(const std::string& path, const Files& files) {
  const Files::Content content = files.Read(path);
  if (!content.text) throw ScenarioError({{{path, 0, 0}, content.problem}}, {});
  Problems problems;
  problems.AddSource(path, *content.text);
  const std::optional<Node> root = ParseDocument(*content.text, path, &problems);
  NcclClusters clusters;
  if (root) clusters = Reader(&problems).Read(*root);
  problems.ThrowIfAny();
  return clusters;
}

}  // namespace zerosim
