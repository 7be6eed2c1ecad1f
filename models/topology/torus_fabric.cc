#include "models/topology/torus_fabric.h"

#include <fmt/format.h>

namespace zerosim {

TorusFabric::TorusFabric(const FabricLayout& layout)
    : Fabric(layout), sizes_(std::get<TorusLayout>(layout.kind).dimensions) {
  int stride = 1;
  for (const int size : sizes_) {
    strides_.push_back(stride);
    stride *= size;
  }
  for (int d = 0; d < num_dimensions(); ++d) {
    AddClass(fmt::format("dimension {}", d), std::get<TorusLayout>(layout.kind).link_bandwidth,
             layout.hop_latency, 2 * static_cast<std::int64_t>(layout.nodes));
  }
}

TorusFabric::Ways TorusFabric::WaysOf(int dimension, int from, int to) const {
  const int size = sizes_[dimension];
  const int up = (to - from + size) % size;
  if (up == 0) return {};
  if (2 * up < size) return {1, 0};
  if (2 * up > size) return {0, 1};
  if (routing() != Routing::kStatic) return {0.5, 0.5};
  return from % 2 == 0 ? Ways{1, 0} : Ways{0, 1};
}

void TorusFabric::AddRouteInOrder(const NicFlow& flow, int first, double share,
                                  std::optional<std::uint64_t> hash,
                                  std::vector<Hop>* route) const {
  int at = flow.from.node;
  for (int turn = 0; turn < num_dimensions(); ++turn) {
    const int d = (first + turn) % num_dimensions();
    const int from = Coordinate(at, d);
    const int to = Coordinate(flow.to.node, d);
    const int line = at - from * strides_[d];
    Ways ways = WaysOf(d, from, to);
    if (hash && ways.up == 0.5) ways = (*hash >> turn) % 2 == 0 ? Ways{1, 0} : Ways{0, 1};
    const int size = sizes_[d];
    const int up = (to - from + size) % size;
    for (int step = 0; ways.up > 0 && step < up; ++step) {
      const int router = line + (from + step) % size * strides_[d];
      route->push_back({LinkOf(router, d, 0), 1, share * ways.up});
    }
    for (int step = 0; ways.down > 0 && step < size - up; ++step) {
      const int router = line + (from - step + size) % size * strides_[d];
      route->push_back({LinkOf(router, d, 1), 1, share * ways.down});
    }
    at = line + to * strides_[d];
  }
}

void TorusFabric::AddInnerRoute(const NicFlow& flow, std::vector<Hop>* route) const {
  switch (routing()) {
    case Routing::kStatic:
      AddRouteInOrder(flow, 0, 1, {}, route);
      break;
    case Routing::kEcmp: {
      const std::uint64_t hash = HashOf(flow);
      const auto orders = static_cast<std::uint64_t>(num_dimensions());
      AddRouteInOrder(flow, static_cast<int>(hash % orders), 1, hash / orders, route);
      break;
    }
    case Routing::kAdaptive:
      for (int first = 0; first < num_dimensions(); ++first) {
        AddRouteInOrder(flow, first, 1.0 / num_dimensions(), {}, route);
      }
      break;
  }
}

void TorusFabric::AddExchangeInOrder(const std::vector<double>& members, int first, double weight,
                                     LoadCounter* loads) const {
  // sources[v]: members with v's coordinates in this and the later dimensions; v has 0 in earlier
  // ones. destinations[v]: the same of this and the earlier dimensions.
  std::vector<double> sources = members;
  const int dimensions = num_dimensions();
  std::vector<std::vector<double>> destinations(dimensions);
  destinations[dimensions - 1] = members;
  const auto fold = [&](const std::vector<double>& counts, int d) {
    std::vector<double> folded(counts.size(), 0);
    for (int v = 0; v < nodes(); ++v) folded[v - Coordinate(v, d) * strides_[d]] += counts[v];
    return folded;
  };
  for (int turn = dimensions - 1; turn > 0; --turn) {
    destinations[turn - 1] = fold(destinations[turn], (first + turn) % dimensions);
  }
  std::vector<double> up;
  std::vector<double> down;
  for (int turn = 0; turn < dimensions; ++turn) {
    const int d = (first + turn) % dimensions;
    const int size = sizes_[d];
    const int stride = strides_[d];
    for (int line = 0; line < nodes(); ++line) {
      if (Coordinate(line, d) != 0) continue;
      int source_line = line;
      int destination_line = line;
      for (int other = 0; other < dimensions; ++other) {
        const int e = (first + other) % dimensions;
        const int offset = Coordinate(line, e) * strides_[e];
        (other < turn ? source_line : destination_line) -= other == turn ? 0 : offset;
      }
      // Changes from router to router of what passes its links.
      up.assign(size, 0);
      down.assign(size, 0);
      for (int s = 0; s < size; ++s) {
        const double from = sources[source_line + s * stride];
        if (from == 0) continue;
        for (int t = 0; t < size; ++t) {
          const double flows = from * destinations[turn][destination_line + t * stride];
          if (flows == 0 || s == t) continue;
          const Ways ways = WaysOf(d, s, t);
          // Up the links of s to t - 1, down those of s to t + 1, round the end.
          up[s] += flows * ways.up;
          up[t] -= flows * ways.up;
          if (s > t) up[0] += flows * ways.up;
          down[s] += flows * ways.down;
          down[t] -= flows * ways.down;
          if (s < t) down[size - 1] += flows * ways.down;
        }
      }
      double going_up = 0;
      double going_down = 0;
      for (int c = 0; c < size; ++c) {
        going_up += up[c];
        loads->Add(LinkOf(line + c * stride, d, 0), weight * going_up);
        going_down += down[size - 1 - c];
        loads->Add(LinkOf(line + (size - 1 - c) * stride, d, 1), weight * going_down);
      }
    }
    if (turn + 1 < dimensions) sources = fold(sources, d);
  }
}

void TorusFabric::AddInnerExchange(const NodeExchange& exchange, LoadCounter* loads) const {
  // All NICs of a node are on its router.
  const double weight = exchange.weight * static_cast<double>(exchange.nics.size());
  const int orders = routing() == Routing::kStatic ? 1 : num_dimensions();
  const auto members = static_cast<double>(exchange.nodes.size());
  if (members * members <= static_cast<double>(nodes())) {
    // Few pairs on a large torus: their routes cost less than its lines.
    std::vector<Hop> route;
    for (const int from : exchange.nodes) {
      for (const int to : exchange.nodes) {
        if (from == to) continue;
        route.clear();
        const NicFlow flow{{from, 0}, {to, 0}};
        for (int first = 0; first < orders; ++first) {
          AddRouteInOrder(flow, first, 1.0 / orders, {}, &route);
        }
        for (const Hop& hop : route) loads->Add(hop, weight);
      }
    }
    return;
  }
  std::vector<double> count(nodes(), 0);
  for (const int node : exchange.nodes) count[node] = 1;
  for (int first = 0; first < orders; ++first) {
    AddExchangeInOrder(count, first, weight / orders, loads);
  }
}

std::string TorusFabric::InnerName(int link_class, std::int64_t index) const {
  return fmt::format("{} {} of node{}", classes()[link_class].name, index % 2 == 0 ? "up" : "down",
                     index / 2);
}

}  // namespace zerosim
