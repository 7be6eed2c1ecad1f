#include "models/topology/tree_fabric.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace zerosim {
namespace {

// Appends levels whose leaves hold `leaf_size` NICs, of `total` positions in all.
void AddLevels(const FabricLayout& layout, const std::vector<FatTreeLevel>& levels,
               std::int64_t leaf_size, std::int64_t total, TreeShape* shape) {
  std::int64_t size = leaf_size;
  std::int64_t uplinks = 1;
  BytesPerSecond down = leaf_size * layout.nic_bandwidth;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const FatTreeLevel& level = levels[i];
    const std::int64_t ports_down = i == 0 ? leaf_size : level.children;
    if (i > 0) {
      size *= level.children;
      down = level.children * down;
    }
    const std::int64_t balanced =
        std::llround(static_cast<double>(ports_down) / level.oversubscription);
    uplinks *= level.uplinks > 0 ? level.uplinks : std::max<std::int64_t>(1, balanced);
    const BytesPerSecond up = 1.0 / level.oversubscription * down;
    shape->levels.push_back({size, CeilDiv(total, size), uplinks,
                             1.0 / static_cast<double>(uplinks) * up,
                             layout.hop_latency + level.extra_latency});
    down = up;
  }
}

}  // namespace

TreeShape TreeShapeOf(const FabricLayout& layout) {
  TreeShape shape;
  const std::int64_t nics = layout.nics_per_node;
  const std::int64_t endpoints = layout.nodes * nics;
  if (const auto* one = std::get_if<SwitchLayout>(&layout.kind)) {
    // A node's share of the switch: one link each way above it.
    const BytesPerSecond share =
        static_cast<double>(nics) / one->oversubscription * layout.nic_bandwidth;
    shape.levels.push_back({nics, layout.nodes, 1, share, Seconds()});
  } else if (const auto* tree = std::get_if<FatTreeLayout>(&layout.kind)) {
    AddLevels(layout, tree->levels, tree->levels[0].children * nics, endpoints, &shape);
  } else {
    const RailLayout& rails = std::get<RailLayout>(layout.kind);
    shape.order = rails.only ? NicOrder::kByRail : NicOrder::kByPodAndRail;
    shape.pod_nodes = rails.levels[0].children;
    const std::int64_t pods = CeilDiv(layout.nodes, shape.pod_nodes);
    std::int64_t total = pods * shape.pod_nodes * nics;
    if (rails.only) {
      // A rail ends with a subtree of the last level, so that none reaches into the next rail.
      std::int64_t largest = 1;
      for (const FatTreeLevel& level : rails.levels) largest *= level.children;
      shape.rail_size = CeilDiv(layout.nodes, largest) * largest;
      total = shape.rail_size * nics;
    }
    AddLevels(layout, rails.levels, shape.pod_nodes, total, &shape);
  }
  return shape;
}

TreeFabric::TreeFabric(const FabricLayout& layout) : Fabric(layout), shape_(TreeShapeOf(layout)) {
  const bool one_switch = std::holds_alternative<SwitchLayout>(layout.kind);
  for (std::size_t i = 0; i < shape_.levels.size(); ++i) {
    const TreeLevel& level = shape_.levels[i];
    const std::string name = one_switch ? "switch share" : fmt::format("level {}", i);
    for (const char* direction : {"up", "down"}) {
      AddClass(name + " " + direction, level.capacity, level.latency,
               level.subtrees * level.uplinks, level.uplinks);
    }
  }
}

std::int64_t TreeFabric::PositionOf(Endpoint at) const {
  const std::int64_t nics = nics_per_node();
  switch (shape_.order) {
    case NicOrder::kByPodAndRail:
      return (at.node / shape_.pod_nodes * nics + at.nic) * shape_.pod_nodes +
             at.node % shape_.pod_nodes;
    case NicOrder::kByRail:
      return at.nic * shape_.rail_size + at.node;
    case NicOrder::kByNode:
      break;
  }
  return at.node * nics + at.nic;
}

bool TreeFabric::Connects(Endpoint from, Endpoint to) const {
  return shape_.order != NicOrder::kByRail || from.nic == to.nic;
}

