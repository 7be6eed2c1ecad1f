#include "sim/node_speeds.h"

#include <algorithm>
#include <limits>
#include <map>
#include <vector>

namespace zerosim {
namespace {

std::map<int, NodeSpeeds> SpeedsOfExceptions(const ClusterSpec& cluster) {
  std::map<int, NodeSpeeds> speeds;
  for (const NodeException& exception : cluster.exceptions) {
    for (const int node : exception.nodes) {
      speeds[node] = SpeedsOf(exception, cluster.fabric.nics_per_node);
    }
  }
  return speeds;
}

// By stage. Loops over the exceptions and not over the cluster.
std::vector<NodeSpeeds> SlowestOfStages(const NetworkModel& network) {
  const std::map<int, NodeSpeeds>& exceptions = network.exceptions;
  NodeSpeeds start;  // of the sound nodes, if there is one
  if (static_cast<int>(exceptions.size()) == network.nodes) {
    constexpr double any = std::numeric_limits<double>::infinity();
    start = {any, any, any};
  }
  std::vector<NodeSpeeds> slowest(static_cast<std::size_t>(std::max(1, network.pipeline.size)),
                                  start);
  for (const auto& [node, speeds] : exceptions) {
    for (int gpu = 0; gpu < network.gpus_per_node; ++gpu) {
      NodeSpeeds& of_stage = slowest[network.stage_of(node * network.gpus_per_node + gpu)];
      of_stage = Slower(of_stage, speeds);
    }
  }
  return slowest;
}

}  // namespace

void AddExceptions(const ClusterSpec& cluster, NetworkModel* network) {
  network->exceptions = SpeedsOfExceptions(cluster);
  network->slowest = SlowestOfStages(*network);
  const auto slow = [&](LinkId link, double speed) {
    LinkClass& links = network->links[link.value];
    links.capacity = speed * links.capacity;
  };
  if (network->topology != nullptr) {
    const NodeSpeeds& all = network->slowest.front();
    for (std::size_t arc = 0; arc < network->arcs.size(); ++arc) {
      const NodeLinkKind kind = network->topology->node.links[arc / 2].kind;
      if (kind == NodeLinkKind::kNvLink) slow(network->arcs[arc], all.gpu_link);
    }
    // Those of the NICs are the first of the fabric's (topology_lowering.cc).
    for (std::size_t i = 0; i < std::min<std::size_t>(2, network->fabric_links.size()); ++i) {
      slow(network->fabric_links[i], all.nic);
    }
    return;
  }
  const int stages = static_cast<int>(network->slowest.size());
  for (int stage = 0; stage < stages; ++stage) {
    const bool leads_nic = stage == 0 || network->nic_class(stage) != network->nic_class(stage - 1);
    NodeSpeeds least = network->slowest[stage];
    for (int other = stage + 1; other < stages; ++other) {  // that shares the NICs
      if (network->nic_class(other) != network->nic_class(stage)) break;
      least = Slower(least, network->slowest[other]);
    }
    for (const Direction direction : {Direction::kOut, Direction::kIn}) {
      if (!network->has_pipeline() && direction == Direction::kIn) continue;
      slow(network->LinkOf(NetworkModel::kGpuLink, stage, direction),
           network->slowest[stage].gpu_link);
      if (leads_nic) slow(network->LinkOf(NetworkModel::kNic, stage, direction), least.nic);
    }
  }
}

void SlowKernels(const NetworkModel& network, double kernel_time, StepProgram* program) {
  for (Op& op : program->ops) {
    if (op.kind != OpKind::kKernel) continue;
    op.time = kernel_time / network.slowest[op.rank_class].compute * op.time;
  }
}

}  // namespace zerosim
