// The links of a whole cluster: the inside of its nodes, which are alike, and the fabric.
#pragma once

#include <memory>
#include <vector>

#include "models/parallel/groups.h"
#include "models/topology/fabric.h"
#include "models/topology/node_graph.h"
#include "models/topology/node_routes.h"

namespace zerosim {

struct ClusterNetwork {
  NodeGraph node;
  NodeRoutes routes;
  std::vector<int> nic_of_gpu;           // the NIC that is nearest to each
  std::shared_ptr<const Fabric> fabric;  // null for one node
  int nodes = 1;
  bool one_switch = false;  // between the nodes, so that their places do not matter

  int gpus_per_node() const { return routes.num_gpus(); }
  int world_size() const { return nodes * gpus_per_node(); }
};

// A cluster of one node.
ClusterNetwork MakeClusterNetwork(NodeGraph node);

// Of `layout.nodes` nodes. Throws std::invalid_argument if the graph or the layout are faulty, or
// the node has not as many NICs as the layout says.
ClusterNetwork MakeClusterNetwork(NodeGraph node, const FabricLayout& layout);

}  // namespace zerosim
