#include "models/topology/dragonfly_fabric.h"

#include <algorithm>

#include <fmt/format.h>

namespace zerosim {
namespace {

constexpr int kLocal = 2;
constexpr int kGlobal = 3;

// The place of `other` among those that are not `self`.
std::int64_t PlaceAmongOthers(std::int64_t other, std::int64_t self) {
  return other < self ? other : other - 1;
}

}  // namespace

DragonflyFabric::DragonflyFabric(const FabricLayout& layout) : Fabric(layout) {
  const DragonflyLayout& dragonfly = std::get<DragonflyLayout>(layout.kind);
  groups_ = dragonfly.groups;
  routers_ = dragonfly.routers_per_group;
  nodes_per_router_ = dragonfly.nodes_per_router;
  global_links_ = dragonfly.global_links;
  AddClass("local", dragonfly.local_bandwidth, layout.hop_latency,
           groups_ * routers_ * (routers_ - 1));
  AddClass("global", dragonfly.global_bandwidth, layout.hop_latency + dragonfly.global_latency,
           groups_ * (groups_ - 1) * global_links_, global_links_);
}

std::int64_t DragonflyFabric::Gateway(std::int64_t from, std::int64_t to, std::int64_t c) const {
  const std::int64_t place = PlaceAmongOthers(to, from) * global_links_ + c;
  return from * routers_ + place / CeilDiv((groups_ - 1) * global_links_, routers_);
}

std::int64_t DragonflyFabric::GlobalLink(std::int64_t from, std::int64_t to, std::int64_t c) const {
  return classes()[kGlobal].first +
         (from * (groups_ - 1) + PlaceAmongOthers(to, from)) * global_links_ + c;
}

std::int64_t DragonflyFabric::LocalLink(std::int64_t from, std::int64_t to) const {
  return classes()[kLocal].first + from * (routers_ - 1) +
         PlaceAmongOthers(to % routers_, from % routers_);
}

void DragonflyFabric::AddGlobalHops(std::int64_t from, std::int64_t to, std::int64_t c,
                                    double share, std::vector<Hop>* route) const {
  const std::int64_t leave = Gateway(GroupOf(from), GroupOf(to), c);
  const std::int64_t enter = Gateway(GroupOf(to), GroupOf(from), c);
  if (leave != from) route->push_back({LocalLink(from, leave), 1, share});
  route->push_back({GlobalLink(GroupOf(from), GroupOf(to), c), 1, share});
  if (enter != to) route->push_back({LocalLink(enter, to), 1, share});
}

void DragonflyFabric::AddInnerRoute(const NicFlow& flow, std::vector<Hop>* route) const {
  const std::int64_t from = RouterOf(flow.from.node);
  const std::int64_t to = RouterOf(flow.to.node);
  if (from == to) return;
  if (GroupOf(from) == GroupOf(to)) {
    route->push_back({LocalLink(from, to)});
    return;
  }
  switch (routing()) {
    case Routing::kStatic:
      AddGlobalHops(from, to, flow.to.node % global_links_, 1, route);
      break;
    case Routing::kEcmp: {
      const auto links = static_cast<std::uint64_t>(global_links_);
      AddGlobalHops(from, to, static_cast<std::int64_t>(HashOf(flow) % links), 1, route);
      break;
    }
    case Routing::kAdaptive:
      for (std::int64_t c = 0; c < global_links_; ++c) {
        AddGlobalHops(from, to, c, 1.0 / static_cast<double>(global_links_), route);
      }
      break;
  }
}

void DragonflyFabric::AddInnerExchange(const NodeExchange& exchange, LoadCounter* loads) const {
  // All NICs of a node are on one router.
  const double weight = exchange.weight * static_cast<double>(exchange.nics.size());
  const std::int64_t links = global_links_;
  const auto members = static_cast<double>(exchange.nodes.size());
  if (members * members <= static_cast<double>(groups_ * routers_) && routing() != Routing::kEcmp) {
    // Few pairs on a large network: their routes cost less than its routers.
    std::vector<Hop> route;
    for (const int from : exchange.nodes) {
      for (const int to : exchange.nodes) {
        if (from == to) continue;
        route.clear();
        AddInnerRoute({{from, 0}, {to, 0}}, &route);
        for (const Hop& hop : route) loads->Add(hop, weight);
      }
    }
    return;
  }
  // Members by router; and those of a router or group that flows reach over their c-th link.
  std::vector<double> on_router(groups_ * routers_, 0);
  std::vector<double> in_group(groups_, 0);
  std::vector<double> router_by_link(groups_ * routers_ * links, 0);
  std::vector<double> group_by_link(groups_ * links, 0);
  for (const int node : exchange.nodes) {
    const std::int64_t router = RouterOf(node);
    on_router[router] += 1;
    in_group[GroupOf(router)] += 1;
    const bool fixed = routing() == Routing::kStatic;
    for (std::int64_t c = 0; c < links; ++c) {
      if (fixed && c != node % links) continue;
      const double share = fixed ? 1 : 1.0 / static_cast<double>(links);
      router_by_link[router * links + c] += share;
      group_by_link[GroupOf(router) * links + c] += share;
    }
  }
  // What the group's routers send over each gateway, and what comes in at it for each link.
  std::vector<double> out(routers_);
  std::vector<double> in(routers_ * links);
  for (std::int64_t group = 0; group < groups_; ++group) {
    if (in_group[group] == 0) continue;
    std::ranges::fill(out, 0);
    std::ranges::fill(in, 0);
    for (std::int64_t other = 0; other < groups_; ++other) {
      if (other == group || in_group[other] == 0) continue;
      for (std::int64_t c = 0; c < links; ++c) {
        const double flows = group_by_link[other * links + c];
        const std::int64_t gateway = Gateway(group, other, c) % routers_;
        loads->Add(GlobalLink(group, other, c), weight * in_group[group] * flows);
        out[gateway] += flows;
        in[gateway * links + c] += in_group[other];
      }
    }
    for (std::int64_t a = 0; a < routers_; ++a) {
      for (std::int64_t b = 0; b < routers_; ++b) {
        if (a == b) continue;
        const std::int64_t from = group * routers_ + a;
        const std::int64_t to = group * routers_ + b;
        double flows = on_router[from] * (on_router[to] + out[b]);
        for (std::int64_t c = 0; c < links; ++c) {
          flows += in[a * links + c] * router_by_link[to * links + c];
        }
        if (flows != 0) loads->Add(LocalLink(from, to), weight * flows);
      }
    }
  }
}

std::string DragonflyFabric::InnerName(int link_class, std::int64_t index) const {
  if (link_class == kLocal) {
    const std::int64_t from = index / (routers_ - 1);
    const std::int64_t place = index % (routers_ - 1);
    const std::int64_t to = place < from % routers_ ? place : place + 1;
    return fmt::format("router{} to router{}", from, GroupOf(from) * routers_ + to);
  }
  const std::int64_t pair = index / global_links_;
  const std::int64_t from = pair / (groups_ - 1);
  const std::int64_t place = pair % (groups_ - 1);
  return fmt::format("group{} to group{}, link {}", from, place < from ? place : place + 1,
                     index % global_links_);
}

}  // namespace zerosim
