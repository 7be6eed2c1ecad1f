// The default engine: every collective is one fluid on the classes of links.
//
// A stage of a collective is a SimGrid parallel task that puts its bytes on each link class in
// proportion; a kernel is a task on the GPU of its rank class. What runs at the same time shares
// links and GPUs max-min fairly. Latencies, launches and host time are delays. Cost: about 10 us of
// wall time an operation, whatever the number of GPUs.
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
