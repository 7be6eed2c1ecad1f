// Small fabrics of every kind, for tests.
#pragma once

#include <string>
#include <vector>

#include "models/topology/fabric_layout.h"

namespace zerosim {

struct NamedLayout {
  std::string name;
  FabricLayout layout;
};

inline FabricLayout LayoutOf(int nodes, int nics) {
  FabricLayout layout;
  layout.nodes = nodes;
  layout.nics_per_node = nics;
  layout.nic_bandwidth = BytesPerSecond::GigabitsPerSecond(200);
  layout.latency = Seconds::Micros(2);
  layout.hop_latency = Seconds::Micros(0.3);
  return layout;
}

template <typename Kind>
FabricLayout LayoutOf(int nodes, int nics, Kind kind) {
  FabricLayout layout = LayoutOf(nodes, nics);
  layout.kind = std::move(kind);
  return layout;
}

// Leaves of `nodes_per_leaf` nodes, each joined once to each of as many spines as it has NICs.
inline GraphLayout LeafSpineGraph(int leaves, int nodes_per_leaf, int nics, BytesPerSecond rate) {
  GraphLayout graph;
  const int spines = nodes_per_leaf * nics;
  for (int leaf = 0; leaf < leaves; ++leaf) graph.switches.push_back("leaf" + std::to_string(leaf));
  for (int s = 0; s < spines; ++s) graph.switches.push_back("spine" + std::to_string(s));
  for (int leaf = 0; leaf < leaves; ++leaf) {
    for (int i = 0; i < nodes_per_leaf * nics; ++i) {
      const int node = leaf * nodes_per_leaf + i / nics;
      graph.links.push_back({"node" + std::to_string(node) + ".nic" + std::to_string(i % nics),
                             "leaf" + std::to_string(leaf), rate, Seconds()});
    }
    for (int s = 0; s < spines; ++s) {
      graph.links.push_back(
          {"leaf" + std::to_string(leaf), "spine" + std::to_string(s), rate, Seconds::Micros(0.3)});
    }
  }
  return graph;
}

inline std::vector<NamedLayout> SmallLayouts() {
  const BytesPerSecond fast = BytesPerSecond::GigabitsPerSecond(400);
  const BytesPerSecond slow = BytesPerSecond::GigabitsPerSecond(100);
  std::vector<NamedLayout> layouts;
  layouts.push_back({"Switch", LayoutOf(12, 2, SwitchLayout{2})});
  layouts.push_back({"TwoLevels", LayoutOf(12, 2, FatTreeLayout{{{4, 2}}})});
  layouts.push_back({"ThreeLevels", LayoutOf(24, 2, FatTreeLayout{{{2, 1}, {3, 1.5}}})});
  layouts.push_back({"PartLeaf", LayoutOf(12, 3, FatTreeLayout{{{5, 1}, {2, 4}}})});
  layouts.push_back({"RailOptimized", LayoutOf(12, 4, RailLayout{{{4, 1}}})});
  layouts.push_back({"RailThreeLevels", LayoutOf(24, 2, RailLayout{{{4, 2}, {4, 2}}})});
  layouts.push_back({"RailPartPod", LayoutOf(12, 2, RailLayout{{{5, 1}}})});
  layouts.push_back({"RailOnly", LayoutOf(12, 4, RailLayout{{{4, 1}}, 0, true})});
  layouts.push_back({"RailOnlyThree", LayoutOf(24, 2, RailLayout{{{4, 1}, {2, 2}}, 0, true})});
  layouts.push_back({"Dragonfly", LayoutOf(24, 2, DragonflyLayout{4, 3, 2, 1, fast, slow})});
  layouts.push_back({"DragonflyThick", LayoutOf(24, 1, DragonflyLayout{3, 4, 2, 3, fast, slow})});
  layouts.push_back({"DragonflyPart", LayoutOf(12, 1, DragonflyLayout{4, 2, 2, 2, fast, slow})});
  layouts.push_back({"Torus2D", LayoutOf(12, 2, TorusLayout{{4, 3}, fast})});
  layouts.push_back({"Torus3D", LayoutOf(24, 1, TorusLayout{{2, 3, 4}, fast})});
  layouts.push_back({"TorusLong", LayoutOf(12, 1, TorusLayout{{6, 2}, fast})});
  layouts.push_back({"Graph", LayoutOf(12, 2, LeafSpineGraph(3, 4, 2, fast))});
  // Two sites of a leaf each over a WAN, NICs of a node on one link.
  GraphLayout wan{{"east", "west"}, {{"east", "west", slow, Seconds::Millis(10)}}};
  for (int node = 0; node < 12; ++node) {
    wan.links.push_back(
        {"node" + std::to_string(node), node < 6 ? "east" : "west", fast, Seconds()});
  }
  layouts.push_back({"TwoSites", LayoutOf(12, 2, wan)});
  return layouts;
}

inline std::vector<NamedLayout> SmallLayoutsWithRoutings() {
  std::vector<NamedLayout> all;
  for (const NamedLayout& one : SmallLayouts()) {
    for (const auto& [name, routing] : {std::pair{"Static", Routing::kStatic},
                                        {"Ecmp", Routing::kEcmp},
                                        {"Adaptive", Routing::kAdaptive}}) {
      all.push_back({one.name + name, one.layout});
      all.back().layout.routing = routing;
    }
  }
  return all;
}

inline void PrintTo(const NamedLayout& named, std::ostream* out) {
  *out << named.name;
}

}  // namespace zerosim
