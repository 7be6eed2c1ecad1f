#include "models/network/load_tally.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "models/topology/loads.h"

namespace zerosim {

LoadTally::LoadTally(const ClusterNetwork& network, bool alike)
    : network_(network),
      alike_(alike),
      arcs_per_node_(network.node.num_arcs()),
      arcs_(static_cast<std::size_t>(alike ? 1 : network.nodes) * arcs_per_node_, 0),
      each_(arcs_per_node_, 0),
      out_(alike ? 1 : network.nodes, 0) {}

void LoadTally::PassInEach(const NodePath& path, double load) {
  for (const int arc : path) each_[arc] += load;
}

void LoadTally::Pass(int node, const NodePath& path, double load) {
  const std::size_t first = alike_ ? 0 : static_cast<std::size_t>(node) * arcs_per_node_;
  for (const int arc : path) arcs_[first + arc] += load;
}

void LoadTally::Flow(const NicFlow& flow) {
  if (!counter_) counter_.emplace(*network_.fabric);
  AddFlow(*network_.fabric, flow, &route_, &*counter_);
}

void LoadTally::Flows(int from, int to, std::span<const int> nics, double load) {
  if (!counter_) counter_.emplace(*network_.fabric);
  network_.fabric->AddFlows(from, to, nics, load, &route_, &*counter_);
}

void LoadTally::OnLinks(const std::vector<double>& loads, double scale) {
  on_links_.resize(loads.size(), 0);
  for (std::size_t i = 0; i < loads.size(); ++i) on_links_[i] += scale * loads[i];
}

void LoadTally::OnLink(std::int64_t link, double load) {
  on_links_.resize(network_.fabric->num_links(), 0);
  on_links_[link] += load;
}

StageLoads LoadTally::Result() && {
  StageLoads loads;
  loads.arcs.assign(arcs_per_node_, 0);
  for (std::size_t first = 0; first < arcs_.size(); first += arcs_per_node_) {
    for (int arc = 0; arc < arcs_per_node_; ++arc) {
      loads.arcs[arc] = std::max(loads.arcs[arc], arcs_[first + arc]);
    }
  }
  for (int arc = 0; arc < arcs_per_node_; ++arc) loads.arcs[arc] += each_[arc];
  if (network_.fabric != nullptr) {
    if (counter_) {
      loads.links = std::move(*counter_).Loads();
      if (OneNodeIsEnough()) SpreadOverNodes(&loads.links);
      for (std::size_t i = 0; i < on_links_.size(); ++i) loads.links[i] += on_links_[i];
    } else {
      loads.links = std::move(on_links_);
      loads.links.resize(network_.fabric->num_links(), 0);
    }
  }
  loads.out_of_node = *std::ranges::max_element(out_);
  return loads;
}

void LoadTally::SpreadOverNodes(std::vector<double>* links) const {
  for (const FabricLinkClass& link_class : network_.fabric->classes()) {
    const std::int64_t of_node = link_class.count / network_.nodes;
    std::vector<double> sums(of_node, 0);
    for (std::int64_t i = 0; i < link_class.count; ++i) {
      sums[i % of_node] += (*links)[link_class.first + i];
    }
    for (std::int64_t i = 0; i < link_class.count; ++i) {
      (*links)[link_class.first + i] = sums[i % of_node];
    }
  }
}

}  // namespace zerosim
