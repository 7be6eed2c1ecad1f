// Whole texts of what is wrong with a topology.
#include <limits>

#include <gtest/gtest.h>

#include "models/topology/fabric.h"
#include "models/topology/fabric_layout.h"
#include "models/topology/node_graph.h"
#include "tests/topology/layouts.h"

namespace zerosim {
namespace {

const BytesPerSecond kRate = BytesPerSecond::GigabytesPerSecond(25);

TEST(CheckFabric, AcceptsAllSmallOnes) {
  for (const NamedLayout& one : SmallLayouts()) EXPECT_EQ(TextOf(CheckFabric(one.layout)), "");
}

TEST(CheckFabric, NamesEachNumberThatIsOut) {
  FabricLayout layout = LayoutOf(0, -1);
  layout.nic_bandwidth = BytesPerSecond();
  layout.latency = Seconds::Count(-1);
  layout.hop_latency = Seconds::Count(std::numeric_limits<double>::quiet_NaN());
  layout.kind = SwitchLayout{0};

  EXPECT_EQ(TextOf(CheckFabric(layout)),
            "nodes: expected 1 or more, got 0\n"
            "nics_per_node: expected 1 or more, got -1\n"
            "nic_bandwidth: expected a rate above 0; leave out a link that carries nothing\n"
            "latency: expected a latency of 0 or more\n"
            "hop_latency: expected a latency of 0 or more\n"
            "oversubscription: expected a ratio above 0, got 0");
  EXPECT_THROW(MakeFabric(layout), std::invalid_argument);
}

TEST(CheckFabric, WantsEnoughPorts) {
  EXPECT_EQ(TextOf(CheckFabric(LayoutOf(16, 8, SwitchLayout{1, 64}))),
            "ports: 16 nodes with 8 NICs need 128 ports, the switch has 64; take fewer nodes or a "
            "fat tree");
  EXPECT_EQ(TextOf(CheckFabric(LayoutOf(64, 8, FatTreeLayout{{{8, 1}}, 64}))),
            "levels[0]: a switch needs 64 ports down and 64 up, and has 64; take fewer children or "
            "more oversubscription");
  EXPECT_EQ(TextOf(CheckFabric(LayoutOf(600, 8, FatTreeLayout{{{4, 1}}, 64}))),
            "ports: each root joins 150 subtrees of the last level and has 64 ports; add a level, "
            "or take fewer nodes");
  EXPECT_EQ(TextOf(CheckFabric(LayoutOf(8, 8, DragonflyLayout{2, 2, 2, 1, kRate, kRate, {}, 16}))),
            "ports: a router needs 18 ports (16 NICs, 1 routers, 1 global links), and has 16; take "
            "fewer nodes a router");
  GraphLayout star{{"hub"}, {}, 2};
  for (int i = 0; i < 3; ++i) star.links.push_back({"node" + std::to_string(i), "hub", kRate, {}});
  EXPECT_EQ(TextOf(CheckFabric(LayoutOf(3, 1, star))),
            "switches[0]: \"hub\" has 3 links, but a switch has 2 ports; add switches or ports");
}

TEST(CheckFabric, WantsLevels) {
  EXPECT_EQ(TextOf(CheckFabric(LayoutOf(4, 1, FatTreeLayout{}))),
            "levels: expected at least one level of switches, got none");
  EXPECT_EQ(TextOf(CheckFabric(LayoutOf(4, 1, RailLayout{{{0, -1, -2, Seconds::Count(-1)}}}))),
            "levels[0].children: expected 1 or more, got 0\n"
            "levels[0].oversubscription: expected a ratio above 0, got -1\n"
            "levels[0].uplinks: expected 0 (as many as its rate needs) or more, got -2\n"
            "levels[0].extra_latency: expected a latency of 0 or more");
  const std::vector<FatTreeLevel> many(12, FatTreeLevel{1000, 1});
  EXPECT_EQ(TextOf(CheckFabric(LayoutOf(4, 1, FatTreeLayout{many}))),
            "levels: a subtree of the last level holds 9223372036854775807 NICs and has "
            "1e+36 links up; leave out levels above the one that holds all nodes");
}

TEST(CheckFabric, WantsATorusOfItsNodes) {
  EXPECT_EQ(TextOf(CheckFabric(LayoutOf(64, 1, TorusLayout{{4, 4, 3}, kRate}))),
            "dimensions: 4 x 4 x 3 is 48 nodes, but there are 64; make the product the number of "
            "nodes");
  EXPECT_EQ(TextOf(CheckFabric(LayoutOf(64, 1, TorusLayout{{}, BytesPerSecond()}))),
            "link_bandwidth: expected a rate above 0; leave out a link that carries nothing\n"
            "dimensions: expected at least one, got none");
  EXPECT_EQ(
      TextOf(CheckFabric(LayoutOf(64, 1, TorusLayout{{2'000'000'000, 2'000'000'000, 9}, kRate}))),
      "dimensions: 2000000000 x 2000000000 x 9 is 9223372036854775807 nodes, but there are "
      "64; make the product the number of nodes\n"
      "nodes: the network has 9223372036854775807 links; at most 16000000 can be counted");
}

TEST(CheckFabric, WantsRoomInADragonfly) {
  EXPECT_EQ(TextOf(CheckFabric(LayoutOf(100, 1, DragonflyLayout{4, 4, 4, 1, kRate, kRate}))),
            "groups: 4 groups of 4 routers of 4 nodes hold 64 nodes, not 100; add groups");
}

TEST(CheckFabric, WantsAConnectedGraph) {
  const GraphLayout apart{{"a", "b"}, {{"node0", "a", kRate, {}}, {"node1", "b", kRate, {}}}};
  EXPECT_EQ(TextOf(CheckFabric(LayoutOf(2, 1, apart))),
            "links: no path from node0.nic0 to node1.nic0; nodes do not forward, so join their "
            "switches");
  // Both reach node1, which does not forward.
  const GraphLayout chain{{"a", "b"},
                          {{"node0", "a", kRate, {}},
                           {"node1", "a", kRate, {}},
                           {"node1", "b", kRate, {}},
                           {"node2", "b", kRate, {}}}};
  EXPECT_EQ(TextOf(CheckFabric(LayoutOf(3, 1, chain))),
            "links: no path from node0.nic0 to node2.nic0; nodes do not forward, so join their "
            "switches");
}

// All reach node0, some not each other.
TEST(CheckFabric, LooksBeyondANodeThatAllReach) {
  const GraphLayout star{{"a", "b"},
                         {{"node0", "a", kRate, {}},
                          {"node0", "b", kRate, {}},
                          {"node1", "a", kRate, {}},
                          {"node2", "b", kRate, {}}}};
  EXPECT_EQ(TextOf(CheckFabric(LayoutOf(3, 1, star))),
            "links: no path from node1.nic0 to node2.nic0; nodes do not forward, so join their "
            "switches");
}

TEST(CheckFabric, WantsNamesThatAreThereOnce) {
  const GraphLayout graph{{"a", "a", "node1"},
                          {{"node0", "a", BytesPerSecond(), Seconds::Count(-1)},
                           {"node1", "c", kRate, {}},
                           {"node7", "node0.nic4", kRate, {}},
                           {"a", "a", kRate, {}}}};
  EXPECT_EQ(
      TextOf(CheckFabric(LayoutOf(2, 1, graph))),
      "links[0].bandwidth: expected a rate above 0; leave out a link that carries nothing\n"
      "links[0].latency: expected a latency of 0 or more\n"
      "switches[1]: \"a\" is there twice; give each switch a name of its own\n"
      "switches[2]: \"node1\" is the name of a node or NIC; give the switch another\n"
      "links[1].to: no switch is called \"c\"; expected one of the switches, or a node such as "
      "\"node0\" or \"node0.nic0\"\n"
      "links[2].from: there is no \"node7\"; expected node0 to node1, NICs nic0 to nic0\n"
      "links[2].to: there is no \"node0.nic4\"; expected node0 to node1, NICs nic0 to nic0\n"
      "links[3].to: joins \"a\" to itself; expected another vertex");
}

TEST(CheckFabric, WantsEveryNicLinked) {
  const GraphLayout graph{{"a"}, {{"node0", "a", kRate, {}}, {"node1.nic1", "a", kRate, {}}}};
  EXPECT_EQ(TextOf(CheckFabric(LayoutOf(2, 2, graph))),
            "links: node1.nic0 has no link; join \"node1\" or the NIC to a switch");
}

TEST(CheckFabric, LimitsGraphsAndLinks) {
  EXPECT_EQ(TextOf(CheckFabric(LayoutOf(10'000, 1, GraphLayout{{"a"}, {}}))),
            "nodes: 10000 NICs, 1 switches and 0 links need 100020000 entries of routes; at most "
            "64000000 are possible: describe a regular network by its kind");
  EXPECT_EQ(TextOf(CheckFabric(LayoutOf(2'000'000'000, 8, SwitchLayout{}))),
            "nodes: the network has 32000000000 links; at most 16000000 can be counted");
  EXPECT_EQ(
      TextOf(CheckFabric(LayoutOf(4, 1, DragonflyLayout{2, 3000, 1, 8'000'000, kRate, kRate}))),
      "nodes: the network has 17994000 links; at most 16000000 can be counted\n"
      "global_links: 6000 routers times 8000000 links are too many to count; at most "
      "16000000");
}

TEST(CheckNodeGraph, WantsPathsThatOnlySwitchesForward) {
  const NodeGraphText text{3, 0, {}, {{"gpu0", "gpu1", kRate, {}}, {"gpu1", "gpu2", kRate, {}}}};
  EXPECT_EQ(TextOf(BuildNodeGraph(text).problems),
            "links: no path from \"gpu0\" to \"gpu2\"; GPUs and NICs do not forward, so join them "
            "by a link or through switches");
}

TEST(CheckNodeGraph, NamesWhatIsWrongWithLinks) {
  const NodeGraphText unknown{2, 1, {"gpu0", "s", "s"}, {{"gpu0", "gpu9", kRate, {}}}};
  EXPECT_EQ(TextOf(BuildNodeGraph(unknown).problems),
            "switches[0]: \"gpu0\" is there twice; give each switch a name of its own, not that of "
            "a GPU or NIC\n"
            "switches[2]: \"s\" is there twice; give each switch a name of its own, not that of a "
            "GPU or NIC\n"
            "links[0].to: no vertex is called \"gpu9\"; expected gpu0 to gpu1, a NIC (of 1) or one "
            "of the switches");
  const NodeGraphText wrong{
      1,
      0,
      {"s"},
      {{"gpu0", "gpu0", kRate, {}}, {"gpu0", "s", BytesPerSecond(), Seconds::Count(-1)}}};
  EXPECT_EQ(TextOf(BuildNodeGraph(wrong).problems),
            "links[0].to: joins \"gpu0\" to itself; expected another vertex\n"
            "links[1].bandwidth: expected a rate above 0; leave out a link that carries nothing\n"
            "links[1].latency: expected a latency of 0 or more");
  EXPECT_EQ(TextOf(BuildNodeGraph({}).problems), "gpus: expected at least one GPU, got none");
}

TEST(CheckNodeGraph, WantsVerticesThatExist) {
  NodeGraph graph;
  graph.vertices = {{VertexKind::kGpu, "a"}, {VertexKind::kGpu, "a"}};
  graph.links = {{0, 2, kRate, {}, NodeLinkKind::kPcie}};
  EXPECT_EQ(TextOf(CheckNodeGraph(graph)),
            "vertices[1]: \"a\" is there twice; give each vertex a name of its own\n"
            "links[0]: joins vertices 0 and 2 of 2");
}

}  // namespace
}  // namespace zerosim
