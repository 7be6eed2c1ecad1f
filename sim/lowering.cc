#include "sim/lowering.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <tuple>

#include "sim/topology_lowering.h"

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
  const int nics = network.nics_per_stage();
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

// Puts bytes on links of one kind, of a stage's ranks.
class Loader {
 public:
  Loader(const NetworkModel& network, double fraction, LoweredStage* lowered)
      : network_(network), fraction_(fraction), lowered_(lowered) {}

  void Add(LinkId kind, int rank_class, Direction direction, Bytes bytes) {
    if (bytes == Bytes()) return;
    const double fraction = kind == NetworkModel::kGpuLink ? 1 : fraction_;
    lowered_->loads.push_back({network_.LinkOf(kind, rank_class, direction), bytes,
                               static_cast<double>(bytes.count()) / fraction});
  }
  // What goes out of the ranks comes in to them.
  void AddBoth(LinkId kind, int rank_class, Bytes bytes) {
    Add(kind, rank_class, Direction::kOut, bytes);
    if (network_.has_pipeline()) Add(kind, rank_class, Direction::kIn, bytes);
  }

 private:
  const NetworkModel& network_;
  double fraction_;
  LoweredStage* lowered_;
};

LoweredStage LowerStage(const PlanStage& stage, const Placement& placement,
                        const NetworkModel& network, int rank_class, LoweredCall* call) {
  const RoundCount count = CountRound(stage, placement, network);
  LoweredStage lowered;
  lowered.latency = stage.rounds * RoundLatency(stage, network);
  const Bytes sent = stage.rounds * stage.block;
  Loader loader(network, IsExchange(stage) ? network.all_to_all_fraction : 1.0, &lowered);
  loader.AddBoth(NetworkModel::kGpuLink, rank_class, Scaled(sent, count.gpu_blocks));
  loader.AddBoth(NetworkModel::kNic, rank_class, Scaled(sent, count.nic_blocks));
  const Bytes out = count.blocks_out * sent;
  loader.AddBoth(NetworkModel::kFabric, rank_class, out);
  call->node_egress += out;
  call->in_node_per_gpu += Scaled(sent, count.gpu_blocks);
  return lowered;
}

// One message from every rank of a stage to the rank of equal place in another.
LoweredCall LowerSend(const Call& call, const CallKind& kind, const NetworkModel& network) {
  LoweredCall lowered;
  lowered.algorithm = "send";
  lowered.launch = call.launches * network.launch;
  LoweredStage stage;
  Loader loader(network, 1.0, &stage);
  const int apart = (kind.to_class - kind.from_class) * network.pipeline.stride;
  const bool leaves = std::abs(apart) >= network.gpus_per_node ||
                      network.node_class(kind.from_class) != network.node_class(kind.to_class);
  if (leaves) {
    // Ranks of the stage in one node.
    const int senders = std::min(network.pipeline.stride, network.gpus_per_node);
    const Bytes nic = CeilDiv(senders, network.nics_per_stage()) * call.full;
    const Bytes node = senders * call.full;
    loader.Add(NetworkModel::kNic, kind.from_class, Direction::kOut, nic);
    loader.Add(NetworkModel::kNic, kind.to_class, Direction::kIn, nic);
    loader.Add(NetworkModel::kFabric, kind.from_class, Direction::kOut, node);
    loader.Add(NetworkModel::kFabric, kind.to_class, Direction::kIn, node);
    lowered.node_egress = node;
    stage.latency = network.nic_latency;
  } else {
    loader.Add(NetworkModel::kGpuLink, kind.from_class, Direction::kOut, call.full);
    loader.Add(NetworkModel::kGpuLink, kind.to_class, Direction::kIn, call.full);
    lowered.in_node_per_gpu = call.full;
    stage.latency = network.gpu_latency;
  }
  stage.latency = call.launches * stage.latency;
  lowered.stages.push_back(std::move(stage));
  return lowered;
}

// What a copy achieves without a pinned buffer, of what it does with one: the driver first copies
// through a pinned buffer of its own. Assumed, from NVIDIA's "How to Optimize Data Transfers in
// CUDA C/C++", where pageable copies run at 0.4 to 0.5 of the pinned ones.
constexpr double kPageableFraction = 0.5;

// Every GPU copies over its own link.
LoweredCall LowerCopy(const Call& call, const CallKind& kind, const NetworkModel& network,
                      int rank_class) {
  LoweredCall lowered;
  lowered.algorithm = "copy";
  lowered.launch = call.launches * network.copy_launch;
  LoweredStage stage;
  Loader loader(network, call.pageable ? kPageableFraction : 1.0, &stage);
  loader.Add(LinkOfCopy(kind.op), rank_class, Direction::kOut, call.full);
  lowered.stages.push_back(std::move(stage));
  return lowered;
}

