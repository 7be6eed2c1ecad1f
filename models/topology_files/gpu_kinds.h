// The GPUs of scenarios/hardware/gpus/ as the files of other tools tell them apart, and the links
// that they have.
//
// Names of PCI devices: the PCI ID database (pci-ids.ucw.cz). Rates of an NVLink in NCCL's search:
// src/graph/topo.h (2.28), SM70_NVLINK_BW and so on; of an xGMI link: RCCL, src/graph/topo.h,
// MI200_XGMI_WIDTH and so on. Line rates are of the data sheets.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "models/core/units.h"

namespace zerosim {

enum class UsualNode : std::uint8_t { kNvSwitch, kHybridCubeMesh, kPcie, kMesh };

struct CatalogGpu {
  std::string_view name;   // of its file in scenarios/hardware/gpus/
  std::string_view pci;    // "10de:2330"; empty: not known here
  int compute_capability;  // 90 for 9.0; 0: not NVIDIA's
  double transfer_rate;    // of its PCIe lanes, GT/s
  int links;               // NVLinks or xGMI links of one GPU
  double line_rate;        // of one link, a direction, GB/s
  double nccl_rate;        // the same as NCCL or RCCL takes it, GB/s
  UsualNode usual_node;    // how the GPUs of a node are linked in the machines that have it
};

// Null if there is none. By its file's name, by "vendor:device" in lower case without 0x, and the
// most usual one of a compute capability, of AMD's gfx number ("gfx942", "942"), of the NVLinks
// that a GPU has in use, and of a PCIe generation.
const CatalogGpu* GpuNamed(std::string_view name);
const CatalogGpu* GpuOfPciDevice(std::string_view vendor_and_device);
const CatalogGpu* GpuOfComputeCapability(int capability);
const CatalogGpu* GpuOfGfx(std::string_view gfx);
const CatalogGpu* GpuOfLinks(int links);
const CatalogGpu* GpuOfTransferRate(double transfer_rate);

// The names that GpuNamed knows.
std::vector<std::string> GpuNames();

// What RCCL takes for an xGMI link of the GPU `gfx`, in GB/s.
double XgmiRate(std::string_view gfx);

}  // namespace zerosim
