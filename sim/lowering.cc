#include "sim/lowering.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

namespace zerosim {
namespace {

// What one node sends in one round of a stage.
struct RoundCount {
  std::int64_t blocks_out = 0;  // blocks that leave the node, all groups together
  double nic_blocks = 0;        // blocks on the busiest NIC
  double gpu_blocks = 0;        // blocks that the busiest GPU sends inside
};

RoundCount CountRound(const PlanStage& stage, const Placement& p, const NetworkModel& network) {
  RoundCount count;
  const int nics = network.nics_per_node;
  const int leaving = stage.channels / p.local;  // channels that leave from every GPU, at least
  switch (stage.pattern) {
    case Pattern::kRing:
      // Each channel leaves the node once, through a NIC of its own; groups of one GPU a node share
      // the NICs as their GPUs do.
      count.blocks_out = p.groups_per_node;
      count.nic_blocks = static_cast<double>(CeilDiv(p.groups_per_node, nics)) / stage.channels;
      // Channels leave from the GPUs in turn. One that a channel leaves from sends that part
      // through its NIC instead.
      count.gpu_blocks =
          stage.channels < p.local ? 1.0 : 1.0 - static_cast<double>(leaving) / stage.channels;
      break;
    case Pattern::kRingInNode:
    case Pattern::kExchangeInNode:
      count.gpu_blocks = 1;
      break;
    case Pattern::kRingAcross:
    case Pattern::kExchangeAcross: {
      const int senders = p.local * p.groups_per_node;
      count.blocks_out = senders;
      count.nic_blocks = static_cast<double>(CeilDiv(senders, nics));
      break;
    }
  }
  return count;
}

bool IsExchange(const PlanStage& stage) {
  return stage.pattern == Pattern::kExchangeAcross;
}

Bytes Scaled(Bytes size, double factor) {
  return Bytes::Count(std::llround(static_cast<double>(size.count()) * factor));
}

Seconds RoundLatency(const PlanStage& stage, const NetworkModel& network) {
  const bool leaves =
      stage.pattern != Pattern::kRingInNode && stage.pattern != Pattern::kExchangeInNode;
  return leaves ? network.nic_latency : network.gpu_latency;
}

LoweredStage LowerStage(const PlanStage& stage, const Placement& placement,
                        const NetworkModel& network, LoweredCall* call) {
  const RoundCount count = CountRound(stage, placement, network);
  LoweredStage lowered;
  lowered.latency = stage.rounds * RoundLatency(stage, network);
  const Bytes sent = stage.rounds * stage.block;
  const auto add = [&](LinkId link, Bytes bytes, double fraction) {
    if (bytes == Bytes()) return;
    lowered.loads.push_back({link, bytes, static_cast<double>(bytes.count()) / fraction});
  };
  const double fraction = IsExchange(stage) ? network.all_to_all_fraction : 1.0;
  add(NetworkModel::kGpuLink, Scaled(sent, count.gpu_blocks), 1.0);
  add(NetworkModel::kNic, Scaled(sent, count.nic_blocks), fraction);
  const Bytes out = count.blocks_out * sent;
  add(NetworkModel::kFabric, out, fraction);
  call->node_egress += out;
  call->in_node_per_gpu += Scaled(sent, count.gpu_blocks);
  return lowered;
}

}  // namespace

LoweredCall Lower(const Call& call, const CallKind& kind, const NetworkModel& network,
                  CollectiveAlgorithm algorithm) {
  const Placement placement = PlacementOf(kind.group, network.gpus_per_node);
  const Plan plan = PlanCollective(kind.op, call.full, placement, algorithm, network.nics_per_node);
  LoweredCall lowered;
  lowered.algorithm = plan.algorithm;
  if (plan.stages.empty()) return lowered;
  lowered.launch = call.launches * network.launch;
  lowered.alone = lowered.launch;
  double busiest = 0;
  for (const PlanStage& stage : plan.stages) {
    LoweredStage s = LowerStage(stage, placement, network, &lowered);
    s.latency = call.launches * s.latency;
    Seconds transfer;
    for (const LinkLoad& load : s.loads) {
      const double rate = network.links[load.link.value].capacity.bytes_per_second();
      const Seconds time = Seconds::Count(load.occupied / rate);
      transfer = std::max(transfer, time);
      if (time.seconds() > busiest) {
        busiest = time.seconds();
        lowered.bottleneck = load.link;
      }
      lowered.bound = std::max(lowered.bound, load.bytes / network.links[load.link.value].capacity);
    }
    lowered.alone += s.latency + transfer;
    lowered.stages.push_back(std::move(s));
  }
  return lowered;
}

std::vector<LoweredCall> LowerAll(const StepProgram& program, const NetworkModel& network,
                                  CollectiveAlgorithm algorithm) {
  using Key = std::tuple<int, std::int64_t, int>;
  std::map<Key, LoweredCall> known;
  std::vector<LoweredCall> lowered;
  lowered.reserve(program.calls.size());
  for (const Call& call : program.calls) {
    const Key key{call.kind, call.full.count(), call.launches};
    auto found = known.find(key);
    if (found == known.end()) {
      found = known.emplace(key, Lower(call, program.kinds[call.kind], network, algorithm)).first;
    }
    lowered.push_back(found->second);
  }
  return lowered;
}

Seconds ExtraLatency(const Call& call, const Plan& plan, const NetworkModel& network) {
  Seconds latency;
  for (const PlanStage& stage : plan.stages) {
    latency += stage.rounds * RoundLatency(stage, network);
  }
  return (call.launches - 1) * latency;
}

}  // namespace zerosim
