// A node that was read from a file of another tool, as the cluster section that a user would write.
#pragma once

#include <string>

#include "models/topology_files/node_topology.h"

namespace zerosim {

// Whether a node whose links have a name is written by it, or always as a graph, which keeps what
// hangs where.
enum class NodeForm : std::uint8_t { kNamedIfPossible, kGraph };

// The section `cluster` of a scenario in block YAML, one node of it. What the file does not say has
// a default, and beside it the comment "not in the file: what it is".
std::string NodeYaml(const NodeTopology& node, NodeForm form);

}  // namespace zerosim
