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
  if (step.network.has_pipeline()) {
    AddPhasesOfStages(step.program, timeline, report);
  } else {
    AddSinglePhases(step.program, timeline, report);
  }
}

}  // namespace zerosim
