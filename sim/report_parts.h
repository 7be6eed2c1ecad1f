// The parts of a report, each of which MakeReport adds; what the fields mean is in step_report.h.
#pragma once

#include <vector>

#include "models/program/step_program.h"
#include "models/scenario/scenario.h"
#include "sim/simulate.h"
#include "sim/step_report.h"
#include "sim/timeline.h"

namespace zerosim {

// 0 for what is only the rounding of the clock's values, to either side.
Seconds WithoutDust(Seconds time, Seconds clock);

// Whether the operation is a kernel of forward, backward or the optimizer, and not of a collective.
bool OnCompute(const Op& op);

// When such kernels of a rank class run: disjoint, in ascending order.
std::vector<Interval> ComputeIntervals(const StepProgram& program, const Timeline& timeline,
                                       int rank_class);

// Forward, backward and optimizer, the bubble of a pipeline, what keeps a GPU busy, and what
// collectives take from its kernels.
void AddPhases(const PreparedStep& step, const Timeline& timeline, StepReport* report);

// Collectives by kind, and their time and exposed time together.
void AddCollectives(const PreparedStep& step, const Timeline& timeline, StepReport* report);

// The peak, what it consists of, and whether GPUs and hosts hold it.
void AddMemory(const Scenario& scenario, const PreparedStep& step, const Timeline& timeline,
               StepReport* report);

// How often a weight and a gradient is quantised on its way, and the error to expect.
void AddQuantization(const Scenario& scenario, const PreparedStep& step, StepReport* report);

// What a reader should doubt. Needs memory and throughput to be there.
void AddWarnings(const Scenario& scenario, StepReport* report);

}  // namespace zerosim
