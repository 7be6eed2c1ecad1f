#include "models/topology/rings.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/topology/cheapest_cycle.h"
#include "models/topology/node_builders.h"
#include "models/topology/packing.h"

namespace zerosim {
namespace {

BytesPerSecond GBps(double rate) {
  return BytesPerSecond::GigabytesPerSecond(rate);
}

PcieTree Pcie3() {
  return {2, 2, GBps(12), GBps(10), Seconds::Micros(0.5)};
}

double TotalGBps(const NodeGraph& graph) {
  return FindRings(graph, NodeRoutes(graph)).total.gigabytes_per_second();
}

struct NamedNode {
  std::string name;
  NodeGraph graph;
};

void PrintTo(const NamedNode& node, std::ostream* out) {
  *out << node.name;
}

// A node with NVLinks between random pairs, so many that it has a ring as a rule.
NodeGraph RandomNode(int gpus, unsigned seed) {
  std::mt19937 next(seed);
  NodeGraph graph = PcieNode(gpus, 0, Pcie3());
  for (int i = 0; i < gpus; ++i) {
    for (int j = i + 1; j < gpus; ++j) {
      const unsigned links = next() % 4;
      if (links > 0) graph.links.push_back({i, j, links * GBps(25), {}, NodeLinkKind::kNvLink});
    }
  }
  return graph;
}

std::vector<NamedNode> Nodes() {
  const Seconds latency = Seconds::Micros(1);
  std::vector<NamedNode> nodes = {
      {"CubeMeshV100", HybridCubeMeshNode(4, GBps(25), true, latency, Pcie3())},
      {"CubeMeshP100", HybridCubeMeshNode(4, GBps(20), false, latency, Pcie3())},
      {"Ring", RingNode(6, 1, GBps(25), latency, Pcie3())},
      {"Mesh", FullMeshNode(5, 1, GBps(25), latency, Pcie3())},
      {"NvSwitch", NvSwitchNode(8, 8, GBps(450), latency, Pcie3())},
      {"NvSwitch72", NvSwitchNode(72, 0, GBps(900), latency, Pcie3())},
      {"Pcie", PcieNode(8, 4, Pcie3())},
      {"Pcie16", PcieNode(16, 4, Pcie3())},
      {"Pcie3", PcieNode(3, 0, Pcie3())},
      {"Two", RingNode(2, 0, GBps(25), latency, Pcie3())}};
  for (unsigned seed = 1; seed <= 12; ++seed) {
    nodes.push_back({"Random" + std::to_string(seed), RandomNode(3 + seed % 4, seed)});
  }
  return nodes;
}

class EveryNode : public testing::TestWithParam<NamedNode> {};

TEST_P(EveryNode, RingsPassEachGpuOnceAndExceedNoLink) {
  const NodeGraph& graph = GetParam().graph;
  const NodeRoutes routes(graph);

  const NodeRings rings = FindRings(graph, routes);

  ASSERT_FALSE(rings.rings.empty());
  BytesPerSecond total;
  for (const NodeRing& ring : rings.rings) {
    std::vector<int> gpus = ring.gpus;
    std::sort(gpus.begin(), gpus.end());
    std::vector<int> all(graph.num_gpus());
    std::iota(all.begin(), all.end(), 0);
    EXPECT_EQ(gpus, all);
    EXPECT_GT(ring.rate, BytesPerSecond());
    total += ring.rate;
  }
  EXPECT_NEAR(Ratio(rings.total, total), 1, 1e-12);
  const std::vector<BytesPerSecond> rates = ArcRates(graph, routes, rings);
  for (int arc = 0; arc < graph.num_arcs(); ++arc) {
    EXPECT_LE(Ratio(rates[arc], graph.links[arc / 2].bandwidth), 1 + 1e-9) << graph.ArcName(arc);
  }
}

INSTANTIATE_TEST_SUITE_P(Nodes, EveryNode, testing::ValuesIn(Nodes()),
                         [](const auto& info) { return info.param.name; });

// NVIDIA: three interwoven rings of single links, used both ways: all six NVLinks of a GPU.
TEST(Rings, OfACubeMeshUseAllNvLinks) {
  EXPECT_NEAR(TotalGBps(HybridCubeMeshNode(4, GBps(25), true, {}, Pcie3())), 6 * 25, 1e-6);
  EXPECT_NEAR(TotalGBps(HybridCubeMeshNode(4, GBps(20), false, {}, Pcie3())), 4 * 20, 1e-6);
}

TEST(Rings, UseWhatAGpuLetsOut) {
  EXPECT_NEAR(TotalGBps(RingNode(6, 0, GBps(25), {}, Pcie3())), 2 * 25, 1e-6);
  EXPECT_NEAR(TotalGBps(FullMeshNode(5, 0, GBps(25), {}, Pcie3())), 4 * 25, 1e-6);
  EXPECT_NEAR(TotalGBps(NvSwitchNode(8, 0, GBps(450), {}, Pcie3())), 450, 1e-6);
  EXPECT_NEAR(TotalGBps(NvSwitchNode(72, 0, GBps(900), {}, Pcie3())), 900, 1e-6);
  // The ring crosses each PCIe link once each way, and the narrower one between the sockets.
  EXPECT_NEAR(TotalGBps(PcieNode(8, 0, Pcie3())), 10, 1e-6);
  EXPECT_NEAR(TotalGBps(PcieNode(16, 0, Pcie3())), 10, 1e-6);
}

TEST(Rings, KnowWhetherTheyAreTheBest) {
  const auto exact = [](const NodeGraph& graph) {
    return FindRings(graph, NodeRoutes(graph)).exact;
  };

  EXPECT_TRUE(exact(HybridCubeMeshNode(4, GBps(25), true, {}, Pcie3())));
  EXPECT_TRUE(exact(NvSwitchNode(72, 0, GBps(900), {}, Pcie3())));  // all of a GPU's rate
  EXPECT_FALSE(exact(PcieNode(16, 0, Pcie3())));  // it is, by the sockets, but that was not shown
}

TEST(Rings, OfOneGpuAreNone) {
  const NodeGraph graph = PcieNode(1, 0, Pcie3());

  EXPECT_TRUE(FindRings(graph, NodeRoutes(graph)).rings.empty());
}

// NVLinks that no cycle passes: rings go over PCIe and NVLink together.
TEST(Rings, FallBackToAllLinks) {
  NodeGraph graph = PcieNode(4, 0, Pcie3());
  graph.links.push_back({0, 1, GBps(50), {}, NodeLinkKind::kNvLink});

  EXPECT_NEAR(TotalGBps(graph), 12, 1e-6);
}

// All cycles through n points from point 0, by the order of the others.
std::vector<std::vector<int>> AllCycles(int n) {
  std::vector<int> order(n);
  std::iota(order.begin(), order.end(), 0);
  std::vector<std::vector<int>> cycles;
  do {
    cycles.push_back(order);
  } while (std::next_permutation(order.begin() + 1, order.end()));
  return cycles;
}

TEST(CheapestCycle, IsTheCheapestOfAll) {
  std::mt19937 next(7);
  for (int n = 2; n <= 7; ++n) {
    std::vector<double> cost(n * n);
    for (double& c : cost) c = static_cast<double>(next() % 100);
    double least = 1e9;
    for (const std::vector<int>& cycle : AllCycles(n)) {
      double sum = 0;
      for (int i = 0; i < n; ++i) sum += cost[cycle[i] * n + cycle[(i + 1) % n]];
      least = std::min(least, sum);
    }

    const Cycle found = CheapestCycle(n, cost);

    EXPECT_EQ(found.cost, least);
    double sum = 0;
    for (int i = 0; i < n; ++i) sum += cost[found.points[i] * n + found.points[(i + 1) % n]];
    EXPECT_EQ(sum, least);
  }
}

TEST(CheapestCycle, IsEmptyWithoutAny) {
  const double none = std::numeric_limits<double>::infinity();
  // Point 2 is a dead end.
  EXPECT_TRUE(CheapestCycle(3, {none, 1, 1, 1, none, 1, none, none, none}).points.empty());
}

// Bounds of the best packing by another method: Garg and Konemann's lengths over all cycles, each
// listed. What it packs can be had; lengths D over their cheapest cycle bound what can be.
struct Bounds {
  double low = 0;
  double high = 1e300;
};

Bounds PackAllCycles(const NodeGraph& graph, const NodeRoutes& routes) {
  constexpr double kStep = 0.02;
  std::vector<std::vector<double>> uses;
  for (const std::vector<int>& cycle : AllCycles(graph.num_gpus())) {
    std::vector<double> use(graph.num_arcs(), 0);
    bool nvlink = true;
    for (std::size_t i = 0; i < cycle.size(); ++i) {
      for (const int arc : routes.BetweenGpus(cycle[i], cycle[(i + 1) % cycle.size()])) {
        use[arc] += 1;
        nvlink = nvlink && graph.links[arc / 2].kind == NodeLinkKind::kNvLink;
      }
    }
    if (nvlink) uses.push_back(use);
  }
  if (uses.empty()) return {0, 0};
  std::vector<double> capacity;
  for (int arc = 0; arc < graph.num_arcs(); ++arc) {
    capacity.push_back(graph.links[arc / 2].bandwidth.gigabytes_per_second());
  }
  std::vector<double> length(capacity.size());
  for (std::size_t i = 0; i < length.size(); ++i) length[i] = 1 / capacity[i];
  std::vector<double> flow(capacity.size(), 0);
  double packed = 0;
  Bounds bounds;
  for (int step = 0; step < 4000; ++step) {
    double least = 1e300;
    const std::vector<double>* best = nullptr;
    for (const std::vector<double>& use : uses) {
      const double cost = std::inner_product(use.begin(), use.end(), length.begin(), 0.0);
      if (cost < least) {
        least = cost;
        best = &use;
      }
    }
    bounds.high =
        std::min(bounds.high,
                 std::inner_product(capacity.begin(), capacity.end(), length.begin(), 0.0) / least);
    double amount = 1e300;
    for (std::size_t i = 0; i < capacity.size(); ++i) {
      if ((*best)[i] > 0) amount = std::min(amount, capacity[i] / (*best)[i]);
    }
    packed += amount;
    double fullest = 0;
    for (std::size_t i = 0; i < capacity.size(); ++i) {
      flow[i] += amount * (*best)[i];
      length[i] *= 1 + kStep * amount * (*best)[i] / capacity[i];
      fullest = std::max(fullest, flow[i] / capacity[i]);
    }
    bounds.low = std::max(bounds.low, packed / fullest);
  }
  return bounds;
}

TEST(Rings, AreTheBestOfAllCycles) {
  int compared = 0;
  for (unsigned seed = 1; seed <= 30; ++seed) {
    const NodeGraph graph = RandomNode(4 + static_cast<int>(seed % 3), seed);
    const NodeRoutes routes(graph);
    const Bounds bounds = PackAllCycles(graph, routes);
    if (bounds.high == 0) continue;  // no ring of NVLinks

    const NodeRings rings = FindRings(graph, routes);

    EXPECT_TRUE(rings.exact) << seed;
    EXPECT_GE(rings.total.gigabytes_per_second(), bounds.low * (1 - 1e-9)) << seed;
    EXPECT_LE(rings.total.gigabytes_per_second(), bounds.high * (1 + 1e-9)) << seed;
    EXPECT_LE(bounds.high / bounds.low, 1.05) << seed;  // the other method converges so far
    ++compared;
  }
  EXPECT_GE(compared, 15);
}

}  // namespace
}  // namespace zerosim
