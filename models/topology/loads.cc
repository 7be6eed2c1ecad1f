#include "models/topology/loads.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

namespace zerosim {
namespace {

void RequireInside(const Fabric& fabric, Endpoint at) {
  if (at.node < 0 || at.node >= fabric.nodes() || at.nic < 0 || at.nic >= fabric.nics_per_node()) {
    throw std::invalid_argument(fmt::format("no node{}.nic{} in a fabric of {} nodes with {} NICs",
                                            at.node, at.nic, fabric.nodes(),
                                            fabric.nics_per_node()));
  }
}

void RequireInside(const Fabric& fabric, const NodeGroups& groups, const std::vector<int>& nics) {
  for (const int nic : nics) {
    RequireInside(fabric, {groups.Node(0, 0), nic});
    RequireInside(fabric, {groups.Node(groups.count() - 1, groups.size - 1), nic});
  }
}

void RequireRoute(const Fabric& fabric, const NicFlow& flow) {
  RequireInside(fabric, flow.from);
  RequireInside(fabric, flow.to);
  if (flow.from.node == flow.to.node || !fabric.Connects(flow.from, flow.to)) {
    throw std::invalid_argument(
        fmt::format("the fabric has no path from node{}.nic{} to "
                    "node{}.nic{}",
                    flow.from.node, flow.from.nic, flow.to.node, flow.to.nic));
  }
}

// Two independent numbers of the standard normal distribution that belong to `key` (Box and
// Muller).
std::pair<double, double> NormalsOf(std::uint64_t key) {
  // Of the open interval from 0 to 1.
  const double u = (static_cast<double>(Mixed(key) >> 11U) + 0.5) * 0x1p-53;
  const double v = (static_cast<double>(Mixed(~key) >> 11U) + 0.5) * 0x1p-53;
  const double radius = std::sqrt(-2 * std::log(u));
  return {radius * std::cos(2 * std::numbers::pi * v), radius * std::sin(2 * std::numbers::pi * v)};
}

// Deals the even loads of bundles out as hashes of flows of `weight` would, sums kept.
void DealLikeHashes(const Fabric& fabric, double weight, std::vector<double>* loads) {
  for (const FabricLinkClass& links : fabric.classes()) {
    if (links.bundle == 1) continue;
    for (std::int64_t first = links.first; first < links.first + links.count;
         first += links.bundle) {
      const auto begin = loads->begin() + first;
      const auto end = begin + links.bundle;
      const double mean = *begin;
      if (mean <= 0) continue;
      // Poisson counts that are held to their sum are the multinomial ones of hashes.
      const double deviation = std::sqrt(mean * weight);
      double sum = 0;
      for (auto at = begin; at != end;) {
        const auto link = static_cast<std::uint64_t>(at - loads->begin());
        const auto [one, other] = NormalsOf(Mixed(fabric.seed()) ^ link);
        for (const double normal : {one, other}) {
          if (at == end) break;
          *at = std::max(0.0, mean + deviation * normal);
          sum += *at++;
        }
      }
      const double scale = sum > 0 ? mean * static_cast<double>(links.bundle) / sum : 0;
      for (auto at = begin; at != end; ++at) *at *= scale;
    }
  }
}

// Every flow of an exchange.
std::vector<NicFlow> ExchangeFlows(const NodeGroups& groups, const std::vector<int>& nics,
                                   ExchangeNics to) {
  std::vector<NicFlow> flows;
  for (int group = 0; group < groups.count(); ++group) {
    for (int a = 0; a < groups.size; ++a) {
      for (int b = 0; b < groups.size; ++b) {
        if (a == b) continue;
        for (const int from_nic : nics) {
          for (const int to_nic : nics) {
            if (to == ExchangeNics::kSame && from_nic != to_nic) continue;
            flows.push_back(
                {{groups.Node(group, a), from_nic},
                 {groups.Node(group, b), to_nic},
                 to == ExchangeNics::kSame ? 1.0 : 1.0 / static_cast<double>(nics.size())});
          }
        }
      }
    }
  }
  return flows;
}

}  // namespace

void AddFlow(const Fabric& fabric, const NicFlow& flow, std::vector<Hop>* route,
             LoadCounter* loads) {
  RequireRoute(fabric, flow);
  route->clear();
  fabric.AddRoute(flow, route);
  for (const Hop& hop : *route) loads->Add(hop, flow.weight);
}

std::vector<double> FlowLoads(const Fabric& fabric, const std::vector<NicFlow>& flows) {
  LoadCounter loads(fabric);
  std::vector<Hop> route;
  for (const NicFlow& flow : flows) AddFlow(fabric, flow, &route, &loads);
  return std::move(loads).Loads();
}

std::vector<double> PatternLoads(const Fabric& fabric, const TrafficPattern& pattern) {
  const NodeGroups& groups = pattern.groups;
  RequireInside(fabric, groups, pattern.nics);
  for (const Edge& edge : pattern.edges) {
    if (edge.from >= 0 && edge.from < groups.size && edge.to >= 0 && edge.to < groups.size &&
        edge.from != edge.to) {
      continue;
    }
    throw std::invalid_argument(
        fmt::format("no message from member {} to {} of {}", edge.from, edge.to, groups.size));
  }
  LoadCounter loads(fabric);
  std::vector<Hop> route;
  for (int group = 0; group < groups.count(); ++group) {
    for (const Edge& edge : pattern.edges) {
      fabric.AddFlows(groups.Node(group, edge.from), groups.Node(group, edge.to), pattern.nics,
                      edge.weight, &route, &loads);
    }
  }
  return std::move(loads).Loads();
}

std::vector<double> ExchangeLoads(const Fabric& fabric, const NodeGroups& groups,
                                  const std::vector<int>& nics, ExchangeNics to) {
  RequireInside(fabric, groups, nics);
  for (const int nic : nics) {
    for (const int other : nics) {
      if (to == ExchangeNics::kAll && groups.size > 1) {
        RequireRoute(fabric, {{groups.Node(0, 0), nic}, {groups.Node(0, 1), other}});
      }
    }
  }
  const double targets = to == ExchangeNics::kAll ? static_cast<double>(nics.size()) : 1;
  const double num_flows = static_cast<double>(groups.count()) * groups.size * (groups.size - 1) *
                           static_cast<double>(nics.size()) * targets;
  const bool hashed = fabric.routing() == Routing::kEcmp;
  if (hashed && num_flows <= kMaxHashedFlows) {
    return FlowLoads(fabric, ExchangeFlows(groups, nics, to));
  }
  LoadCounter counter(fabric);
  std::vector<int> nodes(groups.size);
  for (int group = 0; group < groups.count(); ++group) {
    for (int member = 0; member < groups.size; ++member) {
      nodes[member] = groups.Node(group, member);
    }
    fabric.AddExchange({nodes, nics, to == ExchangeNics::kSame, 1}, &counter);
  }
  std::vector<double> loads = std::move(counter).Loads();
  if (hashed) DealLikeHashes(fabric, 1 / targets, &loads);
  return loads;
}

std::vector<ClassLoad> ClassLoads(const Fabric& fabric, const std::vector<double>& loads) {
  std::vector<ClassLoad> classes;
  for (const FabricLinkClass& links : fabric.classes()) {
    ClassLoad load;
    for (std::int64_t i = links.first; i < links.first + links.count; ++i) {
      load.busiest = std::max(load.busiest, loads[i]);
      load.total += loads[i];
    }
    classes.push_back(load);
  }
  return classes;
}

Seconds BusiestTime(const Fabric& fabric, const std::vector<ClassLoad>& loads, Bytes bytes) {
  Seconds longest;
  for (std::size_t i = 0; i < loads.size(); ++i) {
    longest = std::max(longest, loads[i].busiest * (bytes / fabric.classes()[i].capacity));
  }
  return longest;
}

Seconds MeanLatency(const Fabric& fabric, const std::vector<ClassLoad>& loads) {
  const double sent = loads[0].total;
  if (sent == 0) return {};
  Seconds sum;
  for (std::size_t i = 0; i < loads.size(); ++i) {
    sum += loads[i].total * fabric.classes()[i].latency;
  }
  return 1 / sent * sum;
}

Seconds LatencyOf(const Fabric& fabric, const NicFlow& flow) {
  Seconds latency;
  for (const Hop& hop : ExpandedRoute(fabric, flow)) {
    latency += hop.share * fabric.classes()[fabric.ClassOf(hop.link)].latency;
  }
  return latency;
}

std::vector<ExpandedLink> Expand(const Fabric& fabric) {
  if (fabric.num_links() > kMaxExpandedLinks) {
    throw std::invalid_argument(fmt::format("{} links are too many to write out; at most {}",
                                            fabric.num_links(), kMaxExpandedLinks));
  }
  std::vector<ExpandedLink> links;
  for (std::int64_t link = 0; link < fabric.num_links(); ++link) {
    const int link_class = fabric.ClassOf(link);
    const FabricLinkClass& of = fabric.classes()[link_class];
    links.push_back({fabric.LinkName(link), link_class, of.capacity, of.latency});
  }
  return links;
}

std::vector<Hop> ExpandedRoute(const Fabric& fabric, const NicFlow& flow) {
  RequireRoute(fabric, flow);
  std::vector<Hop> route;
  fabric.AddRoute(flow, &route);
  std::map<std::int64_t, double> shares;
  for (const Hop& hop : route) {
    for (std::int64_t i = 0; i < hop.width; ++i) {
      shares[hop.link + i] += hop.share / static_cast<double>(hop.width);
    }
  }
  std::vector<Hop> expanded;
  expanded.reserve(shares.size());
  for (const auto& [link, share] : shares) expanded.push_back({link, 1, share});
  return expanded;
}

}  // namespace zerosim
