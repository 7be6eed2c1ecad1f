// The usual insides of nodes as graphs. GPUs are "gpu0", ..., NICs "nic0", ... Each builder
// requires positive numbers and rates and throws std::invalid_argument otherwise.
#pragma once

#include "models/core/units.h"
#include "models/topology/node_graph.h"

namespace zerosim {

// PCIe between GPUs, NICs and CPUs: switches "pcie0", ... with `gpus_per_switch` GPUs each under
// host bridges "cpu0", ... with `switches_per_host_bridge` each, the CPUs in a chain. NICs are
// dealt to the switches in order, evenly.
struct PcieTree {
  int gpus_per_switch = 2;
  int switches_per_host_bridge = 2;
  BytesPerSecond bandwidth;               // of a slot and of a switch's way up, a direction
  BytesPerSecond inter_socket_bandwidth;  // between two CPUs, a direction
  Seconds latency;                        // of one link
};

// All GPUs on one NVSwitch "nvswitch" by links of `gpu_bandwidth` (the sum of a GPU's NVLinks);
// NICs hang on the PCIe tree.
NodeGraph NvSwitchNode(int gpus, int nics, BytesPerSecond gpu_bandwidth, Seconds latency,
                       const PcieTree& pcie);

// GPUs and NICs on the PCIe tree alone.
NodeGraph PcieNode(int gpus, int nics, const PcieTree& pcie);

// Each GPU to the next by NVLink, the last to the first, and the PCIe tree. Two GPUs have one link.
NodeGraph RingNode(int gpus, int nics, BytesPerSecond link_bandwidth, Seconds latency,
                   const PcieTree& pcie);

// Each pair of GPUs by an NVLink of its own, and the PCIe tree.
NodeGraph FullMeshNode(int gpus, int nics, BytesPerSecond link_bandwidth, Seconds latency,
                       const PcieTree& pcie);

// The hybrid cube mesh of a DGX-1 with V100: two quads of GPUs that are fully joined, GPU i to
// GPU i + 4 across, sixteen pairs, of which eight are joined by two NVLinks, so that a GPU uses its
// six: three rings of single links each way (NVIDIA, "DGX-1 with Tesla V100 System Architecture",
// WP-08437, section on the NVLink topology; the doubled pairs as `nvidia-smi topo -m` prints them
// on such machines: 0-3 0-4 1-2 1-5 2-3 4-7 5-6 6-7). On a P100, with four NVLinks, each of the
// sixteen pairs has one: `doubled` false. `link_bandwidth` is of one NVLink, a direction (V100: 25
// GB/s; P100: 20 GB/s).
NodeGraph HybridCubeMeshNode(int nics, BytesPerSecond link_bandwidth, bool doubled, Seconds latency,
                             const PcieTree& pcie);

}  // namespace zerosim
