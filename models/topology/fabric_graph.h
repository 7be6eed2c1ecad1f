// The vertices and links of a network that is written down link by link.
#pragma once

#include <cstdint>
#include <vector>

#include "models/topology/fabric_layout.h"
#include "models/topology/problem.h"

namespace zerosim {

// Vertices are the switches in their order, then terminals: a node whose NICs share links, or a NIC
// that has links of its own. Terminals forward nothing.
struct FabricGraph {
  struct Arc {
    int from = 0;
    int to = 0;
    int link = 0;  // of GraphLayout::links
  };
  int num_switches = 0;
  int num_vertices = 0;
  std::vector<Arc> arcs;                    // two a link, from its `from` first
  std::vector<std::vector<int>> arcs_from;  // by vertex
  std::vector<int> home;                    // the terminal of NIC node * nics_per_node + nic
  std::vector<int> component;               // of a switch: those that are joined have the same

  bool IsSwitch(int vertex) const { return vertex < num_switches; }
  // Whether a path that only switches forward leads from a terminal to another.
  bool Joins(int from, int to) const;
};

struct FabricGraphResult {
  FabricGraph graph;
  TopologyProblems problems;
};

// Names, ends and homes; whether all NICs of one number are joined. Requires a layout of that kind
// with positive numbers of nodes and NICs.
FabricGraphResult BuildFabricGraph(const FabricLayout& layout);

}  // namespace zerosim
