// What no schedule can beat: a timeline that does is a fault of an engine, never a result.
#pragma once

#include <vector>

#include "models/program/step_program.h"
#include "sim/lowering.h"
#include "sim/network.h"
#include "sim/timeline.h"

namespace zerosim {

// Throws std::logic_error that names the bound and both times if
//   an operation ended before its dependencies or before its own time had passed,
//   a collective was faster than its latency and its busiest link's bytes allow,
//   the compute stream's kernels, or a link's bytes, took more than the whole step.
// Times may be short by a relative 1e-6 and an absolute 1 ns, for rounding, and by
// some steps of the clock, which is a double.
void CheckBounds(const StepProgram& program, const std::vector<LoweredCall>& calls,
                 const NetworkModel& network, const Timeline& timeline);

}  // namespace zerosim
