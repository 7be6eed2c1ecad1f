#include "models/network/spec_nccl.h"

#include <algorithm>
#include <cmath>

#include "models/core/units.h"

namespace zerosim {
namespace {

constexpr int kPascal = 60;
constexpr int kHopper = 90;
constexpr int kBlackwell = 100;

BytesPerSecond RateOfNvLink(int compute_capability) {
  if (compute_capability <= kPascal) return BytesPerSecond::GigabytesPerSecond(20);
  if (compute_capability >= kBlackwell) return BytesPerSecond::GigabytesPerSecond(50);
  return BytesPerSecond::GigabytesPerSecond(25);
}

// 12 GB/s of generation 3, twice that of each later one.
int PcieGeneration(BytesPerSecond rate) {
  const BytesPerSecond third = BytesPerSecond::GigabytesPerSecond(12);
  return std::clamp(3 + static_cast<int>(std::lround(std::log2(Ratio(rate, third)))), 3, 6);
}

}  // namespace

std::optional<NcclTopology> NcclTopologyOf(const ClusterSpec& cluster) {
  const NodeSpec& node = cluster.node;
  if (node.gpu.compute_capability == 0) return std::nullopt;
  NcclTopology topology;
  topology.compute_capability = node.gpu.compute_capability;
  topology.gpus_per_node = node.gpus;
  topology.nvlink = RateOfNvLink(topology.compute_capability);
  topology.nvlinks =
      node.in_node == InNodeFabric::kPcie
          ? 0
          : static_cast<int>(std::lround(Ratio(node.gpu_bandwidth, topology.nvlink)));
  topology.pcie_generation = PcieGeneration(node.pcie_bandwidth);
  topology.nvls = node.in_node == InNodeFabric::kNvSwitch && topology.compute_capability >= kHopper;
  topology.nics_per_node = cluster.nodes > 1 ? cluster.fabric.nics_per_node : 0;
  topology.nic = cluster.fabric.nic_bandwidth;
  topology.cpu = node.cpu;
  topology.ll128_between_nodes = cluster.fabric.ll128;
  topology.collnet = cluster.fabric.in_network_reduction;
  return topology;
}

}  // namespace zerosim
