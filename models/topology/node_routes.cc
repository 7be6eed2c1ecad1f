#include "models/topology/node_routes.h"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <tuple>

namespace zerosim {
namespace {

constexpr int kFar = std::numeric_limits<int>::max();

// The best way from `start` to each vertex over arcs of the given kind: hops, narrowest link, and
// the arc that it ends with.
struct Tree {
  std::vector<int> hops;
  std::vector<double> width;
  std::vector<int> last_arc;
};

Tree Search(const NodeGraph& graph, const std::vector<std::vector<int>>& arcs_from, int start,
            bool nvlink_only) {
  const std::size_t n = graph.vertices.size();
  Tree tree{std::vector<int>(n, kFar), std::vector<double>(n, 0), std::vector<int>(n, -1)};
  tree.hops[start] = 0;
  tree.width[start] = std::numeric_limits<double>::infinity();
  std::vector<int> layer = {start};
  while (!layer.empty()) {
    std::vector<int> next;
    for (const int at : layer) {
      if (at != start && graph.vertices[at].kind != VertexKind::kSwitch) continue;
      for (const int arc : arcs_from[at]) {
        const NodeLink& link = graph.links[arc / 2];
        if (nvlink_only && link.kind != NodeLinkKind::kNvLink) continue;
        const int to = graph.ArcTo(arc);
        const int hops = tree.hops[at] + 1;
        const double width = std::min(tree.width[at], link.bandwidth.bytes_per_second());
        if (tree.hops[to] < hops || (tree.hops[to] == hops && tree.width[to] >= width)) continue;
        if (tree.hops[to] == kFar) next.push_back(to);
        tree.hops[to] = hops;
        tree.width[to] = width;
        tree.last_arc[to] = arc;
      }
    }
    // In the order of places, so that ties do not depend on the order of links.
    std::ranges::sort(next);
    layer = std::move(next);
  }
  return tree;
}

NodePath PathOf(const NodeGraph& graph, const Tree& tree, int to) {
  NodePath path;
  for (int at = to; tree.last_arc[at] >= 0; at = graph.ArcFrom(tree.last_arc[at])) {
    path.push_back(tree.last_arc[at]);
  }
  std::ranges::reverse(path);
  return path;
}

}  // namespace

NodeRoutes::NodeRoutes(const NodeGraph& graph) {
  if (const TopologyProblems problems = CheckNodeGraph(graph); !problems.empty()) {
    throw std::invalid_argument("not a node: " + TextOf(problems));
  }
  std::vector<int> places = graph.Places(VertexKind::kGpu);
  num_gpus_ = static_cast<int>(places.size());
  const std::vector<int> nics = graph.Places(VertexKind::kNic);
  num_nics_ = static_cast<int>(nics.size());
  places.insert(places.end(), nics.begin(), nics.end());

  std::vector<std::vector<int>> arcs_from(graph.vertices.size());
  for (int arc = 0; arc < graph.num_arcs(); ++arc) arcs_from[graph.ArcFrom(arc)].push_back(arc);
  paths_.resize(places.size() * places.size());
  for (std::size_t i = 0; i < places.size(); ++i) {
    const Tree nvlink = Search(graph, arcs_from, places[i], true);
    const Tree any = Search(graph, arcs_from, places[i], false);
    for (std::size_t j = 0; j < places.size(); ++j) {
      const Tree& tree = nvlink.hops[places[j]] < kFar ? nvlink : any;
      paths_[i * places.size() + j] = PathOf(graph, tree, places[j]);
    }
  }
}

BytesPerSecond WidthOf(const NodeGraph& graph, const NodePath& path) {
  BytesPerSecond width = BytesPerSecond::Count(std::numeric_limits<double>::infinity());
  for (const int arc : path) width = std::min(width, graph.links[arc / 2].bandwidth);
  return width;
}

Seconds LatencyOf(const NodeGraph& graph, const NodePath& path) {
  Seconds latency;
  for (const int arc : path) latency += graph.links[arc / 2].latency;
  return latency;
}

std::vector<int> NicOfGpus(const NodeGraph& graph, const NodeRoutes& routes) {
  std::vector<int> nic_of;
  if (routes.num_nics() == 0) return nic_of;
  std::vector<int> users(routes.num_nics(), 0);
  for (int gpu = 0; gpu < routes.num_gpus(); ++gpu) {
    const auto rank = [&](int nic) {
      const NodePath& path = routes.ToNic(gpu, nic);
      return std::tuple(path.size(), -WidthOf(graph, path).bytes_per_second(), users[nic], nic);
    };
    int best = 0;
    for (int nic = 1; nic < routes.num_nics(); ++nic) {
      if (rank(nic) < rank(best)) best = nic;
    }
    ++users[best];
    nic_of.push_back(best);
  }
  return nic_of;
}

std::vector<double> NodeFlowLoads(const NodeGraph& graph, const NodeRoutes& routes,
                                  const std::vector<std::pair<int, int>>& flows) {
  std::vector<double> loads(graph.num_arcs(), 0);
  for (const auto& [from, to] : flows) {
    for (const int arc : routes.BetweenGpus(from, to)) loads[arc] += 1;
  }
  return loads;
}

std::vector<double> NodeExchangeLoads(const NodeGraph& graph, const NodeRoutes& routes) {
  std::vector<std::pair<int, int>> flows;
  for (int from = 0; from < routes.num_gpus(); ++from) {
    for (int to = 0; to < routes.num_gpus(); ++to) {
      if (from != to) flows.emplace_back(from, to);
    }
  }
  return NodeFlowLoads(graph, routes, flows);
}

}  // namespace zerosim
