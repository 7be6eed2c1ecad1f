#include "models/topology/graph_fabric.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "models/core/units_text.h"

namespace zerosim {
namespace {

constexpr int kUnreached = std::numeric_limits<int>::max();

}  // namespace

GraphFabric::GraphFabric(const FabricLayout& layout)
    : Fabric(layout), graph_(BuildFabricGraph(layout).graph) {
  SortIntoClasses(layout);
  FindDistances();
}

void GraphFabric::SortIntoClasses(const FabricLayout& layout) {
  const std::vector<FabricLink>& links = std::get<GraphLayout>(layout.kind).links;
  std::map<std::pair<double, double>, std::vector<int>> by_kind;
  for (std::size_t arc = 0; arc < graph_.arcs.size(); ++arc) {
    const FabricLink& link = links[graph_.arcs[arc].link];
    by_kind[{link.bandwidth.bytes_per_second(), link.latency.seconds()}].push_back(
        static_cast<int>(arc));
  }
  link_of_arc_.resize(graph_.arcs.size());
  for (const auto& [kind, arcs] : by_kind) {
    const BytesPerSecond rate = BytesPerSecond::Count(kind.first);
    const Seconds latency = Seconds::Count(kind.second);
    const int added =
        AddClass(fmt::format("links of {}, {}", FormatRate(rate), FormatSeconds(latency)), rate,
                 latency, static_cast<std::int64_t>(arcs.size()));
    for (std::size_t i = 0; i < arcs.size(); ++i) {
      link_of_arc_[arcs[i]] = classes()[added].first + static_cast<std::int64_t>(i);
      arc_of_link_.push_back(arcs[i]);
    }
  }
}

void GraphFabric::FindDistances() {
  std::map<std::vector<int>, int> known;
  for (int terminal = graph_.num_switches; terminal < graph_.num_vertices; ++terminal) {
    std::vector<int> nearest;
    for (const int arc : graph_.arcs_from[terminal]) {
      if (graph_.IsSwitch(graph_.arcs[arc].to)) nearest.push_back(graph_.arcs[arc].to);
    }
    std::ranges::sort(nearest);
    nearest.erase(std::unique(nearest.begin(), nearest.end()), nearest.end());
    const auto [place, is_new] = known.emplace(nearest, static_cast<int>(distances_.size()));
    distances_of_.push_back(place->second);
    if (!is_new) continue;
    Distances distances;
    distances.of_switch.assign(graph_.num_switches, kUnreached);
    for (const int at : nearest) distances.of_switch[at] = 1;
    std::vector<int>& order = distances.farthest_first;
    order = std::move(nearest);
    for (std::size_t i = 0; i < order.size(); ++i) {
      for (const int arc : graph_.arcs_from[order[i]]) {
        const int to = graph_.arcs[arc].to;
        if (!graph_.IsSwitch(to) || distances.of_switch[to] != kUnreached) continue;
        distances.of_switch[to] = distances.of_switch[order[i]] + 1;
        order.push_back(to);
      }
    }
    std::ranges::reverse(order);
    distances_.push_back(std::move(distances));
  }
}

bool GraphFabric::Connects(Endpoint from, Endpoint to) const {
  return graph_.Joins(HomeOf(from), HomeOf(to));
}

void GraphFabric::NextArcs(int vertex, int terminal, std::vector<int>* arcs) const {
  arcs->clear();
  const std::vector<int>& distance =
      distances_[distances_of_[terminal - graph_.num_switches]].of_switch;
  int nearest = kUnreached;
  for (const int arc : graph_.arcs_from[vertex]) {
    const int to = graph_.arcs[arc].to;
    if (to != terminal && !graph_.IsSwitch(to)) continue;
    const int hops = to == terminal ? 0 : distance[to];
    if (hops > nearest || hops == kUnreached) continue;
    if (hops < nearest) arcs->clear();
    nearest = hops;
    arcs->push_back(arc);
  }
}

void GraphFabric::AddInnerRoute(const NicFlow& flow, std::vector<Hop>* route) const {
  const int terminal = HomeOf(flow.to);
  const std::uint64_t hash = HashOf(flow);
  std::map<int, double> layer = {{HomeOf(flow.from), 1.0}};  // share that is at each vertex
  std::vector<int> arcs;
  while (!layer.empty()) {
    std::map<int, double> next;
    for (const auto& [vertex, share] : layer) {
      if (vertex == terminal) continue;
      NextArcs(vertex, terminal, &arcs);
      if (routing() != Routing::kAdaptive) {
        const std::uint64_t choice = routing() == Routing::kStatic
                                         ? static_cast<std::uint64_t>(EndpointNumber(flow.to))
                                         : Mixed(hash ^ static_cast<std::uint64_t>(vertex));
        arcs = {arcs[choice % arcs.size()]};
      }
      for (const int arc : arcs) {
        const double part = share / static_cast<double>(arcs.size());
        route->push_back({link_of_arc_[arc], 1, part});
        next[graph_.arcs[arc].to] += part;
      }
    }
    layer = std::move(next);
  }
}

void GraphFabric::AddInnerExchange(const NodeExchange& exchange, LoadCounter* loads) const {
  std::vector<double> at_switch(graph_.num_switches, 0);
  std::vector<int> arcs;
  // Sends what is at `vertex` on towards the NIC `to`.
  const auto forward = [&](int vertex, Endpoint to, double amount) {
    NextArcs(vertex, HomeOf(to), &arcs);
    if (routing() == Routing::kStatic) {
      arcs = {arcs[static_cast<std::size_t>(EndpointNumber(to)) % arcs.size()]};
    }
    for (const int arc : arcs) {
      const double part = amount / static_cast<double>(arcs.size());
      loads->Add(link_of_arc_[arc], part);
      if (graph_.IsSwitch(graph_.arcs[arc].to)) at_switch[graph_.arcs[arc].to] += part;
    }
  };
  for (const int node : exchange.nodes) {
    for (const int nic : exchange.nics) {
      const Endpoint to{node, nic};
      for (const int other : exchange.nodes) {
        if (other == node) continue;
        for (const int from_nic : exchange.nics) {
          if (exchange.same_nic && from_nic != nic) continue;
          const double amount = exchange.same_nic
                                    ? exchange.weight
                                    : exchange.weight / static_cast<double>(exchange.nics.size());
          forward(HomeOf({other, from_nic}), to, amount);
        }
      }
      const int set = distances_of_[HomeOf(to) - graph_.num_switches];
      for (const int at : distances_[set].farthest_first) {
        if (at_switch[at] == 0) continue;
        forward(at, to, std::exchange(at_switch[at], 0));
      }
    }
  }
}

std::string GraphFabric::InnerName(int link_class, std::int64_t index) const {
  const std::int64_t place = classes()[link_class].first + index - classes()[2].first;
  const FabricGraph::Arc& arc = graph_.arcs[arc_of_link_[place]];
  const FabricLink& link = std::get<GraphLayout>(layout().kind).links[arc.link];
  const bool forth = arc_of_link_[place] % 2 == 0;
  return fmt::format("{} to {}, link {}", forth ? link.from : link.to, forth ? link.to : link.from,
                     arc.link);
}

}  // namespace zerosim
