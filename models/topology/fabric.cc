#include "models/topology/fabric.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "models/topology/dragonfly_fabric.h"
#include "models/topology/graph_fabric.h"
#include "models/topology/torus_fabric.h"
#include "models/topology/tree_fabric.h"

namespace zerosim {
namespace {

constexpr int kNicOut = 0;
constexpr int kNicIn = 1;

}  // namespace

Fabric::Fabric(const FabricLayout& layout) : layout_(layout) {
  const std::int64_t nics = static_cast<std::int64_t>(layout.nodes) * layout.nics_per_node;
  AddClass("nic out", layout.nic_bandwidth, layout.latency, nics);
  AddClass("nic in", layout.nic_bandwidth, Seconds(), nics);
}

int Fabric::AddClass(std::string name, BytesPerSecond capacity, Seconds latency, std::int64_t count,
                     std::int64_t bundle) {
  const std::int64_t first = classes_.empty() ? 0 : num_links();
  classes_.push_back({std::move(name), capacity, latency, first, count, bundle});
  return static_cast<int>(classes_.size()) - 1;
}

int Fabric::ClassOf(std::int64_t link) const {
  const auto after = std::ranges::upper_bound(classes_, link, {}, &FabricLinkClass::first);
  return static_cast<int>(after - classes_.begin()) - 1;
}

std::string Fabric::LinkName(std::int64_t link) const {
  const int link_class = ClassOf(link);
  const std::int64_t index = link - classes_[link_class].first;
  if (link_class > kNicIn) return InnerName(link_class, index);
  return fmt::format("node{}.nic{} {}", index / layout_.nics_per_node,
                     index % layout_.nics_per_node, link_class == kNicOut ? "out" : "in");
}

bool Fabric::Connects(Endpoint /*from*/, Endpoint /*to*/) const {
  return true;
}

void Fabric::AddRoute(const NicFlow& flow, std::vector<Hop>* route) const {
  route->push_back({classes_[kNicOut].first + EndpointNumber(flow.from)});
  AddInnerRoute(flow, route);
  route->push_back({classes_[kNicIn].first + EndpointNumber(flow.to)});
}

void Fabric::AddFlows(int from, int to, std::span<const int> nics, double weight,
                      std::vector<Hop>* route, LoadCounter* loads) const {
  const bool together = NicsAreTogether() && routing() != Routing::kEcmp;
  for (const int nic : nics) {
    loads->Add(classes_[kNicOut].first + EndpointNumber({from, nic}), weight);
    loads->Add(classes_[kNicIn].first + EndpointNumber({to, nic}), weight);
    if (together && nic != nics.front()) continue;
    route->clear();
    AddInnerRoute({{from, nic}, {to, nic}}, route);
    const double of_all = together ? weight * static_cast<double>(nics.size()) : weight;
    for (const Hop& hop : *route) loads->Add(hop, of_all);
  }
}

void Fabric::AddExchange(const NodeExchange& exchange, LoadCounter* loads) const {
  const double sent = exchange.weight * (static_cast<double>(exchange.nodes.size()) - 1);
  for (const int node : exchange.nodes) {
    for (const int nic : exchange.nics) {
      loads->Add(classes_[kNicOut].first + EndpointNumber({node, nic}), sent);
      loads->Add(classes_[kNicIn].first + EndpointNumber({node, nic}), sent);
    }
  }
  AddInnerExchange(exchange, loads);
}

std::uint64_t Fabric::HashOf(const NicFlow& flow) const {
  const auto from = static_cast<std::uint64_t>(EndpointNumber(flow.from));
  const auto to = static_cast<std::uint64_t>(EndpointNumber(flow.to));
  return Mixed(Mixed(layout_.seed ^ Mixed(from)) ^ to);
}

std::unique_ptr<const Fabric> MakeFabric(const FabricLayout& layout) {
  if (const TopologyProblems problems = CheckFabric(layout); !problems.empty()) {
    throw std::invalid_argument("not a fabric: " + TextOf(problems));
  }
  if (std::holds_alternative<DragonflyLayout>(layout.kind)) {
    return std::make_unique<DragonflyFabric>(layout);
  }
  if (std::holds_alternative<TorusLayout>(layout.kind)) {
    return std::make_unique<TorusFabric>(layout);
  }
  if (std::holds_alternative<GraphLayout>(layout.kind)) {
    return std::make_unique<GraphFabric>(layout);
  }
  return std::make_unique<TreeFabric>(layout);
}

std::vector<double> LoadCounter::Loads() && {
  std::vector<double> loads = std::move(single_);
  if (spread_.empty()) return loads;
  for (const FabricLinkClass& link_class : fabric_.classes()) {
    const std::int64_t end = link_class.first + link_class.count;
    for (std::int64_t first = link_class.first; first < end; first += link_class.bundle) {
      if (spread_[first] == 0) continue;
      const double each = spread_[first] / static_cast<double>(link_class.bundle);
      for (std::int64_t i = 0; i < link_class.bundle; ++i) loads[first + i] += each;
    }
  }
  return loads;
}

std::uint64_t Mixed(std::uint64_t value) {
  value += 0x9E3779B97F4A7C15U;
  value = (value ^ (value >> 30U)) * 0xBF58476D1CE4E5B9U;
  value = (value ^ (value >> 27U)) * 0x94D049BB133111EBU;
  return value ^ (value >> 31U);
}

}  // namespace zerosim
