#include <algorithm>
#include <map>
#include <utility>

#include "sim/intervals.h"
#include "sim/report_parts.h"

namespace zerosim {
namespace {

void AddBusy(const StepProgram& program, StepReport* report) {
  const double part = 1.0 / static_cast<double>(program.rank_classes.size());
  for (const Op& op : program.ops) {
    if (OnCompute(op)) {
      report->compute += part * op.time;
    } else if (op.kind != OpKind::kHost) {
      report->quantization += part * op.time;
    }
  }
}

// While a collective's kernel and others run on a GPU, the others run at 1 - collective_share of
// their rate: they lose that share of the time, however many they are. The mean over the stages.
void AddKernelSlowdown(const PreparedStep& step, const Timeline& timeline, StepReport* report) {
  const StepProgram& program = step.program;
  const int stages = static_cast<int>(program.rank_classes.size());
  for (int stage = 0; stage < stages; ++stage) {
    std::vector<Interval> kernels;
    std::vector<Interval> collectives;
    for (std::size_t i = 0; i < program.ops.size(); ++i) {
      const Op& op = program.ops[i];
      if (op.rank_class != stage) continue;
      const Interval& when = timeline.ops[i];
      if (op.kind == OpKind::kKernel) {
        kernels.push_back(when);
      } else if (op.kind == OpKind::kCollective &&
                 TakesGpu(program.kinds[program.calls[op.call.value].kind].op)) {
        // Its kernel enters the GPU when its own work and its launch are done.
        const Seconds lead = op.time + step.calls[op.call.value].launch;
        collectives.push_back({when.start + lead, when.end});
      }
    }
    kernels = UnionOf(std::move(kernels));
    const Seconds beside =
        LengthOf(kernels) - LengthOutside(kernels, UnionOf(std::move(collectives)));
    report->kernel_slowdown += step.network.collective_share / stages * beside;
  }
  report->kernel_slowdown = WithoutDust(report->kernel_slowdown, timeline.end);
}

// Forward, backward and optimizer follow each other: the host waits where one ends.
void AddSinglePhases(const StepProgram& program, const Timeline& timeline, StepReport* report) {
  std::map<std::pair<int, Phase>, Seconds> ends;
  for (std::size_t i = 0; i < program.ops.size(); ++i) {
    Seconds& end = ends[{program.ops[i].micro_step, program.ops[i].phase}];
    end = std::max(end, timeline.ops[i].end);
  }
  Seconds before;
  for (const auto& [key, end] : ends) {
    Seconds& phase = key.second == Phase::kForward    ? report->forward
                     : key.second == Phase::kBackward ? report->backward
                                                      : report->optimizer;
    phase += end - before;
    before = end;
  }
}

// Passes of different micro-batches interleave in a pipeline: of each stage the time in forward, in
// backward and between them until the last pass of all stages (the bubble); their means.
void AddPhasesOfStages(const StepProgram& program, const Timeline& timeline, StepReport* report) {
  const double part = 1.0 / static_cast<double>(program.rank_classes.size());
  Seconds last;
  for (std::size_t i = 0; i < program.ops.size(); ++i) {
    const Op& op = program.ops[i];
    if (!OnCompute(op) || op.phase == Phase::kOptimizer) continue;
    const Seconds length = timeline.ops[i].end - timeline.ops[i].start;
    (op.phase == Phase::kForward ? report->forward : report->backward) += part * length;
    last = std::max(last, timeline.ops[i].end);
  }
  report->bubble = last - report->forward - report->backward;
  report->optimizer = timeline.end - last;
}

}  // namespace

Seconds WithoutDust(Seconds time, Seconds clock) {
  return time.seconds() > 1e-12 * clock.seconds() ? time : Seconds();
}

bool OnCompute(const Op& op) {
  return op.kind == OpKind::kKernel && op.stream == Stream::kCompute;
}

std::vector<Interval> ComputeIntervals(const StepProgram& program, const Timeline& timeline,
                                       int rank_class) {
  std::vector<Interval> busy;
  for (std::size_t i = 0; i < program.ops.size(); ++i) {
    const Op& op = program.ops[i];
    if (OnCompute(op) && op.rank_class == rank_class) busy.push_back(timeline.ops[i]);
  }
  return UnionOf(std::move(busy));
}

void AddPhases(const PreparedStep& step, const Timeline& timeline, StepReport* report) {
  AddBusy(step.program, report);
  AddKernelSlowdown(step, timeline, report);
  if (step.network.has_pipeline()) {
    AddPhasesOfStages(step.program, timeline, report);
  } else {
    AddSinglePhases(step.program, timeline, report);
  }
}

}  // namespace zerosim
