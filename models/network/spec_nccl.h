// From the description of a cluster to what NCCL knows of it.
#pragma once

#include <optional>

#include "models/hardware/hardware.h"
#include "models/nccl/topology.h"

namespace zerosim {

// Nothing if the GPU has no compute capability: NCCL runs on NVIDIA's alone. NVLinks are counted
// from gpu_bandwidth at the data sheet's rate of one (20 GB/s on P100, 50 from Blackwell on, else
// 25), the PCIe generation from pcie_bandwidth (NCCL's 12 GB/s a generation from the third on).
std::optional<NcclTopology> NcclTopologyOf(const ClusterSpec& cluster);

}  // namespace zerosim
