#include "models/topology/patterns.h"

#include <bit>
#include <stdexcept>
#include <string>

namespace zerosim {

NodeGroups AllGroups(int nodes, int size, int stride) {
  if (nodes < 1 || size < 1 || stride < 1 || nodes / size < stride ||
      nodes % (size * stride) != 0) {
    throw std::invalid_argument("groups of " + std::to_string(size) + " nodes, " +
                                std::to_string(stride) + " apart, do not divide " +
                                std::to_string(nodes) + " nodes");
  }
  return {0, size, stride, stride, nodes / (size * stride)};
}

std::vector<NicFlow> FlowsOf(const TrafficPattern& pattern) {
  std::vector<NicFlow> flows;
  const NodeGroups& groups = pattern.groups;
  for (int group = 0; group < groups.count(); ++group) {
    for (const Edge& edge : pattern.edges) {
      for (const int nic : pattern.nics) {
        flows.push_back({{groups.Node(group, edge.from), nic},
                         {groups.Node(group, edge.to), nic},
                         edge.weight});
      }
    }
  }
  return flows;
}

std::vector<Edge> RingEdges(int size) {
  return ShiftEdges(size, 1);
}

std::vector<Edge> ShiftEdges(int size, int distance) {
  std::vector<Edge> edges;
  if (distance % size == 0) return edges;
  for (int member = 0; member < size; ++member) {
    edges.push_back({member, (member + distance % size) % size});
  }
  return edges;
}

std::vector<Edge> PairEdges(int size, int power) {
  const bool whole = std::has_single_bit(static_cast<unsigned>(size));
  if (!whole || power < 0 || power >= 31 || (1 << power) >= size) {
    throw std::invalid_argument("no partners at distance 2^" + std::to_string(power) + " in " +
                                std::to_string(size) +
                                " members; expected a power of two above it");
  }
  std::vector<Edge> edges;
  edges.reserve(size);
  for (int member = 0; member < size; ++member) edges.push_back({member, member ^ (1 << power)});
  return edges;
}

std::vector<int> BinaryTreeParents(int size) {
  // Odd numbers are leaves, multiples of 2 their parents, and so on; 0 is above all.
  std::vector<int> parents(size, -1);
  for (int member = 1; member < size; ++member) {
    const int bit = member & -member;
    const int right = (member ^ bit) | (bit << 1);
    parents[member] = right < size ? right : member ^ bit;
  }
  return parents;
}

std::vector<int> OtherTreeParents(int size) {
  const std::vector<int> first = BinaryTreeParents(size);
  std::vector<int> parents(size, -1);
  for (int member = 0; member < size; ++member) {
    const auto image = [&](int of) { return size % 2 == 0 ? size - 1 - of : (of + 1) % size; };
    parents[image(member)] = first[member] < 0 ? -1 : image(first[member]);
  }
  return parents;
}

std::vector<Edge> DoubleTreeEdges(int size) {
  std::vector<Edge> edges;
  for (const std::vector<int>& parents : {BinaryTreeParents(size), OtherTreeParents(size)}) {
    for (int member = 0; member < size; ++member) {
      if (parents[member] < 0) continue;
      edges.push_back({member, parents[member], 0.5});
      edges.push_back({parents[member], member, 0.5});
    }
  }
  return edges;
}

}  // namespace zerosim
