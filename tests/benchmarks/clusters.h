// Clusters of DGX H100 (8 GPUs and 8 NICs a node) of any size, for what a collective costs by
// number of GPUs.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace zerosim {

inline constexpr int kCollectiveGpus[] = {64, 512, 4096, 32768, 131072};
inline constexpr int kGpusPerNode = 8;
inline constexpr const char* kCollectiveFabrics[] = {"switch", "fat_tree", "dragonfly", "torus"};
inline constexpr const char* kCollectiveOps[] = {"all_reduce", "all_gather", "all_to_all"};
inline constexpr const char* kCollectiveScenario =
    ZEROSIM_SOURCE_DIR "/scenarios/llama3_8b_zero3_64xh100.yaml";

// The nodes as a product of three numbers.
struct ThreeFactors {
  int first = 1;
  int second = 1;
  int third = 1;
};
inline ThreeFactors FactorsOf(int nodes) {
  ThreeFactors factors{1, 1, nodes};
  while (factors.first < factors.third) {
    factors = {factors.first * 2, factors.second, factors.third / 2};
    if (factors.second < factors.third) {
      factors = {factors.first, factors.second * 2, factors.third / 2};
    }
  }
  return factors;
}

// Keys, as --set has them, that make kCollectiveScenario such a cluster: one switch; a fat tree of
// three levels, of which the middle one passes half; a dragonfly of as many groups as routers a
// group and nodes a router, or twice as many; or a torus of three dimensions.
inline std::vector<std::pair<std::string, std::string>> ClusterKeys(const std::string& fabric,
                                                                    int gpus) {
  const int nodes = gpus / kGpusPerNode;
  std::vector<std::pair<std::string, std::string>> keys = {{"cluster.nodes", std::to_string(nodes)},
                                                           {"cluster.fabric.kind", fabric}};
  const auto [a, b, c] = FactorsOf(nodes);
  if (fabric == "fat_tree") {
    keys.emplace_back("cluster.fabric.levels",
                      fmt::format("[{{children: {}}}, {{children: {}, oversubscription: 2}}, "
                                  "{{children: {}}}]",
                                  a, b, c));
  } else if (fabric == "torus") {
    keys.emplace_back("cluster.fabric.dimensions", fmt::format("[{}, {}, {}]", a, b, c));
    keys.emplace_back("cluster.fabric.link_bandwidth", "400 Gbps");
  } else if (fabric == "dragonfly") {
    keys.emplace_back("cluster.fabric.groups", std::to_string(a));
    keys.emplace_back("cluster.fabric.routers_per_group", std::to_string(b));
    keys.emplace_back("cluster.fabric.nodes_per_router", std::to_string(c));
    keys.emplace_back("cluster.fabric.global_links", std::to_string(c));
    keys.emplace_back("cluster.fabric.local_bandwidth", "3200 Gbps");
    keys.emplace_back("cluster.fabric.global_bandwidth", "3200 Gbps");
  }
  return keys;
}

}  // namespace zerosim
