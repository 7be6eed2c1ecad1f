// From the description of a cluster (models/hardware/hardware.h) to its links.
#pragma once

#include "models/hardware/hardware.h"
#include "models/network/cluster_network.h"
#include "models/topology/problem.h"

namespace zerosim {

// What of the data sheet's rates links achieve.
struct LinkFractions {
  double nvlink = 1;
  double pcie = 1;
  double nic = 1;
  double fabric = 1;  // links between switches
};

// The inside of a node. Links of rings and meshes have the part of gpu_bandwidth that one of a
// GPU's NVLinks has: a half, a (gpus - 1)-th, or a sixth (hybrid cube mesh). Requires a node that
// CheckTopology accepts.
NodeGraph NodeGraphOf(const ClusterSpec& cluster, const LinkFractions& fractions = {});

// The network between the nodes.
FabricLayout FabricLayoutOf(const ClusterSpec& cluster, const LinkFractions& fractions = {});

// Everything that keeps the cluster from being a network; paths begin with "node" or "fabric".
TopologyProblems CheckTopology(const ClusterSpec& cluster);

// All links. Throws std::invalid_argument with the text of CheckTopology if that finds anything.
ClusterNetwork ClusterNetworkOf(const ClusterSpec& cluster, const LinkFractions& fractions = {});

}  // namespace zerosim
