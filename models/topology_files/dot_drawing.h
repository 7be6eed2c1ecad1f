// A cluster as a drawing for Graphviz: `dot -Tsvg`.
//
// The inside of a node is drawn once, since nodes are alike. Of a regular fabric each level is
// drawn once, with the number of its switches; of a graph all switches and nodes, or, above
// kMostDrawn of them, those that are linked alike once with their number. Numbers at the ends of an
// edge say how many such links each of that end has.
#pragma once

#include <string>

#include "models/hardware/hardware.h"

namespace zerosim {

constexpr int kMostDrawn = 64;

// Throws std::invalid_argument, with the text of CheckTopology, for a cluster that is no network.
std::string DrawCluster(const std::string& name, const ClusterSpec& cluster);

}  // namespace zerosim