LoweredCall WithTopology(const Call& call, const CallKind& kind, const NetworkModel& network,
                         const TopologyLoads& loads) {
  LoweredCall lowered = LowerOnTopology(call, kind, network, loads);
  if (lowered.stages.empty()) return lowered;
  lowered.launch = call.launches * network.launch;
  AddTimes(network, &lowered);
  return lowered;
}

}  // namespace

void AddTimes(const NetworkModel& network, LoweredCall* lowered) {
  lowered->alone = lowered->launch;
  lowered->bound = Seconds();
  double busiest = 0;
  for (const LoweredStage& stage : lowered->stages) {
    Seconds transfer;
    for (const LinkLoad& load : stage.loads) {
      const double rate = network.links[load.link.value].capacity.bytes_per_second();
      const Seconds time = Seconds::Count(load.occupied / rate);
      transfer = std::max(transfer, time);
      if (time.seconds() > busiest) {
        busiest = time.seconds();
        lowered->bottleneck = load.link;
      }
      lowered->bound =
          std::max(lowered->bound, load.bytes / network.links[load.link.value].capacity);
    }
    lowered->alone += stage.latency + transfer;
  }
}

LoweredCall Lower(const Call& call, const CallKind& kind, const NetworkModel& network,
                  CollectiveAlgorithm algorithm, int rank_class) {
  if (network.topology != nullptr && !IsCopy(kind.op)) {
    return WithTopology(call, kind, network, LoadsOfKind(kind, network, algorithm));
  }
  if (kind.op == CollectiveOp::kSend) {
    LoweredCall lowered = LowerSend(call, kind, network);
    AddTimes(network, &lowered);
    return lowered;
  }
  if (IsCopy(kind.op)) {
    LoweredCall lowered = LowerCopy(call, kind, network, rank_class);
    AddTimes(network, &lowered);
    return lowered;
  }
  const Plan plan = PlanOf(call, kind, network, algorithm);
  LoweredCall lowered;
  lowered.algorithm = plan.algorithm;
  if (plan.stages.empty()) return lowered;
  lowered.launch = call.launches * network.launch;
  for (const PlanStage& stage : plan.stages) {
    LoweredStage s = LowerStage(stage, plan.placement, network, rank_class, &lowered);
    s.latency = call.launches * s.latency;
    lowered.stages.push_back(std::move(s));
  }
  AddTimes(network, &lowered);
  return lowered;
}

Plan PlanOf(const Call& call, const CallKind& kind, const NetworkModel& network,
            CollectiveAlgorithm algorithm) {
  Placement placement = PlacementOf(kind.group, network.gpus_per_node);
  // Stages that share a node communicate at their own times.
  placement.groups_per_node = std::max(1, placement.groups_per_node / network.stages_per_node());
  return PlanCollective(kind.op, call.full, placement, algorithm, network.nics_per_stage());
}

std::vector<LoweredCall> LowerEach(const StepProgram& program, const LowerOne& lower) {
  std::vector<int> class_of(program.calls.size(), 0);
  for (const Op& op : program.ops) {
    if (op.call.value >= 0) class_of[op.call.value] = op.rank_class;
    for (const InlineCall& call : op.inline_calls) class_of[call.call.value] = op.rank_class;
  }
  using Key = std::tuple<int, std::int64_t, int, int, bool>;
  std::map<Key, LoweredCall> known;
  std::vector<LoweredCall> lowered;
  lowered.reserve(program.calls.size());
  for (std::size_t i = 0; i < program.calls.size(); ++i) {
    const Call& call = program.calls[i];
    const Key key{call.kind, call.full.count(), call.launches, class_of[i], call.pageable};
    auto found = known.find(key);
    if (found == known.end()) found = known.emplace(key, lower(call, class_of[i])).first;
    lowered.push_back(found->second);
  }
  return lowered;
}

std::vector<LoweredCall> LowerAll(const StepProgram& program, const NetworkModel& network,
                                  CollectiveAlgorithm algorithm) {
  std::map<int, TopologyLoads> loads;  // by kind
  return LowerEach(program, [&](const Call& call, int rank_class) {
    const CallKind& kind = program.kinds[call.kind];
    if (network.topology == nullptr || IsCopy(kind.op)) {
      return Lower(call, kind, network, algorithm, rank_class);
    }
    auto counted = loads.find(call.kind);
    if (counted == loads.end()) {
      counted = loads.emplace(call.kind, LoadsOfKind(kind, network, algorithm)).first;
    }
    return WithTopology(call, kind, network, counted->second);
  });
}

Seconds ExtraLatency(const Call& call, const Plan& plan, const NetworkModel& network) {
  Seconds latency;
  for (const PlanStage& stage : plan.stages) {
    latency += stage.rounds * RoundLatency(stage, network);
  }
  return (call.launches - 1) * latency;
}

}  // namespace zerosim
