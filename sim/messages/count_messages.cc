#include "sim/messages/count_messages.h"

#include "sim/collectives/plan.h"
#include "sim/lowering.h"

namespace zerosim {

int RanksOfStage(const NetworkModel& network) {
  return network.nodes * network.gpus_per_node /
         (network.has_pipeline() ? network.pipeline.size : 1);
}

// Every rank of a stage sends one message a round and channel.
double CountMessages(const StepProgram& program, const NetworkModel& network,
                     CollectiveAlgorithm algorithm) {
  double messages = 0;
  const auto count = [&](CallId id, int calls) {
    const Call& call = program.calls[id.value];
    const CallKind& kind = program.kinds[call.kind];
    if (IsCopy(kind.op) || kind.op == CollectiveOp::kSend) {
      messages += 1.0 * calls * RanksOfStage(network);
      return;
    }
    for (const PlanStage& stage : PlanOf(call, kind, network, algorithm).stages) {
      messages += 1.0 * calls * stage.rounds * stage.channels * RanksOfStage(network);
    }
  };
  for (const Op& op : program.ops) ForEachCall(op, count);
  return messages;
}

}  // namespace zerosim
