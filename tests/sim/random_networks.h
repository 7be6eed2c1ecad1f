// Small clusters drawn from a seed: trees, rails, dragonflies, tori, graphs with cycles, and nodes
// of every kind.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "models/network/cluster_network.h"
#include "models/topology/fabric_layout.h"
#include "models/topology/node_builders.h"
#include "tests/sim/random_scenario.h"

namespace zerosim {

inline BytesPerSecond DrawRate(Draws* draws) {
  return BytesPerSecond::GigabytesPerSecond(draws->From({10.0, 25.0, 40.0, 50.0, 100.0}));
}

inline NodeGraph DrawNode(Draws* draws, int gpus, int nics) {
  PcieTree pcie;
  pcie.gpus_per_switch = draws->From({1, 2});
  pcie.switches_per_host_bridge = draws->From({1, 2});
  pcie.bandwidth = DrawRate(draws);
  pcie.inter_socket_bandwidth = DrawRate(draws);
  const BytesPerSecond nvlink = BytesPerSecond::GigabytesPerSecond(draws->From({50.0, 300.0}));
  switch (draws->From({0, 1, 2, 3})) {
    case 0:
      return NvSwitchNode(gpus, nics, nvlink, Seconds(), pcie);
    case 1:
      return RingNode(gpus, nics, nvlink, Seconds(), pcie);
    case 2:
      return FullMeshNode(gpus, nics, nvlink, Seconds(), pcie);
    default:
      return PcieNode(gpus, nics, pcie);
  }
}

// A ring of switches with chords, and each node on one of them by a link of its own.
inline GraphLayout DrawGraph(Draws* draws, int nodes) {
  GraphLayout graph;
  const int switches = draws->From({3, 4, 5});
  const auto name = [](int s) { return "s" + std::to_string(s); };
  for (int s = 0; s < switches; ++s) {
    graph.switches.push_back(name(s));
    graph.links.push_back({name(s), name((s + 1) % switches), DrawRate(draws), Seconds()});
  }
  if (switches > 3) graph.links.push_back({name(0), name(2), DrawRate(draws), Seconds()});
  for (int node = 0; node < nodes; ++node) {
    graph.links.push_back({"node" + std::to_string(node), name(node % switches),
                           BytesPerSecond::GigabytesPerSecond(100), Seconds()});
  }
  return graph;
}

enum class Net { kSwitch, kFatTree, kRails, kDragonfly, kTorus, kGraph };

inline constexpr Net kNets[] = {Net::kSwitch,    Net::kFatTree, Net::kRails,
                                Net::kDragonfly, Net::kTorus,   Net::kGraph};

inline FabricLayout DrawFabric(Draws* draws, Net net, int nodes, int nics) {
  FabricLayout layout;
  layout.nodes = nodes;
  layout.nics_per_node = nics;
  layout.nic_bandwidth = DrawRate(draws);
  layout.routing = draws->From({Routing::kStatic, Routing::kEcmp});
  const double over = draws->From({1.0, 2.0, 3.0});
  switch (net) {
    case Net::kSwitch:
      layout.kind = SwitchLayout{over};
      layout.routing = draws->From({Routing::kStatic, Routing::kAdaptive});
      break;
    case Net::kFatTree:
      layout.kind = FatTreeLayout{{{2, over}, {2, 1}}};
      break;
    case Net::kRails:
      layout.kind = RailLayout{{{2, over}}};
      break;
    case Net::kDragonfly:
      layout.kind = DragonflyLayout{.groups = nodes / 2,
                                    .routers_per_group = 2,
                                    .nodes_per_router = 1,
                                    .global_links = draws->From({1, 2}),
                                    .local_bandwidth = DrawRate(draws),
                                    .global_bandwidth = DrawRate(draws)};
      break;
    case Net::kTorus:
      layout.kind = TorusLayout{{2, nodes / 2}, DrawRate(draws)};
      break;
    case Net::kGraph:
      layout.kind = DrawGraph(draws, nodes);
      break;
  }
  return layout;
}

inline ClusterNetwork RandomNetwork(unsigned seed, Net net) {
  Draws draws(seed);
  const int gpus = draws.From({1, 2, 3, 4});
  const int nics = draws.From({1, gpus, gpus});
  const int nodes = draws.From({4, 6, 8});
  NodeGraph node = DrawNode(&draws, gpus, nics);
  return MakeClusterNetwork(std::move(node), DrawFabric(&draws, net, nodes, nics));
}

}  // namespace zerosim
