#include "sim/collectives/plan.h"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

namespace zerosim {
namespace {

Bytes Block(Bytes full, int parts) {
  return Bytes::Count(CeilDiv(full.count(), parts));
}

// Turns local places of a channel's ring so that each channel leaves the node from another GPU.
int ChannelOffset(const PlanStage& stage, const Placement& p, int channel) {
  return channel * p.local / stage.channels;
}

void AddRing(CollectiveOp op, Bytes full, const Placement& p, int nics_per_node, Plan* plan) {
  const int n = p.size();
  const int passes = op == CollectiveOp::kAllReduce ? 2 : 1;
  // More channels than local members would leave the node twice from one GPU.
  const int channels = p.nodes > 1 ? std::clamp(nics_per_node / p.groups_per_node, 1, p.local) : 1;
  plan->algorithm = "ring";
  const Pattern pattern = p.nodes == 1 ? Pattern::kRingInNode : Pattern::kRing;
  plan->stages.push_back({pattern, passes * (n - 1), Block(full, n), channels});
}

void AddHierarchicalRing(CollectiveOp op, Bytes full, const Placement& p, Plan* plan) {
  plan->algorithm = "hierarchical_ring";
  // A member's block of the whole, and the part of the vector that its node column holds.
  const PlanStage across{Pattern::kRingAcross, p.nodes - 1, Block(full, p.size()), 1};
  const PlanStage in_node{Pattern::kRingInNode, p.local - 1, Block(full, p.local), 1};
  if (op != CollectiveOp::kAllGather) plan->stages.push_back(in_node);
  plan->stages.push_back(across);
  if (op == CollectiveOp::kAllReduce) plan->stages.push_back(across);
  if (op != CollectiveOp::kReduceScatter) plan->stages.push_back(in_node);
}

void AddExchange(Bytes full, const Placement& p, Plan* plan) {
  plan->algorithm = "pairwise";
  const Bytes block = Block(full, p.size());
  if (p.local > 1) plan->stages.push_back({Pattern::kExchangeInNode, p.local - 1, block, 1});
  if (p.nodes > 1) {
    plan->stages.push_back({Pattern::kExchangeAcross, (p.nodes - 1) * p.local, block, 1});
  }
}

}  // namespace

Placement PlacementOf(const ProcessGroup& group, int gpus_per_node) {
  const int n = group.size;
  const int l = gpus_per_node;
  if (n < 1) throw std::invalid_argument(fmt::format("a group of {} ranks", n));
  if (!IsRegular(group, l)) {
    throw std::invalid_argument(
        fmt::format("a group of {} ranks {} apart does not fill nodes of {}", n, group.stride, l));
  }
  const NodeSplit split = SplitByNode(group, l);
  return {split.across.size, split.in_node.size, l / split.in_node.size};
}

Plan PlanCollective(CollectiveOp op, Bytes full, const Placement& placement,
                    CollectiveAlgorithm algorithm, int nics_per_node) {
  Plan plan;
  plan.placement = placement;
  plan.algorithm = "none";
  if (placement.size() == 1) return plan;
  if (op == CollectiveOp::kAllToAll) {
    AddExchange(full, placement, &plan);
  } else if (algorithm == CollectiveAlgorithm::kHierarchicalRing && placement.nodes > 1 &&
             placement.local > 1) {
    AddHierarchicalRing(op, full, placement, &plan);
  } else {
    AddRing(op, full, placement, nics_per_node, &plan);
  }
  return plan;
}

int PeerOf(const PlanStage& stage, const Placement& p, int i, int round, int channel) {
  const int node = i / p.local;
  const int local = i % p.local;
  switch (stage.pattern) {
    case Pattern::kRing: {
      // The channel's ring starts each node at `offset` and ends it one place before.
      const int offset = ChannelOffset(stage, p, channel);
      const int next = (local + 1) % p.local;
      const bool leaves = next == offset;
      return (leaves ? (node + 1) % p.nodes : node) * p.local + next;
    }
    case Pattern::kRingInNode:
      return node * p.local + (local + 1) % p.local;
    case Pattern::kRingAcross:
      return (node + 1) % p.nodes * p.local + local;
    case Pattern::kExchangeInNode:
      return node * p.local + (local + round + 1) % p.local;
    case Pattern::kExchangeAcross:
      return (node + 1 + round / p.local) % p.nodes * p.local + (local + round) % p.local;
  }
  return i;
}

int NicOfChannel(const PlanStage& stage, const Placement& p, int group, int channel,
                 int nics_per_node) {
  return (group * stage.channels + channel) * nics_per_node / (p.groups_per_node * stage.channels);
}

bool Crosses(const Placement& p, int from, int to) {
  return from / p.local != to / p.local;
}

}  // namespace zerosim
