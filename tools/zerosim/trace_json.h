// The timeline of a step in the format of Chrome's traces, which Perfetto and chrome://tracing
// open ("Trace Event Format", JSON object form: X, C and M events).
//
// A rank class is a process and each of its streams a thread. Links and memory are counters of
// further processes. Times are in microseconds with three decimals. The same input gives the same
// bytes.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "models/memory/memory.h"
#include "models/program/step_program.h"
#include "sim/simulate.h"
#include "sim/timeline.h"

namespace zerosim {

// Writes the trace piece by piece to `write`: a long program never stands in memory as text.
// Memory is that of the ranks of `memory_class`; `always` is what it holds beside the program's
// changes. Requires timeline.ops.size() ==
// program.ops.size(), else throws std::invalid_argument.
void WriteTrace(const StepProgram& program, const Timeline& timeline, const StaticMemory& always,
                const std::vector<UtilizationSeries>& links,
                const std::function<void(std::string_view)>& write, int memory_class = 0);

}  // namespace zerosim
