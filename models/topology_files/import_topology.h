// Files of other tools that describe a machine, as the section `cluster` of a scenario.
#pragma once

#include <string>
#include <vector>

#include "models/scenario/files.h"
#include "models/topology_files/node_yaml.h"

namespace zerosim {

enum class TopologyFormat : std::uint8_t { kNccl, kNvidiaSmi, kSlurm, kSimgrid };

struct ImportedTopology {
  std::string yaml;
  std::vector<std::string> warnings;
  std::vector<std::string> notes;
};

// Reads the file at `path`. `gpu` is a name of gpu_kinds.h, or empty if the file or a default is to
// say the GPU; it and `form` are of nodes. Throws ScenarioError with all problems.
ImportedTopology ImportTopology(TopologyFormat format, const std::string& path,
                                const std::string& gpu, NodeForm form, const Files& files);

}  // namespace zerosim
