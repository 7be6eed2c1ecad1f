// What links and kernels of NCCL achieve of what data sheets promise: the numbers that a
// calibration replaces.
//
// Defaults come from published runs and nothing is fitted to a cluster, but several were chosen
// with nccl-tests logs in view, among them logs that validate/README.md holds predictions against:
// it says which. "Of" a rate means a fraction of the data sheet's.
#pragma once

#include "models/core/units.h"
#include "models/nccl/topology.h"

namespace zerosim {

struct NcclAchieved {
  double gpu_link = 0.82;   // of NVLink (or PCIe) by rings and trees
  double network = 0.93;    // of the NICs by rings and trees
  double nvls = 0.69;       // of NVLink by NVLS: 310 GB/s on 4, 6 and 8 H100
  double nvls_tree = 0.63;  // of NVLink by the in-node part of NVLSTree
  double all_to_all_network = 0.90;
  double all_to_all_gpu_link = 0.80;
  double send_gpu_link = 0.80;
  double send_network = 0.87;

  // Ring Simple between nodes: share of the shipped step latencies that shows. They hold time that
  // bytes spend on the wire, which transfer counts.
  double ring_simple_latency = 0.6;
  // LL and LL128 between nodes: a step of m bytes takes longer by this times log2(m / 64 B), up to
  // 32 KiB.
  Seconds network_step_per_doubling = Seconds::Micros(0.25);
  // Filling a pipeline of chunks costs up to `fill`, once the transfer takes longer than `fill_at`.
  Seconds node_fill = Seconds::Micros(40);
  Seconds network_fill = Seconds::Micros(150);
  Seconds fill_at = Seconds::Micros(150);

  // Sends and receives: a call, each peer over the network and in the node, the same below 256
  // bytes a peer, and what one channel carries.
  Seconds send_base = Seconds::Micros(14);
  double send_base_between_nodes = 1.3;
  Seconds network_peer = Seconds::Micros(2.5);
  Seconds node_peer = Seconds::Micros(0.3);
  Seconds tiny_network_peer = Seconds::Micros(0.3);
  BytesPerSecond network_channel = BytesPerSecond::GigabytesPerSecond(12.6);
  BytesPerSecond nvlink_channel = BytesPerSecond::GigabytesPerSecond(20.4);

  // One process that drives several GPUs launches them one after the other: 35 us for 8.
  Seconds launch_per_gpu = Seconds::Micros(4.4);
  Seconds all_to_all_launch_per_gpu = Seconds::Micros(10);
};

// The defaults, with the fraction of the GPU's links by its generation: P100 (PCIe) 0.40, V100
// 0.80, A100 0.78, H100 0.82, B200 0.77, RTX PRO (PCIe) 0.85.
NcclAchieved AchievedOn(const NcclTopology& topology);

// The data sheet's rate of a GPU to its peers, a direction: all its NVLinks, or 16 lanes of PCIe.
BytesPerSecond GpuLink(const NcclTopology& topology);

}  // namespace zerosim
