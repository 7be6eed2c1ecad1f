// Counts what collectives put on every link by walking all messages of all ranks, as the message
// engine sends them: the independent route to the loads of sim/lowering.h.
#pragma once

#include <algorithm>
#include <vector>

#include "sim/collectives/plan.h"
#include "sim/network.h"

namespace zerosim {

// Bytes by link, a direction each. Blocks divided over channels need not be whole bytes.
struct Traffic {
  std::vector<double> gpu_out, gpu_in;    // by rank, inside of the node
  std::vector<double> nic_out, nic_in;    // by node * nics_per_node + nic
  std::vector<double> node_out, node_in;  // by node, between nodes
};

inline double BusiestOf(const std::vector<double>& bytes) {
  return *std::max_element(bytes.begin(), bytes.end());
}

inline double SumOf(const std::vector<double>& bytes) {
  double sum = 0;
  for (const double b : bytes) sum += b;
  return sum;
}

inline Traffic NoTraffic(const NetworkModel& network) {
  const int world = network.nodes * network.gpus_per_node;
  const int nics = network.nodes * network.nics_per_node;
  const std::vector<double> of_gpus(world, 0.0);
  const std::vector<double> of_nics(nics, 0.0);
  const std::vector<double> of_nodes(network.nodes, 0.0);
  return {of_gpus, of_gpus, of_nics, of_nics, of_nodes, of_nodes};
}

// A message between GPUs of one node, or out of it through those NICs of both nodes.
inline void AddMessage(int from, int to, int from_nic, int to_nic, double bytes,
                       const NetworkModel& network, Traffic* traffic) {
  const int gpus = network.gpus_per_node;
  const int nics = network.nics_per_node;
  if (to / gpus == from / gpus) {
    traffic->gpu_out[from] += bytes;
    traffic->gpu_in[to] += bytes;
    return;
  }
  traffic->nic_out[from / gpus * nics + from_nic] += bytes;
  traffic->nic_in[to / gpus * nics + to_nic] += bytes;
  traffic->node_out[from / gpus] += bytes;
  traffic->node_in[to / gpus] += bytes;
}

// The NIC that serves a rank's GPU.
inline int NicOfGpu(int rank, const NetworkModel& network) {
  return rank % network.gpus_per_node * network.nics_per_node / network.gpus_per_node;
}

// One stage of `plan` by all groups of the form `group`, of one stage of a pipeline.
inline Traffic Enumerate(const Plan& plan, const PlanStage& stage, const ProcessGroup& group,
                         const NetworkModel& network, int rank_class = 0) {
  const int gpus = network.gpus_per_node;
  const int world = network.nodes * gpus;
  Traffic traffic = NoTraffic(network);
  const double bytes = static_cast<double>(stage.block.count()) / stage.channels;
  const int span = group.size * group.stride;
  const int stride =
      network.has_pipeline() ? std::min(group.stride, network.pipeline.stride) : group.stride;
  for (int rank = 0; rank < world; ++rank) {
    if (network.stage_of(rank) != rank_class) continue;
    std::vector<int> nics;  // of its node, that serve GPUs of its stage
    for (int nic = 0; nic < network.nics_per_node; ++nic) {
      for (int other = rank / gpus * gpus; other < (rank / gpus + 1) * gpus; ++other) {
        if (network.stage_of(other) != rank_class || NicOfGpu(other, network) != nic) continue;
        nics.push_back(nic);
        break;
      }
    }
    const int first = rank / span * span + rank % group.stride;
    const int member = (rank - first) / group.stride;
    for (int round = 0; round < stage.rounds; ++round) {
      for (int channel = 0; channel < stage.channels; ++channel) {
        const int to = first + PeerOf(stage, plan.placement, member, round, channel) * group.stride;
        // A ring's channels have NICs of their own; other messages take that of their GPU.
        const bool by_channel = stage.pattern == Pattern::kRing && plan.placement.local > 1;
        const auto nic_of = [&](int r) {
          return by_channel ? nics[NicOfChannel(stage, plan.placement, r % stride, channel,
                                                static_cast<int>(nics.size()))]
                            : NicOfGpu(r, network);
        };
        AddMessage(rank, to, nic_of(rank), nic_of(to), bytes, network, &traffic);
      }
    }
  }
  return traffic;
}

// A message of `bytes` from every rank of one stage to the rank of equal place in another.
inline Traffic EnumerateSend(int from_class, int to_class, double bytes,
                             const NetworkModel& network) {
  Traffic traffic = NoTraffic(network);
  for (int rank = 0; rank < network.nodes * network.gpus_per_node; ++rank) {
    if (network.stage_of(rank) != from_class) continue;
    const int to = rank + (to_class - from_class) * network.pipeline.stride;
    AddMessage(rank, to, NicOfGpu(rank, network), NicOfGpu(to, network), bytes, network, &traffic);
  }
  return traffic;
}

}  // namespace zerosim
