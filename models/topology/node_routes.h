// Paths inside of a node, and which NIC a GPU uses.
#pragma once

#include <utility>
#include <vector>

#include "models/core/units.h"
#include "models/topology/node_graph.h"

namespace zerosim {

// Arcs from one vertex to another, in order.
using NodePath = std::vector<int>;

// Paths from each GPU to each other GPU and to and from each NIC: the shortest of NVLinks alone if
// there is one, otherwise the shortest of all links; of equally short ones that with the widest
// narrowest link, and of these the one through the vertices of least place. Requires a graph that
// CheckNodeGraph accepts, otherwise throws std::invalid_argument with what it says.
class NodeRoutes {
 public:
  explicit NodeRoutes(const NodeGraph& graph);

  int num_gpus() const { return num_gpus_; }
  int num_nics() const { return num_nics_; }
  // Empty from a GPU to itself.
  const NodePath& BetweenGpus(int from, int to) const { return paths_[from * ends() + to]; }
  const NodePath& ToNic(int gpu, int nic) const { return paths_[gpu * ends() + num_gpus_ + nic]; }
  const NodePath& FromNic(int nic, int gpu) const {
    return paths_[(num_gpus_ + nic) * ends() + gpu];
  }

 private:
  int ends() const { return num_gpus_ + num_nics_; }

  int num_gpus_ = 0;
  int num_nics_ = 0;
  std::vector<NodePath> paths_;  // from GPUs, then NICs, to GPUs, then NICs
};

// The narrowest link of a path; infinite for an empty one.
BytesPerSecond WidthOf(const NodeGraph& graph, const NodePath& path);
Seconds LatencyOf(const NodeGraph& graph, const NodePath& path);

// The NIC of each GPU: the nearest, among equally near ones the widest, and of these the one that
// fewest GPUs before it have. Empty if the node has none.
std::vector<int> NicOfGpus(const NodeGraph& graph, const NodeRoutes& routes);

// What one arc carries, in units of one flow's bytes, when every GPU sends one to every other (an
// all-to-all in the node). By arc.
std::vector<double> NodeExchangeLoads(const NodeGraph& graph, const NodeRoutes& routes);

// The same for given pairs of GPUs: {from, to}.
std::vector<double> NodeFlowLoads(const NodeGraph& graph, const NodeRoutes& routes,
                                  const std::vector<std::pair<int, int>>& flows);

}  // namespace zerosim
