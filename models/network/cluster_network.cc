#include "models/network/cluster_network.h"

#include <stdexcept>
#include <utility>
#include <variant>

#include <fmt/format.h>

namespace zerosim {

ClusterNetwork MakeClusterNetwork(NodeGraph node) {
  NodeRoutes routes(node);
  std::vector<int> nic_of_gpu = NicOfGpus(node, routes);
  return {std::move(node), std::move(routes), std::move(nic_of_gpu), nullptr, 1, false};
}

ClusterNetwork MakeClusterNetwork(NodeGraph node, const FabricLayout& layout) {
  ClusterNetwork network = MakeClusterNetwork(std::move(node));
  if (network.routes.num_nics() != layout.nics_per_node) {
    throw std::invalid_argument(fmt::format("nodes with {} NICs in a fabric of {} a node",
                                            network.routes.num_nics(), layout.nics_per_node));
  }
  network.fabric = MakeFabric(layout);
  network.nodes = layout.nodes;
  network.one_switch = std::holds_alternative<SwitchLayout>(layout.kind);
  return network;
}

}  // namespace zerosim
