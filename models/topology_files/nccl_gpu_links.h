// The GPUs of a NCCL topology file: which they are, and their NVLink, xGMI and C2C links.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "models/scenario/document.h"
#include "models/topology_files/node_draft.h"
#include "models/topology_files/node_topology.h"
#include "models/topology_files/xml_document.h"

namespace zerosim {

constexpr int kMostRank = 1 << 24;  // of any number that a file counts devices with

struct NcclGpu {
  std::size_t device = 0;               // in the draft
  std::uint64_t bus = 0;                // ParseBusId
  const XmlElement* pci = nullptr;      // never null
  const XmlElement* element = nullptr;  // its <gpu>, if the file has one
  std::size_t cpu = 0;                  // device above it
  int host_link = 0;                    // PCI device of a CPU that it is behind
  Sourced<BytesPerSecond> pcie;         // its own link
  int rank = 0;
};

// "0000:1a:00.0" as a number, as NCCL's busIdToInt64; nothing if it is none.
std::optional<std::uint64_t> ParseBusId(std::string_view text);

// Which GPU it is: `given` if not null, else by what the file has, else by `transfer_rate`, that of
// its PCIe lanes in GT/s.
Sourced<const CatalogGpu*> GpuOf(const NcclGpu& gpu, const CatalogGpu* given, double transfer_rate);

// Adds the links of `gpus` to `draft`, and `form` and `defaults` to `node`, whose gpu is set.
void AddGpuLinks(const std::vector<NcclGpu>& gpus, NodeDraft* draft, NodeTopology* node,
                 Problems* problems);

}  // namespace zerosim
