// Memory over a step: the program's events on top of what is always there.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "models/core/units.h"
#include "models/memory/memory.h"
#include "models/program/step_program.h"
#include "sim/timeline.h"

namespace zerosim {

inline constexpr std::size_t kNumMemoryTerms = 9;

// Bytes by term, indexed by MemoryTerm.
using MemoryByTerm = std::array<Bytes, kNumMemoryTerms>;

Bytes TotalOf(const MemoryByTerm& terms);

struct MemoryWalk {
  MemoryByTerm peak_terms{};
  Bytes peak;                 // context included
  OpId peak_op;               // of the host, at the event that reached it
  OpId peak_next;             // the operation that is written next; -1: the one after peak_op
  Bytes after_step;           // without context
  std::vector<Bytes> totals;  // after each of the class's StepProgram::memory
};

// Allocators work in the order of the host, so the walk needs no timeline. `always` is what the
// ranks of `rank_class` have.
MemoryWalk WalkMemory(const StepProgram& program, const StaticMemory& always, int rank_class = 0);

}  // namespace zerosim
