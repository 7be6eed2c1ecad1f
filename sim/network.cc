#include "sim/network.h"

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "sim/node_speeds.h"
#include "sim/topology_lowering.h"

namespace zerosim {
namespace {

// A measured latency wins over the specification's.
Seconds LatencyOf(const Parameter& measured, Seconds specified) {
  return measured.value > 0 ? Seconds::Count(measured.value) : specified;
}

}  // namespace

double PcieFraction(const ClusterSpec& cluster) {
  const BytesPerSecond slot = cluster.node.pcie_bandwidth;
  if (slot == BytesPerSecond()) return std::numeric_limits<double>::infinity();
  return Ratio(slot, cluster.fabric.nic_bandwidth);
}

LinkId NetworkModel::LinkOf(LinkId kind, int stage, Direction direction) const {
  if (!has_pipeline()) return kind;
  const int place = kind == kFabric ? node_class(stage) : kind == kNic ? nic_class(stage) : stage;
  return LinkId{(2 * place + (direction == Direction::kIn ? 1 : 0)) * kNumKinds + kind.value};
}

std::string NetworkModel::KindName(LinkId link) const {
  if (topology != nullptr) return links[link.value].name;
  const std::string& name = links[KindOf(link).value].name;
  // "gpu link out, stage 0" is one of the GPUs' links.
  return has_pipeline() ? name.substr(0, name.find(" out,")) : name;
}

int NetworkModel::stages_per_node() const {
  if (!has_pipeline() || pipeline.stride >= gpus_per_node) return 1;
  return std::min(pipeline.size, gpus_per_node / pipeline.stride);
}

int NetworkModel::stage_of(int rank) const {
  return has_pipeline() ? rank / pipeline.stride % pipeline.size : 0;
}

int NetworkModel::stages_per_nic() const {
  if (gpus_per_node % nics_per_node != 0) {
    return nics_per_node > gpus_per_node ? 1 : stages_per_node();
  }
  return std::clamp(gpus_per_node / nics_per_node / pipeline.stride, 1, stages_per_node());
}

NetworkModel NetworkOf(const ClusterSpec& cluster, const ProcessGroup& pipeline) {
  const NodeSpec& node = cluster.node;
  const FabricSpec& fabric = cluster.fabric;
  const Calibration& calibration = cluster.calibration;

  BytesPerSecond nic = calibration.nic_fraction.value * fabric.nic_bandwidth;
  if (node.pcie_bandwidth > BytesPerSecond()) nic = std::min(nic, node.pcie_bandwidth);
  const BytesPerSecond gpu =
      node.gpu_bandwidth_fraction * calibration.gpu_link_fraction.value * node.gpu_bandwidth;
  const BytesPerSecond share = (fabric.nics_per_node / fabric.oversubscription) * nic;

  // All GPUs copy at once, so that each has its part of what they share.
  BytesPerSecond host = 1.0 / node.gpus_per_host_link * node.pcie_bandwidth;
  if (node.host_memory_bandwidth > BytesPerSecond()) {
    host = std::min(host, 1.0 / node.gpus * node.host_memory_bandwidth);
  }

  NetworkModel network;
  const std::int64_t nodes = cluster.nodes;
  network.links = {{"gpu link", gpu, nodes * node.gpus, 0},
                   {"nic", nic, nodes * fabric.nics_per_node, 0},
                   {"fabric", share, nodes, 0},
                   {"pcie to host", host, nodes * node.gpus, 0},
                   {"pcie from host", host, nodes * node.gpus, 0}};
  network.pipeline = pipeline;
  if (network.has_pipeline()) {
    const std::vector<LinkClass> kinds = std::move(network.links);
    network.links.clear();
    for (int stage = 0; stage < pipeline.size; ++stage) {
      for (const char* direction : {"out", "in"}) {
        for (const LinkClass& kind : kinds) {
          network.links.push_back({fmt::format("{} {}, stage {}", kind.name, direction, stage),
                                   kind.capacity, kind.count / pipeline.size, stage});
        }
      }
    }
  }
  network.gpu_latency = LatencyOf(calibration.gpu_step_latency, node.gpu_latency);
  network.nic_latency = LatencyOf(calibration.nic_step_latency, fabric.latency);
  network.launch = Seconds::Count(calibration.collective_launch.value);
  network.copy_launch = Seconds::Count(calibration.kernel_launch.value);
  network.all_to_all_fraction = calibration.all_to_all_fraction.value;
  network.collective_share = node.gpu.collective_share;
  network.nodes = cluster.nodes;
  network.gpus_per_node = node.gpus;
  network.nics_per_node = fabric.nics_per_node;
  if (HasTopology(cluster)) AddTopology(cluster, &network);
  AddExceptions(cluster, &network);
  return network;
}

}  // namespace zerosim
