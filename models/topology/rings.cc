#include "models/topology/rings.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <tuple>

#include "models/topology/cheapest_cycle.h"
#include "models/topology/packing.h"

namespace zerosim {
namespace {

constexpr double kNone = std::numeric_limits<double>::infinity();
constexpr double kRelativeTolerance = 1e-9;
constexpr int kMaxGreedyRings = 64;

std::vector<double> Uses(const NodeGraph& graph, const NodeRoutes& routes,
                         const std::vector<int>& gpus) {
  std::vector<std::pair<int, int>> flows;
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    flows.emplace_back(gpus[i], gpus[(i + 1) % gpus.size()]);
  }
  return NodeFlowLoads(graph, routes, flows);
}

bool IsNvLink(const NodeGraph& graph, const NodePath& path) {
  return std::ranges::all_of(
      path, [&](int arc) { return graph.links[arc / 2].kind == NodeLinkKind::kNvLink; });
}

// Which pairs of GPUs rings may join: [from * n + to].
std::vector<bool> AllowedPairs(const NodeGraph& graph, const NodeRoutes& routes, bool nvlink_only) {
  const std::size_t n = routes.num_gpus();
  std::vector<bool> allowed(n * n, false);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      const NodePath& path = routes.BetweenGpus(static_cast<int>(i), static_cast<int>(j));
      allowed[i * n + j] = i != j && (!nvlink_only || IsNvLink(graph, path));
    }
  }
  return allowed;
}

std::vector<double> Rates(const NodeGraph& graph) {
  std::vector<double> rates;
  rates.reserve(graph.num_arcs());
  for (int arc = 0; arc < graph.num_arcs(); ++arc) {
    rates.push_back(graph.links[arc / 2].bandwidth.bytes_per_second());
  }
  return rates;
}

void AddRing(std::vector<int> gpus, double rate, NodeRings* rings) {
  rings->rings.push_back({std::move(gpus), BytesPerSecond::Count(rate)});
  rings->total += BytesPerSecond::Count(rate);
}

NodeRings Exact(const NodeGraph& graph, const NodeRoutes& routes,
                const std::vector<bool>& allowed) {
  const int n = routes.num_gpus();
  std::vector<double> capacity = Rates(graph);
  const double unit = *std::ranges::max_element(capacity);
  for (double& rate : capacity) rate /= unit;

  std::vector<std::vector<int>> cycles;
  const auto cheapest = [&](const std::vector<double>& prices) -> std::optional<PackingColumn> {
    std::vector<double> cost(static_cast<std::size_t>(n) * n, kNone);
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < n; ++j) {
        if (!allowed[i * n + j]) continue;
        double sum = 0;
        for (const int arc : routes.BetweenGpus(i, j)) sum += prices[arc];
        cost[i * n + j] = sum;
      }
    }
    Cycle cycle = CheapestCycle(n, cost);
    if (cycle.points.empty() || cycle.cost >= 1 - kRelativeTolerance) return {};
    cycles.push_back(std::move(cycle.points));
    return Uses(graph, routes, cycles.back());
  };
  const Packing packing = LargestPacking(capacity, cheapest);
  NodeRings rings;
  rings.exact = packing.optimal;
  for (std::size_t i = 0; i < packing.amounts.size(); ++i) {
    if (packing.amounts[i] <= kRelativeTolerance) continue;
    AddRing(cycles[i], packing.amounts[i] * unit, &rings);
  }
  return rings;
}

// One cycle over arcs that have rate left, each time to the nearest GPU, then the one with the most
// left; empty at a dead end.
std::vector<int> NearestCycle(const NodeRoutes& routes, const std::vector<bool>& allowed,
                              const std::vector<double>& left, double least) {
  const int n = routes.num_gpus();
  const auto room = [&](int from, int to) {
    double width = kNone;
    for (const int arc : routes.BetweenGpus(from, to)) width = std::min(width, left[arc]);
    return allowed[from * n + to] && width > least ? width : 0;
  };
  std::vector<int> cycle = {0};
  std::vector<bool> visited(n, false);
  visited[0] = true;
  while (static_cast<int>(cycle.size()) < n) {
    const int from = cycle.back();
    int best = -1;
    const auto rank = [&](int to) {
      return std::tuple(routes.BetweenGpus(from, to).size(), -room(from, to), to);
    };
    for (int to = 0; to < n; ++to) {
      if (visited[to] || room(from, to) == 0) continue;
      if (best < 0 || rank(to) < rank(best)) best = to;
    }
    if (best < 0) return {};
    visited[best] = true;
    cycle.push_back(best);
  }
  if (room(cycle.back(), 0) == 0) return {};
  return cycle;
}

NodeRings Greedy(const NodeGraph& graph, const NodeRoutes& routes,
                 const std::vector<bool>& allowed) {
  std::vector<double> left = Rates(graph);
  const double least = *std::ranges::max_element(left) * kRelativeTolerance;
  NodeRings rings;
  rings.exact = false;
  for (int found = 0; found < kMaxGreedyRings; ++found) {
    std::vector<int> cycle = NearestCycle(routes, allowed, left, least);
    if (cycle.empty()) break;
    const std::vector<double> uses = Uses(graph, routes, cycle);
    double rate = kNone;
    for (std::size_t arc = 0; arc < uses.size(); ++arc) {
      if (uses[arc] > 0) rate = std::min(rate, left[arc] / uses[arc]);
    }
    for (std::size_t arc = 0; arc < uses.size(); ++arc) left[arc] -= rate * uses[arc];
    AddRing(std::move(cycle), rate, &rings);
  }
  return rings;
}

// Whether the rings use up all that some GPU lets out: then nothing carries more.
bool ReachesBound(const NodeGraph& graph, bool nvlink_only, const NodeRings& rings) {
  for (const int gpu : graph.Places(VertexKind::kGpu)) {
    BytesPerSecond out;
    for (const NodeLink& link : graph.links) {
      if (nvlink_only && link.kind != NodeLinkKind::kNvLink) continue;
      if (link.from == gpu || link.to == gpu) out += link.bandwidth;
    }
    if (Ratio(rings.total, out) >= 1 - kRelativeTolerance) return true;
  }
  return false;
}

}  // namespace

NodeRings FindRings(const NodeGraph& graph, const NodeRoutes& routes) {
  if (routes.num_gpus() < 2) return {};
  NodeRings rings;
  for (const bool nvlink_only : {true, false}) {
    const std::vector<bool> allowed = AllowedPairs(graph, routes, nvlink_only);
    rings = routes.num_gpus() <= kExactRingGpus ? Exact(graph, routes, allowed)
                                                : Greedy(graph, routes, allowed);
    if (!rings.exact) rings.exact = ReachesBound(graph, nvlink_only, rings);
    if (!rings.rings.empty()) break;
  }
  return rings;
}

std::vector<BytesPerSecond> ArcRates(const NodeGraph& graph, const NodeRoutes& routes,
                                     const NodeRings& rings) {
  std::vector<BytesPerSecond> rates(graph.num_arcs());
  for (const NodeRing& ring : rings.rings) {
    const std::vector<double> uses = Uses(graph, routes, ring.gpus);
    for (std::size_t arc = 0; arc < uses.size(); ++arc) rates[arc] += uses[arc] * ring.rate;
  }
  return rates;
}

}  // namespace zerosim
