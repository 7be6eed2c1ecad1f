#include "models/network/stage_loads.h"

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "models/collectives/algorithms.h"
#include "models/collectives/positions.h"
#include "models/topology/loads.h"
#include "models/topology/node_builders.h"

namespace zerosim {
namespace {

constexpr BytesPerSecond kLink = BytesPerSecond::GigabytesPerSecond(25);

PcieTree Pcie() {
  return {.gpus_per_switch = 2,
          .switches_per_host_bridge = 2,
          .bandwidth = kLink,
          .inter_socket_bandwidth = kLink,
          .latency = Seconds::Micros(0.5)};
}

NodeGraph NodeOf(int kind, int gpus, int nics) {
  switch (kind) {
    case 0:
      return NvSwitchNode(gpus, nics, 12 * kLink, Seconds::Micros(1), Pcie());
    case 1:
      return PcieNode(gpus, nics, Pcie());
    case 2:
      return RingNode(gpus, nics, kLink, Seconds::Micros(1), Pcie());
    default:
      return FullMeshNode(gpus, nics, kLink, Seconds::Micros(1), Pcie());
  }
}

FabricLayout FabricOf(int kind, int nodes, int nics) {
  FabricLayout layout;
  layout.nodes = nodes;
  layout.nics_per_node = nics;
  layout.nic_bandwidth = kLink;
  layout.latency = Seconds::Micros(2);
  switch (kind) {
    case 0:
      layout.kind = SwitchLayout{};
      break;
    case 1:
      layout.kind = FatTreeLayout{{{2, 2}, {2, 1}}};
      break;
    case 2:
      layout.kind = RailLayout{{{2, 1}}};
      break;
    case 3:
      layout.kind = DragonflyLayout{.groups = nodes / 2,
                                    .routers_per_group = 1,
                                    .nodes_per_router = 2,
                                    .global_links = 1,
                                    .local_bandwidth = kLink,
                                    .global_bandwidth = kLink};
      break;
    default:
      layout.kind = TorusLayout{{2, nodes / 2}, kLink};
      break;
  }
  return layout;
}

struct Case {
  ClusterNetwork network;
  ProcessGroup group;
  Algorithm algorithm = Algorithm::kRing;
  CollectiveKind kind = CollectiveKind::kAllGather;
  Schedule schedule;
  std::string name;
};

// Calls `check` with as many random clusters, groups and algorithms.
template <typename F>
void ForRandomCases(int count, std::uint32_t seed, F check) {
  std::mt19937 random(seed);
  const auto pick = [&](std::vector<int> choices) {
    return choices[std::uniform_int_distribution<std::size_t>(0, choices.size() - 1)(random)];
  };
  for (int done = 0; done < count;) {
    const int gpus = pick({1, 2, 4, 6, 8});
    const int nics = pick({1, 2, 4});
    const int nodes = pick({4, 6, 8});
    const int node_kind = pick({0, 1, 2, 3});
    const int fabric_kind = pick({0, 1, 2, 3, 4});
    if (nics > gpus || (node_kind > 1 && gpus < 3)) continue;
    const int stride = pick({1, 1, 2, gpus, 2 * gpus});
    const int size = nodes * gpus / stride / pick({1, 1, 2});
    const ProcessGroup group{size, stride};
    if (size < 2 || nodes * gpus % (size * stride) != 0 || !IsRegular(group, gpus)) continue;
    Case c{MakeClusterNetwork(NodeOf(node_kind, gpus, nics), FabricOf(fabric_kind, nodes, nics)),
           group,
           static_cast<Algorithm>(pick({0, 1, 2, 3, 4, 8, 9})),
           static_cast<CollectiveKind>(pick({0, 1, 2, 5})),
           {},
           {}};
    const GroupShape shape = ShapeOf(c.network, group);
    const AlgorithmOptions options{.channels = std::min(pick({1, 2, 4}), shape.local)};
    if (WhyNot(c.algorithm, c.kind, shape, options)) continue;
    const bool exchange = c.algorithm == Algorithm::kDirect || c.algorithm == Algorithm::kTwoHop;
    if (exchange && (gpus % nics != 0 || shape.local * nics % gpus != 0)) continue;
    c.schedule = ScheduleOf(c.algorithm, c.kind, shape, options);
    c.name = std::string(NameOf(c.algorithm)) + " " + std::string(NameOf(c.kind)) + " node " +
             std::to_string(node_kind) + " fabric " + std::to_string(fabric_kind) + ", " +
             std::to_string(nodes) + " x " + std::to_string(gpus) + ", NICs " +
             std::to_string(nics) + ", group {" + std::to_string(size) + ", " +
             std::to_string(stride) + "}, channels " + std::to_string(options.channels);
    ++done;
    check(c);
  }
}

// Every message of every rank on its path. Rings and trees over several local members keep to the
// NICs of their channels; other messages take those nearest to their GPUs.
StageLoads Enumerate(const Case& c, const Stage& stage) {
  const ClusterNetwork& network = c.network;
  const GroupShape& shape = c.schedule.shape;
  const int gpus = network.gpus_per_node();
  const int nics = network.routes.num_nics();
  std::vector<std::vector<double>> arcs(network.nodes,
                                        std::vector<double>(network.node.num_arcs(), 0));
  std::vector<double> links(network.fabric->num_links(), 0);
  std::vector<double> out(network.nodes, 0);
  double unit = PositionShare(stage, shape) / stage.channels;
  if (stage.pattern == StagePattern::kTree) {
    unit = 1.0 / stage.among.stride / stage.channels / 2 / stage.chunks;
  }
  const bool by_channel =
      (stage.pattern == StagePattern::kRing || stage.pattern == StagePattern::kTree) &&
      shape.local > 1 && stage.among.stride == 1;
  const int groups_in_node = gpus / shape.local;
  for (int rank = 0; rank < network.world_size(); ++rank) {
    const int span = c.group.size * c.group.stride;
    const int member = rank % span / c.group.stride;
    for (int channel = 0; channel < stage.channels; ++channel) {
      for (int round = 0; round < RoundsOf(stage, shape); ++round) {
        for (const Send& send : SendsOf(stage, shape, channel, member, round)) {
          const int peer = rank + (send.to - member) * c.group.stride;
          const int from = rank / gpus;
          const int to = peer / gpus;
          const double load = send.count * unit;
          if (from == to) {
            for (const int arc : network.routes.BetweenGpus(rank % gpus, peer % gpus)) {
              arcs[from][arc] += load;
            }
            continue;
          }
          const int in_node = rank % gpus % std::min(c.group.stride, gpus);
          const int way =
              (in_node * stage.channels + channel) * nics / (groups_in_node * stage.channels);
          const int nic = by_channel ? way : network.nic_of_gpu[rank % gpus];
          const int peer_nic = by_channel ? way : network.nic_of_gpu[peer % gpus];
          for (const int arc : network.routes.ToNic(rank % gpus, nic)) arcs[from][arc] += load;
          for (const int arc : network.routes.FromNic(peer_nic, peer % gpus)) arcs[to][arc] += load;
          const NicFlow flow{{from, nic}, {to, peer_nic}, load};
          for (const Hop& hop : ExpandedRoute(*network.fabric, flow)) {
            links[hop.link] += load * hop.share;
          }
          out[from] += load;
        }
      }
    }
  }
  StageLoads loads{.arcs = std::vector<double>(network.node.num_arcs(), 0),
                   .links = links,
                   .out_of_node = *std::ranges::max_element(out)};
  for (const std::vector<double>& node : arcs) {
    for (std::size_t i = 0; i < node.size(); ++i) loads.arcs[i] = std::max(loads.arcs[i], node[i]);
  }
  return loads;
}

void ExpectNear(const std::vector<double>& counted, const std::vector<double>& enumerated,
                const std::string& what) {
  ASSERT_EQ(counted.size(), enumerated.size());
  for (std::size_t i = 0; i < counted.size(); ++i) {
    ASSERT_NEAR(counted[i], enumerated[i], 1e-9) << what << " " << i;
  }
}

TEST(StageLoads, CountedLoadsAreThoseOfEveryMessage) {
  constexpr std::uint32_t kSeed = 20;
  RecordProperty("seed", static_cast<int>(kSeed));
  ForRandomCases(400, kSeed, [](const Case& c) {
    SCOPED_TRACE(c.name);
    for (const Stage& stage : c.schedule.stages) {
      const StageLoads counted = LoadsOf(c.network, stage, c.group);
      const StageLoads enumerated = Enumerate(c, stage);
      ExpectNear(counted.arcs, enumerated.arcs, "arc");
      ExpectNear(counted.links, enumerated.links, "link");
      EXPECT_NEAR(counted.out_of_node, enumerated.out_of_node, 1e-9);
    }
  });
}

TEST(StageLoads, WhatNicsSendTheyReceive) {
  ForRandomCases(200, 21, [](const Case& c) {
    SCOPED_TRACE(c.name);
    const std::vector<FabricLinkClass>& classes = c.network.fabric->classes();
    for (const Stage& stage : c.schedule.stages) {
      const StageLoads loads = LoadsOf(c.network, stage, c.group);
      const auto sum = [&](const FabricLinkClass& link_class) {
        double total = 0;
        for (std::int64_t i = 0; i < link_class.count; ++i)
          total += loads.links[link_class.first + i];
        return total;
      };
      EXPECT_NEAR(sum(classes[0]), sum(classes[1]), 1e-9);
    }
  });
}

TEST(StageLoads, AnAllReduceInTheSwitchCrossesEachLinkOnce) {
  const ClusterNetwork network = MakeClusterNetwork(NodeOf(0, 8, 0));
  const ProcessGroup group{8, 1};
  const Schedule schedule =
      ScheduleOf(Algorithm::kNvls, CollectiveKind::kAllReduce, ShapeOf(network, group));
  std::vector<double> arcs(network.node.num_arcs(), 0);
  for (const Stage& stage : schedule.stages) {
    const StageLoads loads = LoadsOf(network, stage, group);
    for (std::size_t i = 0; i < arcs.size(); ++i) arcs[i] += loads.arcs[i];
  }
  int used = 0;
  for (const double load : arcs) {
    if (load == 0) continue;
    EXPECT_DOUBLE_EQ(load, 1 + 1.0 / 8);
    ++used;
  }
  EXPECT_EQ(used, 16);
}

TEST(StageLoads, AGroupThatDoesNotFillItsNodesIsRefused) {
  const ClusterNetwork network = MakeClusterNetwork(NodeOf(0, 4, 0));
  EXPECT_THROW(ShapeOf(network, {3, 1}), std::invalid_argument);
}

}  // namespace
}  // namespace zerosim
