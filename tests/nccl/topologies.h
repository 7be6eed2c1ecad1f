// Clusters that tests of NCCL share, by their data sheets.
#pragma once

#include <string>
#include <vector>

#include "models/nccl/topology.h"

namespace zerosim {

inline NcclTopology H100() {
  return {};
}

inline NcclTopology Gh200() {  // four all-to-all, Slingshot: no switch, no LL128 over the network
  NcclTopology topology;
  topology.gpus_per_node = 4;
  topology.nvls = false;
  topology.nics_per_node = 4;
  topology.nic = BytesPerSecond::GigabitsPerSecond(200);
  topology.cpu = CpuVendor::kOther;
  topology.ll128_between_nodes = false;
  return topology;
}

inline NcclTopology A100Amd() {  // four all-to-all, two NICs
  NcclTopology topology = Gh200();
  topology.compute_capability = 80;
  topology.nvlinks = 12;
  topology.nics_per_node = 2;
  topology.cpu = CpuVendor::kAmd;
  return topology;
}

inline NcclTopology RtxPro() {  // eight on PCIe 5
  NcclTopology topology;
  topology.compute_capability = 120;
  topology.nvlinks = 0;
  topology.nvls = false;
  return topology;
}

struct TopologyAndGroup {
  NcclTopology topology;
  NcclGroup group;

  std::string name() const {
    return "sm" + std::to_string(topology.compute_capability) + ", " + std::to_string(group.nodes) +
           " x " + std::to_string(group.gpus_per_node) + " of " +
           std::to_string(topology.gpus_per_node);
  }
};

// Each topology with one, two, three and all GPUs of one, two, five and eight nodes; two ranks or
// more.
inline std::vector<TopologyAndGroup> SomeGroups() {
  std::vector<TopologyAndGroup> groups;
  for (const NcclTopology& topology : {H100(), Gh200(), A100Amd(), RtxPro()}) {
    for (const int nodes : {1, 2, 5, 8}) {
      for (const int gpus : {1, 2, 3, topology.gpus_per_node}) {
        if (nodes * gpus > 1) groups.push_back({topology, {nodes, gpus}});
      }
    }
  }
  return groups;
}

constexpr Bytes KiB(std::int64_t n) {
  return Bytes::Count(n * 1024);
}
constexpr Bytes MiB(std::int64_t n) {
  return Bytes::Count(n * 1024 * 1024);
}

}  // namespace zerosim
