#include "sim/topology_lowering.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>

#include "models/collectives/algorithms.h"
#include "models/network/spec_network.h"
#include "models/topology/loads.h"

namespace zerosim {
namespace {

// The next place whose remainder is the kind (NetworkModel::KindOf).
LinkId AddLink(LinkId kind, LinkClass link, NetworkModel* network) {
  std::vector<LinkClass>& links = network->links;
  while (NetworkModel::KindOf(LinkId{static_cast<int>(links.size())}) != kind) links.emplace_back();
  links.push_back(std::move(link));
  return LinkId{static_cast<int>(links.size()) - 1};
}

// Latency of a step between nodes: what is measured or stated, and what switches after the first
// add on the way of the mean message.
Seconds AcrossLatency(const NetworkModel& network, const std::vector<ClassLoad>& loads) {
  const Fabric& fabric = *network.topology->fabric;
  Seconds mean = MeanLatency(fabric, loads);
  const std::vector<FabricLinkClass>& classes = fabric.classes();
  const Seconds least = classes[0].latency + classes[1].latency;
  return network.nic_latency + std::max(Seconds(), mean - least);
}

}  // namespace

CollectiveKind KindOfOp(CollectiveOp op) {
  switch (op) {
    case CollectiveOp::kAllGather:
      return CollectiveKind::kAllGather;
    case CollectiveOp::kReduceScatter:
      return CollectiveKind::kReduceScatter;
    case CollectiveOp::kAllReduce:
      return CollectiveKind::kAllReduce;
    case CollectiveOp::kAllToAll:
    case CollectiveOp::kSend:
    case CollectiveOp::kCopyToHost:
    case CollectiveOp::kCopyToGpu:
      return CollectiveKind::kAllToAll;
  }
  return CollectiveKind::kAllToAll;
}

bool HasTopology(const ClusterSpec& cluster) {
  const InNodeFabric in_node = cluster.node.in_node;
  return (cluster.nodes > 1 && !cluster.fabric.is_switch()) ||
         (in_node != InNodeFabric::kNvSwitch && in_node != InNodeFabric::kPcie);
}

void AddTopology(const ClusterSpec& cluster, NetworkModel* network) {
  const Calibration& calibration = cluster.calibration;
  LinkFractions fractions;
  fractions.nvlink = cluster.node.gpu_bandwidth_fraction * calibration.gpu_link_fraction.value;
  fractions.nic = calibration.nic_fraction.value;
  fractions.fabric = calibration.nic_fraction.value;
  auto topology = std::make_shared<ClusterNetwork>(ClusterNetworkOf(cluster, fractions));
  for (int arc = 0; arc < topology->node.num_arcs(); ++arc) {
    const NodeLink& link = topology->node.links[arc / 2];
    network->arcs.push_back(AddLink(
        NetworkModel::kGpuLink,
        {topology->node.ArcName(arc), link.bandwidth, std::int64_t{cluster.nodes}, 0}, network));
  }
  if (topology->fabric != nullptr) {
    const std::vector<FabricLinkClass>& classes = topology->fabric->classes();
    for (std::size_t i = 0; i < classes.size(); ++i) {
      const LinkId kind = i < 2 ? NetworkModel::kNic : NetworkModel::kFabric;
      network->fabric_links.push_back(
          AddLink(kind, {classes[i].name, classes[i].capacity, classes[i].count, 0}, network));
    }
  }
  network->topology = std::move(topology);
}

TopologyLoads LoadsOfKind(const CallKind& kind, const NetworkModel& network,
                          CollectiveAlgorithm algorithm) {
  const ClusterNetwork& topology = *network.topology;
  const GroupShape shape = ShapeOf(topology, kind.group);
  Algorithm chosen = Algorithm::kRing;
  if (kind.op == CollectiveOp::kAllToAll) {
    chosen = Algorithm::kDirect;
  } else if (algorithm == CollectiveAlgorithm::kHierarchicalRing && shape.nodes > 1 &&
             shape.local > 1) {
    chosen = Algorithm::kHierarchicalRing;
  }
  AlgorithmOptions options;
  options.channels = std::clamp(topology.routes.num_nics() * shape.local / topology.gpus_per_node(),
                                1, shape.local);
  TopologyLoads loads;
  loads.algorithm = shape.size() == 1 ? "none" : NameOf(chosen);
  loads.schedule = ScheduleOf(chosen, KindOfOp(kind.op), shape, options);
  for (const Stage& stage : loads.schedule.stages) {
    loads.stages.push_back(LoadsOf(topology, stage, kind.group));
  }
  return loads;
}

LoweredCall LowerOnTopology(const Call& call, const CallKind& kind, const NetworkModel& network,
                            const TopologyLoads& loads) {
  LoweredCall lowered;
  lowered.algorithm = loads.algorithm;
  const auto size = static_cast<double>(call.full.count());
  const double fraction = kind.op == CollectiveOp::kAllToAll ? network.all_to_all_fraction : 1.0;
  for (std::size_t i = 0; i < loads.stages.size(); ++i) {
    const StageLoads& counted = loads.stages[i];
    LoweredStage stage;
    const auto load = [&](LinkId link, double part, double achieved) {
      if (part <= 0) return;
      const Bytes bytes = Bytes::Count(std::llround(part * size));
      stage.loads.push_back({link, bytes, part * size / achieved});
    };
    double most_in_node = 0;
    for (std::size_t arc = 0; arc < network.arcs.size(); ++arc) {
      load(network.arcs[arc], counted.arcs[arc], 1);
      most_in_node = std::max(most_in_node, counted.arcs[arc]);
    }
    const Steps steps = StepsOf(loads.schedule.stages[i], loads.schedule.shape);
    stage.latency = steps.in_node * network.gpu_latency;
    if (!counted.links.empty()) {
      const std::vector<ClassLoad> classes = ClassLoads(*network.topology->fabric, counted.links);
      for (std::size_t c = 0; c < classes.size(); ++c) {
        load(network.fabric_links[c], classes[c].busiest, fraction);
      }
      stage.latency += steps.across * AcrossLatency(network, classes);
    }
    stage.latency = call.launches * stage.latency;
    lowered.node_egress += Bytes::Count(std::llround(counted.out_of_node * size));
    lowered.in_node_per_gpu += Bytes::Count(std::llround(most_in_node * size));
    lowered.stages.push_back(std::move(stage));
  }
  return lowered;
}

}  // namespace zerosim
