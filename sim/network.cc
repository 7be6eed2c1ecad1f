#include "sim/network.h"

#include <algorithm>

namespace zerosim {
namespace {

// A measured latency wins over the specification's.
Seconds LatencyOf(const Parameter& measured, Seconds specified) {
  return measured.value > 0 ? Seconds::Count(measured.value) : specified;
}

}  // namespace

NetworkModel NetworkOf(const ClusterSpec& cluster) {
  const NodeSpec& node = cluster.node;
  const FabricSpec& fabric = cluster.fabric;
  const Calibration& calibration = cluster.calibration;

  BytesPerSecond nic = calibration.nic_fraction.value * fabric.nic_bandwidth;
  if (node.pcie_bandwidth > BytesPerSecond()) nic = std::min(nic, node.pcie_bandwidth);
  const BytesPerSecond gpu =
      node.gpu_bandwidth_fraction * calibration.gpu_link_fraction.value * node.gpu_bandwidth;
  const BytesPerSecond share = (fabric.nics_per_node / fabric.oversubscription) * nic;

  NetworkModel network;
  const std::int64_t nodes = cluster.nodes;
  network.links = {{"gpu link", gpu, nodes * node.gpus},
                   {"nic", nic, nodes * fabric.nics_per_node},
                   {"fabric", share, nodes}};
  network.gpu_latency = LatencyOf(calibration.gpu_step_latency, node.gpu_latency);
  network.nic_latency = LatencyOf(calibration.nic_step_latency, fabric.latency);
  network.launch = Seconds::Count(calibration.collective_launch.value);
  network.all_to_all_fraction = calibration.all_to_all_fraction.value;
  network.collective_share = node.gpu.collective_share;
  network.nodes = cluster.nodes;
  network.gpus_per_node = node.gpus;
  network.nics_per_node = fabric.nics_per_node;
  return network;
}

}  // namespace zerosim
