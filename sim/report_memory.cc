#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "sim/report_parts.h"

namespace zerosim {
namespace {

// An event belongs to what the host launches next, not to the launching.
std::string LaunchedAtPeak(const StepProgram& program, const MemoryWalk& walk) {
  int at = walk.peak_next.value >= 0 ? walk.peak_next.value : walk.peak_op.value + 1;
  const int last = static_cast<int>(program.ops.size()) - 1;
  while (at < last && program.ops[at].kind == OpKind::kHost) ++at;
  return zerosim::NameOf(program, OpId{std::min(at, last)});
}

}  // namespace

void AddMemory(const Scenario& scenario, const PreparedStep& step, const Timeline& timeline,
               StepReport* report) {
  const MemoryWalk& walk = step.memory;
  const auto term = [&](MemoryTerm t) { return walk.peak_terms[static_cast<std::size_t>(t)]; };
  MemoryReport& memory = report->memory;
  memory.peak = walk.peak;
  memory.after_step = walk.after_step;
  memory.capacity = scenario.cluster.node.gpu.memory;
  memory.fits = memory.peak <= memory.capacity;
  memory.host_per_node = scenario.cluster.node.gpus * step.always.host;
  memory.host_capacity = scenario.cluster.node.host_memory;
  memory.host_fits =
      memory.host_capacity == Bytes() || memory.host_per_node <= memory.host_capacity;
  memory.peak_at = fmt::format("{}, {:.3f} s", LaunchedAtPeak(step.program, walk),
                               timeline.ops[walk.peak_op.value].end.seconds());
  memory.terms = {term(MemoryTerm::kParameters),     term(MemoryTerm::kGradients),
                  term(MemoryTerm::kOptimizer),      term(MemoryTerm::kSecondaryShard),
                  term(MemoryTerm::kLiveParameters), term(MemoryTerm::kBuffers),
                  term(MemoryTerm::kActivations),    term(MemoryTerm::kLogits),
                  term(MemoryTerm::kContext)};
}

}  // namespace zerosim
