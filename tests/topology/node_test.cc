#include "models/topology/node_graph.h"

#include <array>
#include <limits>
#include <stdexcept>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/topology/node_builders.h"
#include "models/topology/node_routes.h"

namespace zerosim {
namespace {

using testing::ElementsAre;

BytesPerSecond GBps(double rate) {
  return BytesPerSecond::GigabytesPerSecond(rate);
}

PcieTree Pcie3() {
  return {2, 2, GBps(12), GBps(10), Seconds::Micros(0.5)};
}

// "gpu0 to pcie0, pcie0 to gpu1"
std::string TextOf(const NodeGraph& graph, const NodePath& path) {
  std::string text;
  for (const int arc : path) text += (text.empty() ? "" : ", ") + graph.ArcName(arc);
  return text;
}

TEST(NodeRoutes, ClimbThePcieTreeAsFarAsNeeded) {
  const NodeGraph graph = PcieNode(8, 4, Pcie3());
  const NodeRoutes routes(graph);

  EXPECT_EQ(TextOf(graph, routes.BetweenGpus(0, 1)), "gpu0 to pcie0, pcie0 to gpu1");
  EXPECT_EQ(TextOf(graph, routes.BetweenGpus(0, 2)),
            "gpu0 to pcie0, pcie0 to cpu0, cpu0 to pcie1, pcie1 to gpu2");
  EXPECT_EQ(TextOf(graph, routes.BetweenGpus(0, 7)),
            "gpu0 to pcie0, pcie0 to cpu0, cpu0 to cpu1, cpu1 to pcie3, pcie3 to gpu7");
  EXPECT_EQ(TextOf(graph, routes.ToNic(3, 1)), "gpu3 to pcie1, pcie1 to nic1");
  EXPECT_EQ(TextOf(graph, routes.FromNic(1, 3)), "nic1 to pcie1, pcie1 to gpu3");
  EXPECT_TRUE(routes.BetweenGpus(5, 5).empty());
  EXPECT_EQ(WidthOf(graph, routes.BetweenGpus(0, 7)), GBps(10));
  EXPECT_DOUBLE_EQ(LatencyOf(graph, routes.BetweenGpus(0, 7)).microseconds(), 2.5);
}

TEST(NodeRoutes, PreferNvLinkAndTheWiderOfEquallyShortPaths) {
  const NodeGraph nvswitch = NvSwitchNode(4, 0, GBps(300), Seconds::Micros(1), Pcie3());
  EXPECT_EQ(TextOf(nvswitch, NodeRoutes(nvswitch).BetweenGpus(0, 1)),
            "gpu0 to nvswitch, nvswitch to gpu1");
  EXPECT_DOUBLE_EQ(LatencyOf(nvswitch, NodeRoutes(nvswitch).BetweenGpus(0, 1)).microseconds(), 1);

  const NodeGraphText two_ways{2,
                               0,
                               {"slow", "fast"},
                               {{"gpu0", "slow", GBps(5), {}},
                                {"slow", "gpu1", GBps(5), {}},
                                {"gpu0", "fast", GBps(9), {}},
                                {"fast", "gpu1", GBps(7), {}}}};
  const NodeGraphResult built = BuildNodeGraph(two_ways);
  ASSERT_TRUE(built.problems.empty());
  EXPECT_EQ(TextOf(built.graph, NodeRoutes(built.graph).BetweenGpus(0, 1)),
            "gpu0 to fast, fast to gpu1");
}

// A longer way over NVLink alone (a switch between) beats a direct PCIe link.
TEST(NodeRoutes, TakeNvLinkEvenIfItIsLonger) {
  const NodeGraphText text{2,
                           0,
                           {"nvswitch"},
                           {{"gpu0", "gpu1", GBps(25), {}, NodeLinkKind::kPcie},
                            {"gpu0", "nvswitch", GBps(25), {}, NodeLinkKind::kNvLink},
                            {"gpu1", "nvswitch", GBps(25), {}, NodeLinkKind::kNvLink}}};
  const NodeGraph graph = BuildNodeGraph(text).graph;

  EXPECT_EQ(TextOf(graph, NodeRoutes(graph).BetweenGpus(0, 1)),
            "gpu0 to nvswitch, nvswitch to gpu1");
}

TEST(NodeRoutes, WantARealNode) {
  EXPECT_THROW(NodeRoutes(NodeGraph{}), std::invalid_argument);
}

// Number of NVLinks between two GPUs as `nvidia-smi topo -m` printed them on a machine with eight
// V100 SXM2 (published in OneFlow's benchmark reports).
constexpr std::array<std::array<int, 8>, 8> kV100Links = {{{0, 1, 1, 2, 2, 0, 0, 0},
                                                           {1, 0, 2, 1, 0, 2, 0, 0},
                                                           {1, 2, 0, 2, 0, 0, 1, 0},
                                                           {2, 1, 2, 0, 0, 0, 0, 1},
                                                           {2, 0, 0, 0, 0, 1, 1, 2},
                                                           {0, 2, 0, 0, 1, 0, 2, 1},
                                                           {0, 0, 1, 0, 1, 2, 0, 2},
                                                           {0, 0, 0, 1, 2, 1, 2, 0}}};

TEST(HybridCubeMesh, HasTheLinksThatMachinesShow) {
  const NodeGraph graph = HybridCubeMeshNode(4, GBps(25), true, Seconds(), Pcie3());

  for (int i = 0; i < 8; ++i) {
    for (int j = 0; j < 8; ++j) {
      BytesPerSecond rate;
      for (const NodeLink& link : graph.links) {
        const bool joins = (link.from == i && link.to == j) || (link.from == j && link.to == i);
        if (joins && link.kind == NodeLinkKind::kNvLink) rate += link.bandwidth;
      }
      EXPECT_EQ(rate, kV100Links[i][j] * GBps(25)) << i << " " << j;
    }
  }
}

TEST(HybridCubeMesh, GpusThatAreNotJoinedUsePcie) {
  const NodeGraph graph = HybridCubeMeshNode(4, GBps(25), true, Seconds(), Pcie3());
  const NodeRoutes routes(graph);

  EXPECT_EQ(TextOf(graph, routes.BetweenGpus(0, 4)), "gpu0 to gpu4");
  EXPECT_EQ(TextOf(graph, routes.BetweenGpus(0, 5)),
            "gpu0 to pcie0, pcie0 to cpu0, cpu0 to cpu1, cpu1 to pcie2, pcie2 to gpu5");
}

TEST(NicOfGpus, IsTheNearestAndEvenlyUsed) {
  const auto nics = [](const NodeGraph& graph) { return NicOfGpus(graph, NodeRoutes(graph)); };

  EXPECT_THAT(nics(PcieNode(8, 4, Pcie3())), ElementsAre(0, 0, 1, 1, 2, 2, 3, 3));
  EXPECT_THAT(nics(PcieNode(8, 8, Pcie3())), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
  EXPECT_THAT(nics(PcieNode(4, 1, Pcie3())), ElementsAre(0, 0, 0, 0));
  // One switch's NIC is as near to the GPUs of the other switch of its CPU as to nothing else.
  EXPECT_THAT(nics(PcieNode(8, 2, Pcie3())), ElementsAre(0, 0, 0, 0, 1, 1, 1, 1));
  EXPECT_TRUE(nics(PcieNode(8, 0, Pcie3())).empty());
}

TEST(NodeExchange, LoadsASwitchsWayUpByThoseBelowTimesThoseAbove) {
  const NodeGraph graph = PcieNode(8, 0, Pcie3());
  const NodeRoutes routes(graph);

  const std::vector<double> loads = NodeExchangeLoads(graph, routes);

  for (int arc = 0; arc < graph.num_arcs(); ++arc) {
    const std::string name = graph.ArcName(arc);
    if (name == "gpu3 to pcie1") {
      EXPECT_EQ(loads[arc], 7);
    }
    if (name == "pcie1 to cpu0") {
      EXPECT_EQ(loads[arc], 2 * 6);
    }
    if (name == "cpu1 to cpu0") {
      EXPECT_EQ(loads[arc], 4 * 4);
    }
  }
}

// 6 GPUs, 3 a switch, one socket; 5 GPUs in a ring; one GPU: odd nodes are nodes.
TEST(Builders, TakeAnyNumberOfGpus) {
  PcieTree three = Pcie3();
  three.gpus_per_switch = 3;
  for (const NodeGraph& graph :
       {PcieNode(6, 1, three), RingNode(5, 2, GBps(20), Seconds(), Pcie3()),
        RingNode(2, 0, GBps(20), Seconds(), Pcie3()), PcieNode(1, 1, Pcie3()),
        FullMeshNode(3, 3, GBps(50), Seconds(), Pcie3()),
        NvSwitchNode(72, 72, GBps(900), Seconds(), Pcie3())}) {
    EXPECT_TRUE(CheckNodeGraph(graph).empty());
  }
}

TEST(Builders, RefuseWhatIsNoNode) {
  PcieTree bad = Pcie3();
  bad.bandwidth = BytesPerSecond();
  EXPECT_THROW(PcieNode(8, 4, bad), std::invalid_argument);
  EXPECT_THROW(PcieNode(0, 4, Pcie3()), std::invalid_argument);
  EXPECT_THROW(RingNode(4, 0, BytesPerSecond(), Seconds(), Pcie3()), std::invalid_argument);
}

}  // namespace
}  // namespace zerosim
