// Nodes that are not as the others: throttled, with a degraded link or with dead NICs.
//
// A rate of 0.4 is 40 % of what the same part of a sound node does. `compute` scales the time of
// every kernel, memory-bound ones too: a clock that fell, and not a power limit that leaves memory
// alone.
//
// Not modelled: nodes with other numbers of GPUs, or another GPU's shape of rates; one slow GPU of
// a node counts as a slow node, since its collectives wait for it.
#pragma once

#include <algorithm>
#include <vector>

namespace zerosim {

// Of the parts of one node, over those of a sound one: in (0, 1], or above 1 for a better one.
struct NodeSpeeds {
  double compute = 1;   // its GPUs' kernels
  double gpu_link = 1;  // between its GPUs
  double nic = 1;       // to other nodes
  bool operator==(const NodeSpeeds&) const = default;
};

struct NodeException {
  std::vector<int> nodes;  // from 0, ascending
  NodeSpeeds speeds;       // of what is left
  // The others carry what these did: a node with d of n dead sends at (n - d)/n of its rate.
  int dead_nics = 0;
};

// Its nodes' speeds, dead NICs counted in. `nics_per_node` above dead_nics.
inline NodeSpeeds SpeedsOf(const NodeException& exception, int nics_per_node) {
  NodeSpeeds speeds = exception.speeds;
  speeds.nic *= static_cast<double>(nics_per_node - exception.dead_nics) / nics_per_node;
  return speeds;
}

inline NodeSpeeds Slower(const NodeSpeeds& a, const NodeSpeeds& b) {
  return {std::min(a.compute, b.compute), std::min(a.gpu_link, b.gpu_link), std::min(a.nic, b.nic)};
}

}  // namespace zerosim
