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

// One stage of `plan` by all groups of the form `group`.
inline Traffic Enumerate(const Plan& plan, const PlanStage& stage, const ProcessGroup& group,
                         const NetworkModel& network) {
  const int gpus = network.gpus_per_node;
  const int nics = network.nics_per_node;
  const int world = network.nodes * gpus;
  Traffic traffic;
  traffic.gpu_out.resize(world);
  traffic.gpu_in.resize(world);
  const int all_nics = network.nodes * nics;
  traffic.nic_out.resize(all_nics);
  traffic.nic_in.resize(all_nics);
  traffic.node_out.resize(network.nodes);
  traffic.node_in.resize(network.nodes);
  const double bytes = static_cast<double>(stage.block.count()) / stage.channels;
  const int span = group.size * group.stride;
  for (int rank = 0; rank < world; ++rank) {
    const int first = rank / span * span + rank % group.stride;
    const int member = (rank - first) / group.stride;
    for (int round = 0; round < stage.rounds; ++round) {
      for (int channel = 0; channel < stage.channels; ++channel) {
        const int to = first + PeerOf(stage, plan.placement, member, round, channel) * group.stride;
        if (to / gpus == rank / gpus) {
          traffic.gpu_out[rank] += bytes;
          traffic.gpu_in[to] += bytes;
          continue;
        }
        // A ring's channels have NICs of their own; other messages take that of their GPU.
        const bool by_channel = stage.pattern == Pattern::kRing && plan.placement.local > 1;
        const auto nic_of = [&](int r) {
          const int nic = by_channel
                              ? NicOfChannel(stage, plan.placement, r % group.stride, channel, nics)
                              : r % gpus * nics / gpus;
          return r / gpus * nics + nic;
        };
        traffic.nic_out[nic_of(rank)] += bytes;
        traffic.nic_in[nic_of(to)] += bytes;
        traffic.node_out[rank / gpus] += bytes;
        traffic.node_in[to / gpus] += bytes;
      }
    }
  }
  return traffic;
}

}  // namespace zerosim
