// A NCCL or RCCL topology file (NCCL_TOPO_DUMP_FILE, NCCL_TOPO_FILE) as a node.
//
// system > cpu > pci > [pci ...] > gpu > nvlink|xgmi|c2c, and nic > net, as src/graph/xml.cc of
// NCCL 2.28 reads them. A dump has all of it; files that clouds hand out have only the PCI devices,
// by class, and what they lack is taken from the usual node of the GPU, and marked.
//
// NVSwitches are one vertex, as in NCCL. Not read: affinity masks, GPUDirect (gdr), latencies and
// connection limits of nets. Not modelled: what else a PCIe switch or a CPU carries.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "models/scenario/document.h"
#include "models/topology_files/node_topology.h"

namespace zerosim {

// Reads `text`, reported at `file`. `gpu`, of gpu_kinds.h, is the GPU if the user says it, else
// null. Returns nothing after reporting why.
std::optional<NodeTopology> ReadNcclTopology(const std::string& text, const std::string& file,
                                             const CatalogGpu* gpu, Problems* problems);

}  // namespace zerosim
