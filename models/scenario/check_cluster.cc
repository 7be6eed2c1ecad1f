#include <map>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "models/network/spec_network.h"
#include "models/scenario/key_check.h"

namespace zerosim {
namespace {

class ClusterCheck : KeyCheck {
 public:
  using KeyCheck::KeyCheck;

  void Run() {
    CheckWorld();
    CheckFabricSection();
    CheckLinks();
    CheckPipeline();
    CheckExceptions();
  }

 private:
  void CheckWorld();
  void CheckFabricSection();
  void CheckLinks();
  void CheckPipeline();
  void CheckExceptions();
};

void ClusterCheck::CheckWorld() {
  if (!Know({"cluster.nodes", "cluster.node.gpus"}) || KnowRanks()) return;
  Report("cluster.nodes",
         fmt::format("{} nodes x {} GPUs{} are {} ranks; expected at most {}, which are {} nodes",
                     s_.cluster.nodes, s_.cluster.node.gpus,
                     Mention("cluster.node.gpus", "cluster.nodes"), Ranks(), kMostRanks,
                     kMostRanks / s_.cluster.node.gpus));
}

void ClusterCheck::CheckFabricSection() {
  if (!Know({"cluster.nodes", "cluster.fabric"}) || s_.cluster.nodes == 1) return;
  if (!places_.Has("cluster.fabric")) {
    if (!Know({"cluster.node.nic_bandwidth"}) || s_.cluster.node.nic_bandwidth > BytesPerSecond()) {
      return;
    }
    Report("cluster.fabric",
           "missing; more than one node needs one, such as "
           "{nics_per_node: 8, nic_bandwidth: 200 Gbps, latency: 5 us}, or a node whose NICs are "
           "known by cluster.node.nics and cluster.node.nic_bandwidth");
    return;
  }
  const int wanted = s_.cluster.fabric.nics_per_node;
  const int there = s_.cluster.node.nics;
  if (!Know({"cluster.fabric.nics_per_node", "cluster.node.nics"}) || wanted <= there) return;
  Report("cluster.fabric.nics_per_node",
         fmt::format("expected at most the {} NICs of the node{}, got {}", there,
                     Mention("cluster.node.nics", "cluster.fabric.nics_per_node"), wanted));
}

void ClusterCheck::CheckLinks() {
  if (!Know({"cluster.nodes", "cluster.node", "cluster.fabric"}) || !KnowRanks()) return;
  for (const TopologyProblem& problem : CheckTopology(s_.cluster)) {
    Report("cluster." + problem.path, problem.what);
  }
}

// Stages load different parts of a fabric, which classes of links do not tell apart.
void ClusterCheck::CheckPipeline() {
  if (!Know({"cluster", "parallelism.pipeline"}) || s_.parallel.pipeline == 1) return;
  const InNodeFabric in_node = s_.cluster.node.in_node;
  const bool plain_node = in_node == InNodeFabric::kNvSwitch || in_node == InNodeFabric::kPcie;
  if (plain_node && (s_.cluster.nodes == 1 || s_.cluster.fabric.is_switch())) return;
  Report("parallelism.pipeline",
         "pipelines are simulated on nodes with NVSwitches and on one switch alone; expected 1, or "
         "cluster.node.in_node: nvswitch and cluster.fabric.kind: switch");
}

void ClusterCheck::CheckExceptions() {
  if (!Know({"cluster.nodes", "cluster.exceptions"})) return;
  std::map<int, std::size_t> seen;  // the exception of each node
  for (std::size_t i = 0; i < s_.cluster.exceptions.size(); ++i) {
    const NodeException& exception = s_.cluster.exceptions[i];
    const std::string path = fmt::format("cluster.exceptions[{}]", i);
    const bool listed = places_.Has(path + ".nodes");
    for (const int node : exception.nodes) {
      if (node >= s_.cluster.nodes) {
        Report(path + (listed ? ".nodes" : ".count"),
               listed ? fmt::format("expected nodes from 0 to {}{}, got {}", s_.cluster.nodes - 1,
                                    Mention("cluster.nodes", path), node)
                      : fmt::format("expected at most the {} nodes of the cluster{}, got {}",
                                    s_.cluster.nodes, Mention("cluster.nodes", path),
                                    exception.nodes.size()));
        break;
      }
      const auto [found, added] = seen.emplace(node, i);
      if (added) continue;
      Report(path + (listed ? ".nodes" : ".count"),
             found->second == i
                 ? fmt::format("node {} stands here twice", node)
                 : fmt::format("node {} stands in cluster.exceptions[{}] too; give one exception "
                               "all that it has",
                               node, found->second));
      break;
    }
    const int nics = s_.cluster.fabric.nics_per_node;
    if (s_.cluster.nodes > 1 && Know({"cluster.fabric"}) && exception.dead_nics >= nics) {
      Report(path + ".dead_nics",
             fmt::format("expected fewer than the {} NICs in use{}, got {}: a node without any "
                         "takes no part",
                         nics, Mention("cluster.fabric.nics_per_node", path), exception.dead_nics));
    }
  }
}

}  // namespace

void CheckCluster(const Node& root, Scenario* scenario, Problems* problems) {
  ClusterCheck(root, scenario, problems).Run();
}

}  // namespace zerosim
