// A fabric that was read from a file of another tool, as the cluster section that a user would
// write.
#pragma once

#include <string>

#include "models/topology_files/fabric_topology.h"

namespace zerosim {

// The section `cluster` of a scenario in block YAML. What the file does not say has a default, and
// beside it the comment "not in the file: what it is".
std::string FabricYaml(const FabricTopology& fabric);

}  // namespace zerosim
