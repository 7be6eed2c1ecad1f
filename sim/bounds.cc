#include "sim/bounds.h"

#include <limits>
#include <stdexcept>
#include <string>

#include <fmt/format.h>

namespace zerosim {
namespace {

// Operations of a step that is 1e7 s long end on a clock that counts in steps of 2e-9 s: a
// difference of two of its values may be off by some of them.
constexpr double kClockSteps = 16 * std::numeric_limits<double>::epsilon();

// `clock` is the latest value of the clock that `taken` comes from. `name` makes the name of what
// was timed, which is seldom needed.
template <typename Name>
void Require(Seconds taken, Seconds least, Seconds clock, Name name) {
  const double rounding = 1e-6 * least.seconds() + 1e-9 + kClockSteps * clock.seconds();
  if (taken.seconds() >= least.seconds() - rounding) return;
  throw std::logic_error(fmt::format("{} took {:.9g} s, less than the {:.9g} s that it needs",
                                     name(), taken.seconds(), least.seconds()));
}

// What of a stage's latency no engine can beat. The fluid engine charges every round of a ring over
// several nodes as one between nodes; in the message engine most are in a node, and where GPU links
// are the bottleneck the others hide behind them.
double LatencyNeeded(const NetworkModel& network, const Timeline& timeline) {
  if (timeline.engine != "message" || network.nic_latency <= network.gpu_latency) return 1;
  return Ratio(network.gpu_latency, network.nic_latency);
}

Seconds LeastTime(const Op& op, const std::vector<LoweredCall>& calls, double latency_needed) {
  if (op.kind != OpKind::kCollective) return op.time + TimeInside(op, calls);
  const LoweredCall& call = calls[op.call.value];
  Seconds least = op.time + call.launch;
  for (const LoweredStage& stage : call.stages) least += latency_needed * stage.latency;
  return least + call.bound;
}

}  // namespace

void CheckBounds(const StepProgram& program, const std::vector<LoweredCall>& calls,
                 const NetworkModel& network, const Timeline& timeline) {
  const double latency_needed = LatencyNeeded(network, timeline);
  Seconds compute;
  std::vector<Seconds> links(network.links.size());
  for (std::size_t i = 0; i < program.ops.size(); ++i) {
    const Op& op = program.ops[i];
    const OpId id{static_cast<int>(i)};
    const Interval& when = timeline.ops[i];
    for (const OpId dep : op.deps) {
      Require(when.end, timeline.ops[dep.value].end, when.end,
              [&] { return NameOf(program, id) + ", counted from the start,"; });
    }
    Require(when.end - when.start, LeastTime(op, calls, latency_needed), when.end,
            [&] { return NameOf(program, id); });
    if (op.kind == OpKind::kKernel && op.stream == Stream::kCompute) compute += op.time;
    ForEachCall(op, [&](CallId call, int count) {
      for (const LoweredStage& stage : calls[call.value].stages) {
        for (const LinkLoad& load : stage.loads) {
          links[load.link.value] += count * (load.bytes / network.links[load.link.value].capacity);
        }
      }
    });
  }
  // Rank classes compute beside each other.
  Require(timeline.end, (1.0 / static_cast<double>(program.rank_classes.size())) * compute,
          timeline.end, [] { return std::string("the step, by its compute,"); });
  for (std::size_t l = 0; l < links.size(); ++l) {
    Require(timeline.end, links[l], timeline.end,
            [&] { return "the step, by the bytes on a " + network.links[l].name + ","; });
  }
}

}  // namespace zerosim
