#include "sim/memory_walk.h"

namespace zerosim {
namespace {

Bytes& At(MemoryByTerm& terms, MemoryTerm term) {
  return terms[static_cast<std::size_t>(term)];
}

}  // namespace

Bytes TotalOf(const MemoryByTerm& terms) {
  Bytes sum;
  for (const Bytes term : terms) sum += term;
  return sum;
}

MemoryWalk WalkMemory(const StepProgram& program, const StaticMemory& always, int rank_class) {
  MemoryByTerm now{};
  At(now, MemoryTerm::kParameters) = always.parameters;
  At(now, MemoryTerm::kGradients) = always.gradients;
  At(now, MemoryTerm::kOptimizer) = always.optimizer;
  At(now, MemoryTerm::kBuffers) = always.buffers;
  At(now, MemoryTerm::kContext) = always.context;

  MemoryWalk walk;
  walk.peak_terms = now;
  walk.peak = TotalOf(now);
  walk.peak_op = OpId{0};
  for (const MemoryEvent& event : program.memory) {
    if (event.rank_class != rank_class) continue;
    At(now, event.term) += event.delta;
    const Bytes total = TotalOf(now);
    walk.totals.push_back(total);
    if (total > walk.peak) {
      walk.peak = total;
      walk.peak_terms = now;
      walk.peak_op = event.op;
      walk.peak_next = event.next;
    }
  }
  walk.after_step = TotalOf(now) - always.context;
  return walk;
}

}  // namespace zerosim
