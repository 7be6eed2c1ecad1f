// Clusters of one NIC a node on every fabric that a SimGrid platform expresses.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "models/scenario/read_scenario.h"

namespace zerosim {

// The cluster of a section `cluster` in YAML, with what a scenario has beside it.
inline ClusterSpec ClusterOfYaml(const std::string& yaml) {
  const std::string scenario = yaml +
                               "model: {layers: 2, hidden: 64, heads: 4, vocabulary: 100}\n"
                               "training: {sequence_length: 128}\nzero: {stage: 3}\n";
  return ReadScenarioText(scenario, "s.yaml", {}, {{ZEROSIM_SOURCE_DIR "/scenarios"}}, DiskFiles())
      .scenario.cluster;
}

// `nodes` of DGX A100, which an import takes for what it does not know.
inline ClusterSpec ClusterOn(int nodes, const std::string& fabric) {
  return ClusterOfYaml("cluster: {nodes: " + std::to_string(nodes) +
                       ", node: dgx_a100_80gb, fabric: {nics_per_node: 1, nic_bandwidth: 100 "
                       "Gbps, latency: 2 us, " +
                       fabric + "}}\n");
}

struct ExportedCluster {
  std::string name;
  ClusterSpec cluster;
};

inline std::vector<ExportedCluster> ExportedClusters() {
  return {{"switch", ClusterOn(8, "kind: switch")},
          {"shared_switch", ClusterOn(8, "kind: switch, oversubscription: 2.5")},
          {"fat_tree", ClusterOn(8, "kind: fat_tree, levels: [{children: 2}]")},
          {"thin_fat_tree", ClusterOn(24,
                                      "kind: fat_tree, levels: [{children: 2, oversubscription: "
                                      "4}, {children: 3, oversubscription: 1.5}, {children: 4}]")},
          {"dragonfly", ClusterOn(16,
                                  "kind: dragonfly, groups: 2, routers_per_group: 4, "
                                  "nodes_per_router: 2, local_bandwidth: 200 Gbps, "
                                  "global_bandwidth: 300 Gbps")},
          {"torus", ClusterOn(12, "kind: torus, dimensions: [3, 2, 2], link_bandwidth: 100 Gbps")},
          {"graph", ClusterOn(4,
                              "kind: graph, switches: [a, b], links: [{from: 'node[0-1]', to: a, "
                              "bandwidth: 100 Gbps, latency: 1 us}, {from: 'node[2-3]', to: b, "
                              "bandwidth: 100 Gbps, latency: 1 us}, {from: a, to: b, bandwidth: 50 "
                              "Gbps, latency: 3 us}]")}};
}

}  // namespace zerosim
