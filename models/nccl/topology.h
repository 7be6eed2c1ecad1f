// What NCCL knows of a cluster when it plans: GPUs, NVLinks, NICs, processors.
//
// Data-sheet values; what NCCL makes of them (its own, lower rates) is in graphs.h. Every node is
// alike, and a communicator has as many ranks on each.
#pragma once

#include <cstdint>

#include "models/core/units.h"

namespace zerosim {

enum class CpuVendor : std::uint8_t { kIntel, kAmd, kOther };

struct NcclTopology {
  int compute_capability = 90;  // 70 V100, 80 A100, 90 H100, 100 B200, 120 RTX PRO
  int gpus_per_node = 8;        // in the node, whether or not a communicator uses all
  int nvlinks = 18;             // of one GPU; 0: GPUs reach each other over PCIe
  BytesPerSecond nvlink = BytesPerSecond::GigabytesPerSecond(25);  // one link, a direction
  int pcie_generation = 5;                                         // of 16 lanes
  bool nvls = true;       // NVSwitches that multicast and reduce, with a driver that allows it
  int nics_per_node = 8;  // 0: one node alone
  BytesPerSecond nic = BytesPerSecond::GigabitsPerSecond(400);  // one, a direction
  CpuVendor cpu = CpuVendor::kIntel;
  // Whether the way from a GPU to its NIC keeps the order of 128-byte stores (no further than a
  // PCIe switch, or PXN on sm90). Where it does not, NCCL leaves LL128 out between nodes.
  bool ll128_between_nodes = true;
  // Switches of the network reduce (SHARP, with its plug-in loaded and NCCL_COLLNET_ENABLE=1).
  bool collnet = false;

  BytesPerSecond nvlink_of_gpu() const { return nvlinks * nvlink; }
};

// Where the ranks of a communicator are: as many on every node.
struct NcclGroup {
  int nodes = 1;
  int gpus_per_node = 1;

  int ranks() const { return nodes * gpus_per_node; }
};

}  // namespace zerosim
