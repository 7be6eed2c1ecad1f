// A tree of PCIe switches and CPUs from how far apart its devices are.
//
// nvidia-smi says of each pair the farthest kind of bridge between them: at most one PCIe switch
// (PIX), several (PXB), a host bridge (PHB), host bridges of one NUMA node (NODE), or NUMA nodes
// (SYS, once SOC). Devices at most so far apart form groups, and those of the next kind hold whole
// ones, so the groups are a tree; what joins a group is one vertex here. How many switches there
// are between two of a PXB group cannot be told.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/core/units.h"
#include "models/topology_files/node_draft.h"

namespace zerosim {

enum class PciePath : std::uint8_t { kPix, kPxb, kPhb, kNode, kSys, kUnknown };

struct PcieRates {
  BytesPerSecond link;    // of a device or switch to what is above it
  BytesPerSecond socket;  // between two CPUs
};

// What the tree shows.
struct PcieTreeFacts {
  std::vector<std::vector<std::size_t>> behind_one_link;  // devices below each link to a CPU
  std::size_t cpus = 0;
};

// Adds switches, CPUs and links above `devices` of `draft`. `paths[i][j]` is of devices[i] and
// devices[j]; an unknown one joins nothing.
PcieTreeFacts AddPcieTree(const std::vector<std::size_t>& devices,
                          const std::vector<std::vector<PciePath>>& paths, const PcieRates& rates,
                          NodeDraft* draft);

}  // namespace zerosim
