#include "sim/critical_path.h"

#include <algorithm>

namespace zerosim {
namespace {

// `length` of a call, after `lead` of its own work.
void AddCollective(CallId id, Seconds lead, const StepProgram& program,
                   const std::vector<LoweredCall>& calls, Seconds length, CriticalPath* path) {
  const LoweredCall& call = calls[id.value];
  const CallKind& kind = program.kinds[program.calls[id.value].kind];
  // In the order in which they happen, so that a piece cut short loses its transfer last.
  const auto take = [&length](Seconds part) {
    const Seconds taken = std::min(part, length);
    length -= taken;
    return taken;
  };
  path->quantization += take(lead);
  path->launch += take(call.launch);
  for (const LoweredStage& stage : call.stages) {
    const bool leaves = std::any_of(stage.loads.begin(), stage.loads.end(), [](const LinkLoad& l) {
      return NetworkModel::KindOf(l.link) == NetworkModel::kNic;
    });
    (leaves ? path->nic_latency : path->gpu_latency) += take(stage.latency);
  }
  if (call.bottleneck.value < 0) return;
  const LinkId bottleneck = NetworkModel::KindOf(call.bottleneck);
  path->links[bottleneck.value] += length;
  if (kind.op == CollectiveOp::kAllToAll && bottleneck != NetworkModel::kGpuLink) {
    path->all_to_all += length;
  }
}

// Time of the collectives inside of a compute operation.
Seconds AddInline(const Op& op, const StepProgram& program, const std::vector<LoweredCall>& calls,
                  CriticalPath* path) {
  Seconds sum;
  for (const InlineCall& inside : op.inline_calls) {
    const Seconds alone = calls[inside.call.value].alone;
    for (int i = 0; i < inside.count; ++i) {
      AddCollective(inside.call, Seconds(), program, calls, alone, path);
    }
    sum += inside.count * alone;
  }
  return sum;
}

bool IsQuantization(Action action) {
  return action == Action::kQuantize || action == Action::kDequantize ||
         action == Action::kRequantize || action == Action::kAccumulate ||
         action == Action::kReduce;
}

}  // namespace

Seconds CriticalPath::total() const {
  Seconds sum = compute + quantization + host + host_optimizer + launch + gpu_latency + nic_latency;
  for (const Seconds link : links) sum += link;
  return sum;
}

CriticalPath CriticalPathOf(const StepProgram& program, const std::vector<LoweredCall>& calls,
                            const Timeline& timeline) {
  CriticalPath path;
  path.links.resize(NetworkModel::kNumKinds);
  if (program.ops.empty()) return path;
  const auto last =
      std::max_element(timeline.ops.begin(), timeline.ops.end(),
                       [](const Interval& a, const Interval& b) { return a.end < b.end; });
  int at = static_cast<int>(last - timeline.ops.begin());
  while (at >= 0) {
    const Op& op = program.ops[at];
    int before = -1;
    Seconds begin;
    for (const OpId dep : op.deps) {
      if (before < 0 || timeline.ops[dep.value].end > begin) {
        before = dep.value;
        begin = timeline.ops[dep.value].end;
      }
    }
    const Seconds length = timeline.ops[at].end - begin;
    switch (op.kind) {
      case OpKind::kHost:
        (op.action == Action::kOptimizer ? path.host_optimizer : path.host) += length;
        break;
      case OpKind::kKernel:
        (IsQuantization(op.action) ? path.quantization : path.compute) +=
            length - AddInline(op, program, calls, &path);
        break;
      case OpKind::kCollective:
        AddCollective(op.call, op.time, program, calls, length, &path);
        break;
    }
    at = before;
  }
  return path;
}

}  // namespace zerosim
