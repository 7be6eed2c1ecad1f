// What a collective puts on every link class of a cluster: the counted form of a plan.
//
// Counting needs no loop over ranks: in every round of a stage each node sends the same number of
// blocks out and every GPU the same number of bytes inside. tests/sim/lowering_test.cc counts the
// same by enumerating the messages of small clusters.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "models/core/ids.h"
#include "models/core/units.h"
#include "models/program/step_program.h"
#include "models/scenario/scenario.h"
#include "sim/collectives/plan.h"
#include "sim/network.h"

namespace zerosim {

// Bytes that the busiest link of a class carries in a stage, a direction. `occupied` is what an
// engine charges: more than `bytes` where a pattern achieves less than the link's rate.
struct LinkLoad {
  LinkId link;
  Bytes bytes;
  double occupied = 0;  // bytes
};

struct LoweredStage {
  Seconds latency;  // of all rounds
  std::vector<LinkLoad> loads;
};

struct LoweredCall {
  std::string algorithm;
  std::string protocol = "simple";  // of NCCL; empty for algorithms that are not its
  Seconds launch;                   // before the first stage
  std::vector<LoweredStage> stages;
  Bytes node_egress;      // out of one node, by all groups of the call
  Bytes in_node_per_gpu;  // that one GPU sends inside of its node, at most
  Seconds alone;          // on an idle network
  LinkId bottleneck;      // busiest link; -1 if the call moves nothing

  // Time that the busiest link needs for its bytes: no schedule is faster.
  Seconds bound;
};

// Of the ranks of `rank_class`; a send is between the classes of its kind.
LoweredCall Lower(const Call& call, const CallKind& kind, const NetworkModel& network,
                  CollectiveAlgorithm algorithm, int rank_class = 0);

// The schedule that both engines play, among the ranks of one stage. Neither a send nor a copy.
Plan PlanOf(const Call& call, const CallKind& kind, const NetworkModel& network,
            CollectiveAlgorithm algorithm);

inline bool IsCopy(CollectiveOp op) {
  return op == CollectiveOp::kCopyToHost || op == CollectiveOp::kCopyToGpu;
}
// The link that a copy takes.
inline LinkId LinkOfCopy(CollectiveOp op) {
  return op == CollectiveOp::kCopyToHost ? NetworkModel::kToHost : NetworkModel::kFromHost;
}

// Whether a collective's kernel takes its share of the GPU (NetworkModel::collective_share) from
// others. A message to another stage takes few of NCCL's blocks: none is counted. Copies to and
// from the host have no kernel.
inline bool TakesGpu(CollectiveOp op) {
  return op != CollectiveOp::kSend && !IsCopy(op);
}

// The calls of an operation, with how often it makes each.
template <typename F>
void ForEachCall(const Op& op, F f) {
  if (op.call.value >= 0) f(op.call, 1);
  for (const InlineCall& inside : op.inline_calls) f(inside.call, inside.count);
}

// What the collectives inside of a compute operation take.
inline Seconds TimeInside(const Op& op, const std::vector<LoweredCall>& calls) {
  Seconds sum;
  for (const InlineCall& inside : op.inline_calls) {
    sum += inside.count * calls[inside.call.value].alone;
  }
  return sum;
}

// Times of a call whose launch and stages are known: alone, bottleneck, bound.
void AddTimes(const NetworkModel& network, LoweredCall* lowered);

// All calls of a program, each distinct one lowered once: by its kind, size, launches and the class
// of its ranks.
using LowerOne = std::function<LoweredCall(const Call& call, int rank_class)>;
std::vector<LoweredCall> LowerEach(const StepProgram& program, const LowerOne& lower);

// All calls of a program. Calls of equal kind and size are lowered once.
std::vector<LoweredCall> LowerAll(const StepProgram& program, const NetworkModel& network,
                                  CollectiveAlgorithm algorithm);

// One share of a collective in the message engine: the latency of the steps of launches after the
// first (scales), which move few bytes.
Seconds ExtraLatency(const Call& call, const Plan& plan, const NetworkModel& network);

}  // namespace zerosim
