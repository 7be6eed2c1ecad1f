// Rings through all GPUs of a node, as NCCL's channels use the node: cycles, each with a rate, that
// together pass as much as the links allow.
//
// A ring at rate x loads every arc that it passes with x (twice x where it passes twice). Rings
// exceed no arc's rate, and their sum is the largest: a linear program over all Hamiltonian cycles,
//   maximize sum x_c  subject to  sum_c uses(c, arc) x_c <= rate(arc),
// solved by generating cycles, each the cheapest under the present prices of arcs (Held and Karp,
// J. SIAM 10 (1962) 196). As NCCL prefers one kind of path (src/graph/search.cc), rings are of
// NVLink paths alone where such cycles exist, else of all paths.
//
// Not modelled: that NCCL takes rates from a fixed list and equal ones for all channels, the number
// of channels it allows, where channels enter from and leave to NICs.
#pragma once

#include <vector>

#include "models/core/units.h"
#include "models/topology/node_graph.h"
#include "models/topology/node_routes.h"

namespace zerosim {

struct NodeRing {
  std::vector<int> gpus;  // in order; the last sends to the first
  BytesPerSecond rate;    // of the bytes that each GPU forwards
};

struct NodeRings {
  std::vector<NodeRing> rings;  // empty for one GPU
  BytesPerSecond total;         // what a collective in rings gets
  bool exact = true;            // whether no set of rings carries more
};

// Up to this many GPUs the search is exact; beyond, rings are found one by one, each to the nearest
// GPU that is left.
constexpr int kExactRingGpus = 10;

NodeRings FindRings(const NodeGraph& graph, const NodeRoutes& routes);

// What each arc carries of the rings' rates. By arc.
std::vector<BytesPerSecond> ArcRates(const NodeGraph& graph, const NodeRoutes& routes,
                                     const NodeRings& rings);

}  // namespace zerosim
