// Who sends to whom in a step of a collective between nodes.
//
// A pattern runs in every group of nodes at once and on every NIC of a list, each a channel of its
// own whose messages arrive at the NIC of the number that they left by. Weights are in units of
// what one NIC sends of one message. All-to-alls, which have too many pairs to list, are in
// loads.h.
#pragma once

#include <cstdint>
#include <vector>

#include "models/topology/fabric.h"

namespace zerosim {

// Groups of `size` nodes, `stride` apart, that start at `first + i + o * size * stride` for i below
// `inner` and o below `outer`; one group if both are 1.
struct NodeGroups {
  int first = 0;
  int size = 1;
  int stride = 1;
  int inner = 1;  // at most the stride
  int outer = 1;

  int count() const { return inner * outer; }
  int Node(int group, int member) const {
    return first + group % inner + group / inner * size * stride + member * stride;
  }
  friend bool operator==(const NodeGroups&, const NodeGroups&) = default;
};

// All groups of that form among `nodes`. Throws std::invalid_argument if they do not divide them.
NodeGroups AllGroups(int nodes, int size, int stride);

// A message from a member of a group to another, by their places in it.
struct Edge {
  int from = 0;
  int to = 0;
  double weight = 1;
  friend bool operator==(const Edge&, const Edge&) = default;
};

struct TrafficPattern {
  NodeGroups groups;
  std::vector<int> nics;
  std::vector<Edge> edges;  // of every group
};

// Every message, for small patterns.
std::vector<NicFlow> FlowsOf(const TrafficPattern& pattern);

// Each of `size` members to the next one, the last to the first.
std::vector<Edge> RingEdges(int size);

// Each member i to member i + distance modulo the size; nothing if that is itself. `distance` from
// 0 on.
std::vector<Edge> ShiftEdges(int size, int distance);

// Member i to member i xor 2^power, as recursive halving and doubling do. Throws
// std::invalid_argument if the size is not a power of two above 2^power (MPI folds the excess
// beforehand, which is not modelled).
std::vector<Edge> PairEdges(int size, int power);

// A double binary tree: two trees over all members that each carry half of the data, up to reduce
// and down to broadcast. A member with children in one is a leaf in the other, except for one of an
// odd number. Every edge has weight 1/2 in each direction. (P. Sanders, J. Speck and J. Traff,
// Parallel Computing 35 (2009) 581; built as NCCL does: src/graph/trees.cc.)
std::vector<Edge> DoubleTreeEdges(int size);

// The parents of the members of the first such tree of `size`; -1 at its root.
std::vector<int> BinaryTreeParents(int size);
// Of the second one: the mirror image of the first for even sizes, shifted by one for odd ones.
std::vector<int> OtherTreeParents(int size);

}  // namespace zerosim
