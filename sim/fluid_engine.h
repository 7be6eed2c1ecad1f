// The default engine: every collective is one fluid on the classes of links.
//
// A stage of a collective puts its bytes on each link class in proportion; a kernel runs on the GPU
// of its rank class. What runs at the same time shares links and GPUs max-min fairly: SimGrid's
// parallel tasks where it meets, timers where it does not (fluid_platform.h). Latencies, launches
// and host time are delays. Cost: about 1 us of wall time an operation that meets no other and 10
// us one that does, whatever the number of GPUs.
//
// While a collective runs on a GPU its kernels run at 1 - GpuSpec::collective_share of their rate,
// which stands for the SMs and the memory bandwidth that a NCCL kernel takes.
#pragma once

#include <vector>

#include "models/program/step_program.h"
#include "sim/lowering.h"
#include "sim/network.h"
#include "sim/timeline.h"

namespace zerosim {

// Plays `program`, whose calls are lowered as `calls`. Once a process (simgrid_session.h).
Timeline RunFluid(const StepProgram& program, const std::vector<LoweredCall>& calls,
                  const NetworkModel& network);

// Link classes that can limit a call: those whose load, in time, is not dominated by another
// class's in every stage. Dropping the others changes no result.
std::vector<LinkId> NeededLinks(const std::vector<LoweredCall>& calls, const NetworkModel& network);

}  // namespace zerosim
