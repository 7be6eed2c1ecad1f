// The output of `nvidia-smi topo -m`, of any driver since 2015, as a node.
//
// It has NVLinks by number and PCIe by the farthest bridge between two devices, and no rate, GPU
// kind nor CPU, which are defaults. Where GPUs have NVLinks it hides how PCIe joins them: those
// with the same CPUs (CPU Affinity) are then put below one CPU. NICs that share no PCIe switch with
// a GPU are left out if others do: they are for management or storage.
#pragma once

#include <optional>
#include <string>

#include "models/scenario/document.h"
#include "models/topology_files/node_topology.h"

namespace zerosim {

// Reads `text`, reported at `file`. `gpu`, of gpu_kinds.h, is the GPU if the user says it, else
// null. Returns nothing after reporting why.
std::optional<NodeTopology> ReadNvidiaSmiTopology(const std::string& text, const std::string& file,
                                                  const CatalogGpu* gpu, Problems* problems);

}  // namespace zerosim
