// A cluster's network as a SimGrid platform (DTD 4.1), which SimGrid 3.32 loads and
// simgrid_platform.h reads back. Hosts are nodes: SimGrid has no inside of a node, and all NICs of
// a node are one link.
//
// A switch, fat tree, torus and dragonfly are a <cluster>, in which every link has one latency:
// half of cluster.fabric.latency. Any other graph is a <zone> of routers with cables, routed by the
// fewest links (Dijkstra). Rail networks are refused: there a node is at several places.
#pragma once

#include <string>
#include <vector>

#include "models/hardware/hardware.h"

namespace zerosim {

struct SimgridExport {
  std::string xml;
  std::vector<std::string> left_out;  // what of the cluster is not in it, a sentence each
};

// Throws std::invalid_argument, with the key and a remedy, for a cluster of one node and for a
// fabric that such a platform does not express.
SimgridExport ExportSimgrid(const std::string& name, const ClusterSpec& cluster);

}  // namespace zerosim
