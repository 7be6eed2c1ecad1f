// Slurm's topology.conf as a fabric.
//
// SwitchName=... Nodes=... or Switches=... of topology/tree, and BlockName=... Nodes=... of
// topology/block, whose blocks are leaves here. A regular tree is a fat tree, another one a graph.
// Nodes are numbered as the leaves list them. No rate is in the file: LinkSpeed has no unit and no
// effect in Slurm. BlockSizes, which steers placement, is not read.
#pragma once

#include <optional>
#include <string>

#include "models/scenario/document.h"
#include "models/topology_files/fabric_topology.h"

namespace zerosim {

// Reads `text`, reported at `file`. Returns nothing after reporting why.
std::optional<FabricTopology> ReadSlurmTopology(const std::string& text, const std::string& file,
                                                Problems* problems);

}  // namespace zerosim
