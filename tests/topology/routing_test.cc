// Loads of single kinds of fabrics against numbers that can be derived on paper.
#include <algorithm>
#include <cmath>
#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/topology/fabric.h"
#include "models/topology/loads.h"
#include "tests/topology/layouts.h"

namespace zerosim {
namespace {

constexpr double kRounding = 1e-9;

ClassLoad LoadOf(const Fabric& fabric, const std::vector<double>& loads, const std::string& name) {
  const std::vector<ClassLoad> classes = ClassLoads(fabric, loads);
  for (std::size_t i = 0; i < classes.size(); ++i) {
    if (fabric.classes()[i].name == name) return classes[i];
  }
  ADD_FAILURE() << "no class " << name;
  return {};
}

const FabricLinkClass& ClassOf(const Fabric& fabric, const std::string& name) {
  return *std::ranges::find(fabric.classes(), name, &FabricLinkClass::name);
}

std::vector<double> WholeExchange(const Fabric& fabric, ExchangeNics to = ExchangeNics::kSame) {
  std::vector<int> nics(fabric.nics_per_node());
  std::iota(nics.begin(), nics.end(), 0);
  return ExchangeLoads(fabric, AllGroups(fabric.nodes(), fabric.nodes(), 1), nics, to);
}

FabricLayout With(FabricLayout layout, Routing routing, std::uint64_t seed = 1) {
  layout.routing = routing;
  layout.seed = seed;
  return layout;
}

TEST(FatTree, UplinksShareWhatOversubscriptionLeaves) {
  // 5 nodes of 3 NICs, 2:1: 7.5 links' worth, over 8 links.
  const auto fabric = MakeFabric(LayoutOf(20, 3, FatTreeLayout{{{5, 2}}}));
  const FabricLinkClass& up = ClassOf(*fabric, "level 0 up");

  EXPECT_EQ(up.bundle, 8);
  EXPECT_EQ(up.count, 4 * 8);
  EXPECT_DOUBLE_EQ(up.capacity.gigabytes_per_second(), 25 * 7.5 / 8);
}

TEST(FatTree, AnExchangeCrossesALeafByItsMembersInsideTimesThoseOutside) {
  const auto fabric =
      MakeFabric(With(LayoutOf(12, 1, FatTreeLayout{{{4, 1}}}), Routing::kAdaptive));

  const std::vector<double> loads = WholeExchange(*fabric);

  EXPECT_DOUBLE_EQ(LoadOf(*fabric, loads, "level 0 up").busiest, 4.0 * 8 / 4);
  EXPECT_DOUBLE_EQ(LoadOf(*fabric, loads, "level 0 up").total, 3.0 * 4 * 8);
  EXPECT_DOUBLE_EQ(LoadOf(*fabric, loads, "nic out").busiest, 11);
}

// Zahavi 2010: in a full fat tree of full bandwidth no two flows of a shift share a link.
TEST(FatTree, ShiftsDoNotCollideUnderDModK) {
  const auto fabric = MakeFabric(LayoutOf(64, 1, FatTreeLayout{{{4, 1}, {4, 1}}}));
  for (int distance = 1; distance < 64; ++distance) {
    const std::vector<double> loads =
        PatternLoads(*fabric, {AllGroups(64, 64, 1), {0}, ShiftEdges(64, distance)});

    EXPECT_THAT(loads, testing::Each(testing::Le(1.0))) << "shift by " << distance;
  }
}

TEST(FatTree, ShiftsCollideUnderHashesAndDoNotWhenTheySpread) {
  const FabricLayout layout = LayoutOf(64, 1, FatTreeLayout{{{4, 1}, {4, 1}}});
  const std::vector<NicFlow> flows = FlowsOf({AllGroups(64, 64, 1), {0}, ShiftEdges(64, 17)});

  const auto hashed = MakeFabric(With(layout, Routing::kEcmp));
  const auto spread = MakeFabric(With(layout, Routing::kAdaptive));

  EXPECT_GE(LoadOf(*hashed, FlowLoads(*hashed, flows), "level 0 up").busiest, 2);
  EXPECT_DOUBLE_EQ(LoadOf(*spread, FlowLoads(*spread, flows), "level 0 up").busiest, 1);
}

// U flows thrown onto U links leave U (1 - 1/U)^U of them idle on the average.
TEST(FatTree, HashesLeaveAsManyLinksIdleAsChanceDoes) {
  constexpr int kLinks = 32;
  constexpr int kSeeds = 400;
  std::vector<NicFlow> flows;
  for (int i = 0; i < kLinks; ++i) flows.push_back({{i, 0}, {kLinks + i, 0}});
  double idle = 0;
  for (int seed = 1; seed <= kSeeds; ++seed) {
    const auto fabric = MakeFabric(
        With(LayoutOf(2 * kLinks, 1, FatTreeLayout{{{kLinks, 1}}}), Routing::kEcmp, seed));
    const std::vector<double> loads = FlowLoads(*fabric, flows);
    const FabricLinkClass& up = ClassOf(*fabric, "level 0 up");
    idle += static_cast<double>(
        std::count(loads.begin() + up.first, loads.begin() + up.first + kLinks, 0.0));
  }

  // The count's deviation is 1.8, that of the mean of 400 is 0.09.
  EXPECT_NEAR(idle / kSeeds, kLinks * std::pow(1 - 1.0 / kLinks, kLinks), 0.4);
}

TEST(FatTree, TheSeedDecidesWhereFlowsCollide) {
  const FabricLayout layout = LayoutOf(64, 1, FatTreeLayout{{{8, 1}}});
  const std::vector<NicFlow> flows = FlowsOf({AllGroups(64, 64, 1), {0}, ShiftEdges(64, 8)});
  const auto loads = [&](std::uint64_t seed) {
    return FlowLoads(*MakeFabric(With(layout, Routing::kEcmp, seed)), flows);
  };

  EXPECT_EQ(loads(1), loads(1));
  EXPECT_NE(loads(1), loads(2));
}

// Mean square deviation of uplinks' loads from their mean, over what hashes of independent flows of
// `weight` have.
double Spread(const Fabric& fabric, const std::vector<double>& loads, double weight) {
  const FabricLinkClass& up = ClassOf(fabric, "level 0 up");
  const double n = static_cast<double>(up.count);
  const double mean =
      std::accumulate(loads.begin() + up.first, loads.begin() + up.first + up.count, 0.0) / n;
  double squares = 0;
  for (std::int64_t i = 0; i < up.count; ++i) squares += std::pow(loads[up.first + i] - mean, 2);
  return squares / n / (mean * weight * (1 - 1 / static_cast<double>(up.bundle)));
}

TEST(FatTree, LargeHashedExchangesSpreadAsSmallOnesDo) {
  const auto layout = [](int nodes) {
    return With(LayoutOf(nodes, 1, FatTreeLayout{{{32, 1}}}), Routing::kEcmp);
  };
  const auto small = MakeFabric(layout(256));   // 65,280 flows, each hashed
  const auto large = MakeFabric(layout(1024));  // 1,047,552: dealt
  const auto even = MakeFabric(With(layout(1024), Routing::kAdaptive));

  const std::vector<double> loads = WholeExchange(*large);

  // The deviation of a mean square over L links is sqrt(2 / L): 0.09 and 0.044.
  EXPECT_NEAR(Spread(*small, WholeExchange(*small), 1), 1, 0.36);
  EXPECT_NEAR(Spread(*large, loads, 1), 1, 0.18);
  EXPECT_NEAR(LoadOf(*large, loads, "level 0 up").total,
              LoadOf(*even, WholeExchange(*even), "level 0 up").total, 1e-3);
}

TEST(FatTree, LeavesAreAlike) {
  for (const Routing routing : {Routing::kStatic, Routing::kAdaptive}) {
    const auto fabric = MakeFabric(With(LayoutOf(32, 2, FatTreeLayout{{{4, 2}, {4, 2}}}), routing));
    // Two leaves further on is another numbering of the same leaves.
    const std::vector<ClassLoad> here =
        ClassLoads(*fabric, ExchangeLoads(*fabric, {0, 8, 1, 1, 1}, {0, 1}, ExchangeNics::kAll));
    const std::vector<ClassLoad> there =
        ClassLoads(*fabric, ExchangeLoads(*fabric, {8, 8, 1, 1, 1}, {0, 1}, ExchangeNics::kAll));
    for (std::size_t i = 0; i < here.size(); ++i) {
      EXPECT_NEAR(here[i].busiest, there[i].busiest, kRounding);
      EXPECT_NEAR(here[i].total, there[i].total, kRounding);
    }
  }
}

// A tree and the same switches and links written out one by one.
TEST(FatTree, IsTheGraphOfItsLinks) {
  for (const Routing routing : {Routing::kStatic, Routing::kAdaptive}) {
    const BytesPerSecond rate = BytesPerSecond::GigabitsPerSecond(200);
    const auto tree = MakeFabric(With(LayoutOf(12, 2, FatTreeLayout{{{4, 1}}}), routing));
    const auto graph = MakeFabric(With(LayoutOf(12, 2, LeafSpineGraph(3, 4, 2, rate)), routing));
    const std::string up = graph->classes()[3].name;  // the one with a latency
    for (int distance = 1; distance < 12; ++distance) {
      const std::vector<NicFlow> flows =
          FlowsOf({AllGroups(12, 12, 1), {0, 1}, ShiftEdges(12, distance)});

      const std::vector<double> in_tree = FlowLoads(*tree, flows);
      const std::vector<double> in_graph = FlowLoads(*graph, flows);

      const ClassLoad tree_up = LoadOf(*tree, in_tree, "level 0 up");
      const ClassLoad tree_down = LoadOf(*tree, in_tree, "level 0 down");
      const ClassLoad graph_both = LoadOf(*graph, in_graph, up);
      EXPECT_NEAR(graph_both.busiest, std::max(tree_up.busiest, tree_down.busiest), kRounding);
      EXPECT_NEAR(graph_both.total, tree_up.total + tree_down.total, kRounding);
      EXPECT_NEAR(LatencyOf(*tree, flows[0]).seconds(), LatencyOf(*graph, flows[0]).seconds(),
                  1e-15);
    }
  }
}

TEST(Switch, GivesEachNodeItsShare) {
  const auto fabric = MakeFabric(LayoutOf(8, 4, SwitchLayout{2}));
  const std::vector<ClassLoad> loads =
      ClassLoads(*fabric, PatternLoads(*fabric, {AllGroups(8, 8, 1), {0, 1, 2, 3}, RingEdges(8)}));

  // 4 NICs of 25 GB/s at 2:1 pass 50 GB/s; each sends 1 GB.
  EXPECT_DOUBLE_EQ(BusiestTime(*fabric, loads, Bytes::Count(1'000'000'000)).seconds(), 4.0 / 50);
  EXPECT_DOUBLE_EQ(MeanLatency(*fabric, loads).microseconds(), 2);
}

TEST(Rails, StayBelowTheSpinesWithinAPod) {
  const auto fabric = MakeFabric(LayoutOf(16, 4, RailLayout{{{8, 1}}}));
  const std::vector<int> nics = {0, 1, 2, 3};
  const NodeGroups pods = AllGroups(16, 8, 1);

  const ClassLoad same =
      LoadOf(*fabric, ExchangeLoads(*fabric, pods, nics, ExchangeNics::kSame), "level 0 up");
  const ClassLoad all =
      LoadOf(*fabric, ExchangeLoads(*fabric, pods, nics, ExchangeNics::kAll), "level 0 up");

  EXPECT_EQ(same.total, 0);
  // Three of four destinations are on another rail: 2 pods, 32 NICs of which each sends 7.
  EXPECT_DOUBLE_EQ(all.total, 2 * 32 * 7 * 0.75);
}

TEST(Rails, AloneAreTreesOfTheirOwn) {
  const auto rails = MakeFabric(LayoutOf(16, 4, RailLayout{{{4, 2}}, 0, true}));
  const auto tree = MakeFabric(LayoutOf(16, 1, FatTreeLayout{{{4, 2}}}));

  const ClassLoad four = LoadOf(*rails, WholeExchange(*rails), "level 0 up");
  const ClassLoad one = LoadOf(*tree, WholeExchange(*tree), "level 0 up");

  EXPECT_NEAR(four.total, 4 * one.total, kRounding);
  EXPECT_NEAR(four.busiest, one.busiest, kRounding);
}

// A source's mean way in a dimension of even k is k/4 links; n sources over 2n links.
TEST(Torus, AnExchangeLoadsEachLinkAlike) {
  const auto fabric = MakeFabric(
      With(LayoutOf(96, 1, TorusLayout{{4, 6, 4}, BytesPerSecond::GigabytesPerSecond(50)}),
           Routing::kAdaptive));

  const std::vector<double> loads = WholeExchange(*fabric);

  EXPECT_NEAR(LoadOf(*fabric, loads, "dimension 0").busiest, 96 * 4 / 8.0, 1e-6);
  EXPECT_NEAR(LoadOf(*fabric, loads, "dimension 1").busiest, 96 * 6 / 8.0, 1e-6);
  EXPECT_NEAR(LoadOf(*fabric, loads, "dimension 1").total, 2 * 96 * 96 * 6 / 8.0, 1e-6);
}

TEST(Torus, ARingOfNeighboursUsesOneLinkEach) {
  const auto fabric =
      MakeFabric(LayoutOf(8, 1, TorusLayout{{8}, BytesPerSecond::GigabytesPerSecond(50)}));

  const ClassLoad load = LoadOf(
      *fabric, PatternLoads(*fabric, {AllGroups(8, 8, 1), {0}, RingEdges(8)}), "dimension 0");

  EXPECT_EQ(load.busiest, 1);
  EXPECT_EQ(load.total, 8);
}

// Names of a flow's links beside its NICs', in the order of their numbers.
std::vector<std::string> Way(const Fabric& fabric, int from, int to) {
  std::vector<std::string> names;
  for (const Hop& hop : ExpandedRoute(fabric, {{from, 0}, {to, 0}})) {
    if (fabric.ClassOf(hop.link) > 1) names.push_back(fabric.LinkName(hop.link));
  }
  return names;
}

TEST(FatTree, TakesTheRootOfItsDestination) {
  const auto fabric = MakeFabric(LayoutOf(16, 1, FatTreeLayout{{{2, 1}, {2, 1}}}));

  EXPECT_TRUE(Way(*fabric, 0, 1).empty());
  // Root 13 mod 4 = 1 is link 1 of the leaf and of the pod.
  EXPECT_THAT(
      Way(*fabric, 0, 13),
      testing::ElementsAre("level 0 up of subtree 0, link 1", "level 0 down of subtree 6, link 1",
                           "level 1 up of subtree 0, link 1", "level 1 down of subtree 3, link 1"));
  // Root 14 mod 4 = 2 is link 2 of the pod, and 2 mod 2 = 0 of the leaf.
  EXPECT_THAT(
      Way(*fabric, 0, 14),
      testing::ElementsAre("level 0 up of subtree 0, link 0", "level 0 down of subtree 7, link 0",
                           "level 1 up of subtree 0, link 2", "level 1 down of subtree 3, link 2"));
}

TEST(Torus, GoesUpFromEvenRoutersWhereBothWaysAreAsLong) {
  const auto fabric =
      MakeFabric(LayoutOf(4, 1, TorusLayout{{4}, BytesPerSecond::GigabytesPerSecond(50)}));

  EXPECT_THAT(Way(*fabric, 0, 2),
              testing::ElementsAre("dimension 0 up of node0", "dimension 0 up of node1"));
  EXPECT_THAT(Way(*fabric, 1, 3),
              testing::ElementsAre("dimension 0 down of node0", "dimension 0 down of node1"));
  EXPECT_THAT(Way(*fabric, 3, 0), testing::ElementsAre("dimension 0 up of node3"));
}

// 3 groups of 2 routers of 1 node, 2 links a pair: 4 links a group, 2 a router, those to the lower
// group first.
TEST(Dragonfly, LeavesByTheRouterThatHasTheLink) {
  const BytesPerSecond rate = BytesPerSecond::GigabitsPerSecond(200);
  const auto fabric = MakeFabric(LayoutOf(6, 1, DragonflyLayout{3, 2, 1, 2, rate, rate}));

  EXPECT_THAT(Way(*fabric, 0, 1), testing::ElementsAre("router0 to router1"));
  EXPECT_THAT(Way(*fabric, 0, 2), testing::ElementsAre("group0 to group1, link 0"));
  EXPECT_THAT(Way(*fabric, 1, 3), testing::ElementsAre("router1 to router0", "router2 to router3",
                                                       "group0 to group1, link 1"));
  EXPECT_THAT(Way(*fabric, 0, 4),
              testing::ElementsAre("router0 to router1", "group0 to group2, link 0"));
}

// Balanced: a routers with p nodes and h = (g - 1) / a global links each. Of a local link's flows
// p^2 are of its ends, and each end sends for its p nodes to h groups of a p nodes, or receives so.
TEST(Dragonfly, AnExchangeLoadsLinksAsCounted) {
  constexpr int kRouters = 4;
  constexpr int kNodes = 2;
  constexpr int kGroups = 9;
  constexpr int kGlobal = (kGroups - 1) / kRouters;
  const BytesPerSecond rate = BytesPerSecond::GigabitsPerSecond(200);
  const auto fabric = MakeFabric(LayoutOf(
      kGroups * kRouters * kNodes, 1, DragonflyLayout{kGroups, kRouters, kNodes, 1, rate, rate}));

  const std::vector<double> loads = WholeExchange(*fabric);

  EXPECT_EQ(LoadOf(*fabric, loads, "global").busiest, kRouters * kNodes * kRouters * kNodes);
  EXPECT_EQ(LoadOf(*fabric, loads, "local").busiest,
            kNodes * kNodes * (1 + 2 * kGlobal * kRouters));
}

TEST(Graph, SitesOverAWanSeeItsLatencyAndItsRate) {
  const NamedLayout sites = SmallLayouts().back();
  ASSERT_EQ(sites.name, "TwoSites");
  const auto fabric = MakeFabric(sites.layout);

  const std::vector<double> loads = WholeExchange(*fabric);

  EXPECT_DOUBLE_EQ(LatencyOf(*fabric, {{0, 0}, {6, 0}}).milliseconds(), 10.002);
  EXPECT_DOUBLE_EQ(LatencyOf(*fabric, {{0, 0}, {5, 0}}).microseconds(), 2);
  // 6 nodes of 2 NICs send to 6 others over 12.5 GB/s.
  EXPECT_DOUBLE_EQ(
      BusiestTime(*fabric, ClassLoads(*fabric, loads), Bytes::Count(1'000'000'000)).seconds(),
      6 * 2 * 6 / 12.5);
}

TEST(Graph, NodesMayBeJoinedBackToBack) {
  GraphLayout pair{{}, {{"node0", "node1", BytesPerSecond::GigabitsPerSecond(100), Seconds()}}};
  const auto fabric = MakeFabric(LayoutOf(2, 2, pair));

  const std::vector<ExpandedLink> links = Expand(*fabric);
  const std::vector<Hop> route = ExpandedRoute(*fabric, {{0, 1}, {1, 1}});

  ASSERT_EQ(route.size(), 3U);
  EXPECT_EQ(links[route[0].link].name, "node0.nic1 out");
  EXPECT_EQ(links[route[1].link].name, "node1.nic1 in");
  EXPECT_EQ(links[route[2].link].name, "node0 to node1, link 0");
}

TEST(Expand, NamesLinksByTheirPlace) {
  const auto fabric = MakeFabric(LayoutOf(4, 1, FatTreeLayout{{{2, 1}}}));

  std::vector<std::string> names;
  for (const ExpandedLink& link : Expand(*fabric)) names.push_back(link.name);

  EXPECT_THAT(names, testing::ElementsAre(
                         "node0.nic0 out", "node1.nic0 out", "node2.nic0 out", "node3.nic0 out",
                         "node0.nic0 in", "node1.nic0 in", "node2.nic0 in", "node3.nic0 in",
                         "level 0 up of subtree 0, link 0", "level 0 up of subtree 0, link 1",
                         "level 0 up of subtree 1, link 0", "level 0 up of subtree 1, link 1",
                         "level 0 down of subtree 0, link 0", "level 0 down of subtree 0, link 1",
                         "level 0 down of subtree 1, link 0", "level 0 down of subtree 1, link 1"));
}

TEST(Expand, RefusesWhatIsTooLarge) {
  const auto fabric = MakeFabric(LayoutOf(100'001, 1, SwitchLayout{}));

  EXPECT_THROW(Expand(*fabric), std::invalid_argument);
}

TEST(ExpandNames, CountsThroughBrackets) {
  using testing::ElementsAre;
  EXPECT_THAT(ExpandNames("leaf0"), ElementsAre("leaf0"));
  EXPECT_THAT(ExpandNames("node[9-11]"), ElementsAre("node9", "node10", "node11"));
  EXPECT_THAT(ExpandNames("node[0-1].nic[2]"), ElementsAre("node0.nic2", "node1.nic2"));
  for (const char* wrong : {"node[3-1]", "node[a]", "node[", "node[-1]", "node[0-9999999]"}) {
    EXPECT_TRUE(ExpandNames(wrong).empty()) << wrong;
  }
}

}  // namespace
}  // namespace zerosim
