// A network of named switches and links.
//
// Routes have the fewest links. At each vertex a flow takes one of the links that lead nearer:
// static, that of place (number of the destination NIC) modulo their number, in the order of links;
// ECMP by a hash of the flow and the vertex; adaptive evenly over them, vertex by vertex. Weights
// of links are not modelled: among paths of equally many links the fast and the slow count alike.
//
// An exchange costs (NICs) x (NICs + links), within the limit that fabric_layout.h states.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/topology/fabric.h"
#include "models/topology/fabric_graph.h"

namespace zerosim {

class GraphFabric : public Fabric {
 public:
  explicit GraphFabric(const FabricLayout& layout);
  bool Connects(Endpoint from, Endpoint to) const override;

 private:
  // Hops to a terminal from each switch, the last one to the terminal included. Terminals on the
  // same switches share one.
  struct Distances {
    std::vector<int> of_switch;
    std::vector<int> farthest_first;  // switches that reach it
  };

  bool NicsAreTogether() const override { return false; }
  void AddInnerRoute(const NicFlow& flow, std::vector<Hop>* route) const override;
  void AddInnerExchange(const NodeExchange& exchange, LoadCounter* loads) const override;
  std::string InnerName(int link_class, std::int64_t index) const override;

  void SortIntoClasses(const FabricLayout& layout);
  void FindDistances();
  int HomeOf(Endpoint at) const { return graph_.home[EndpointNumber(at)]; }
  // Arcs from a vertex that lead nearer to a terminal.
  void NextArcs(int vertex, int terminal, std::vector<int>* arcs) const;

  FabricGraph graph_;
  std::vector<std::int64_t> link_of_arc_;
  std::vector<int> arc_of_link_;  // less the NICs' links
  std::vector<Distances> distances_;
  std::vector<int> distances_of_;  // by terminal, less the switches
};

}  // namespace zerosim