void TreeFabric::AddInnerRoute(const NicFlow& flow, std::vector<Hop>* route) const {
  const std::int64_t from = PositionOf(flow.from);
  const std::int64_t to = PositionOf(flow.to);
  std::size_t top = 0;  // levels below the roots that join both ends
  while (top < shape_.levels.size() &&
         from / shape_.levels[top].size != to / shape_.levels[top].size) {
    ++top;
  }
  if (top == 0) return;
  const std::int64_t roots = shape_.levels[top - 1].uplinks;
  const std::int64_t root =
      routing() == Routing::kStatic
          ? to % roots
          : static_cast<std::int64_t>(HashOf(flow) % static_cast<std::uint64_t>(roots));
  for (std::size_t i = 0; i < top; ++i) {
    const TreeLevel& level = shape_.levels[i];
    const std::int64_t up = FirstUp(i) + from / level.size * level.uplinks;
    const std::int64_t down = FirstDown(i) + to / level.size * level.uplinks;
    if (routing() == Routing::kAdaptive) {
      route->push_back({up, level.uplinks});
      route->push_back({down, level.uplinks});
    } else {
      route->push_back({up + root % level.uplinks});
      route->push_back({down + root % level.uplinks});
    }
  }
}

void TreeFabric::AddAmong(const std::vector<std::int64_t>& positions, double weight,
                          LoadCounter* loads) const {
  const auto n = static_cast<std::int64_t>(positions.size());
  if (n == 0) return;
  struct Count {
    std::int64_t root, members;
  };
  std::vector<std::int64_t> count;
  std::vector<Count> roots;  // that some member is the destination for
  for (std::size_t i = 0; i < shape_.levels.size(); ++i) {
    const TreeLevel& level = shape_.levels[i];
    if (positions.front() / level.size == positions.back() / level.size) return;
    const bool even = routing() != Routing::kStatic;
    roots.clear();
    if (!even) {
      count.assign(level.uplinks, 0);
      for (const std::int64_t at : positions) ++count[at % level.uplinks];
      for (std::int64_t root = 0; root < level.uplinks; ++root) {
        if (count[root] > 0) roots.push_back({root, count[root]});
      }
    }
    for (auto begin = positions.begin(); begin != positions.end();) {
      const std::int64_t subtree = *begin / level.size;
      const auto end = std::lower_bound(begin, positions.end(), (subtree + 1) * level.size);
      const auto inside = static_cast<double>(end - begin);
      const double outside = static_cast<double>(n) - inside;
      const std::int64_t up = FirstUp(i) + subtree * level.uplinks;
      const std::int64_t down = FirstDown(i) + subtree * level.uplinks;
      if (even) {
        loads->AddBundle(up, weight * inside * outside);
        loads->AddBundle(down, weight * inside * outside);
      } else {
        // Up by the root of each destination that is outside, down by that of each inside.
        for (const Count& to : roots) {
          loads->Add(up + to.root, weight * inside * static_cast<double>(to.members));
        }
        for (auto at = begin; at != end; ++at) {
          loads->Add(up + *at % level.uplinks, -weight * inside);
          loads->Add(down + *at % level.uplinks, weight * outside);
        }
      }
      begin = end;
    }
  }
}

void TreeFabric::AddInnerExchange(const NodeExchange& exchange, LoadCounter* loads) const {
  std::vector<std::int64_t> positions;
  if (exchange.same_nic) {
    for (const int nic : exchange.nics) {
      positions.clear();
      for (const int node : exchange.nodes) positions.push_back(PositionOf({node, nic}));
      std::ranges::sort(positions);
      AddAmong(positions, exchange.weight, loads);
    }
    return;
  }
  const double weight = exchange.weight / static_cast<double>(exchange.nics.size());
  for (const int node : exchange.nodes) {
    for (const int nic : exchange.nics) positions.push_back(PositionOf({node, nic}));
  }
  std::ranges::sort(positions);
  AddAmong(positions, weight, loads);
  if (shape_.order == NicOrder::kByNode) return;
  // NICs of one node send each other nothing, and where they are on several leaves the exchange
  // above counted it.
  for (const int node : exchange.nodes) {
    positions.clear();
    for (const int nic : exchange.nics) positions.push_back(PositionOf({node, nic}));
    std::ranges::sort(positions);
    AddAmong(positions, -weight, loads);
  }
}

std::string TreeFabric::InnerName(int link_class, std::int64_t index) const {
  const std::size_t i = (link_class - 2) / 2;
  const TreeLevel& level = shape_.levels[i];
  const FabricLinkClass& links = classes()[link_class];
  // "level 1 up of subtree 3, link 5"
  const std::string name = fmt::format("{} of subtree {}", links.name, index / level.uplinks);
  return level.uplinks == 1 ? name : fmt::format("{}, link {}", name, index % level.uplinks);
}

}  // namespace zerosim
