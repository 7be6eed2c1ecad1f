// What the step's time is made of: the chain of operations each of which made the next one wait.
//
// Walking back from the last operation, each is entered through the dependency that ended last, so
// the pieces add up to the step time. Their sums by cause say what limits the step, and to first
// order how the step time answers to a change of one parameter; a change large enough to move the
// path to other operations is not seen.
#pragma once

#include <vector>

#include "models/core/units.h"
#include "models/program/step_program.h"
#include "sim/lowering.h"
#include "sim/network.h"
#include "sim/timeline.h"

namespace zerosim {

// Seconds of the critical path by cause.
struct CriticalPath {
  Seconds compute;             // kernels of the model and the optimizer
  Seconds quantization;        // quantise, dequantise and copy kernels
  Seconds host;                // launches and hooks
  Seconds host_optimizer;      // the optimizer on the CPU
  Seconds launch;              // fixed cost of collective calls
  Seconds gpu_latency;         // steps of collectives in the node
  Seconds nic_latency;         // steps between nodes
  std::vector<Seconds> links;  // transfers, by the link that bounds them (LinkId)
  Seconds all_to_all;          // part of links[kNic] that all-to-alls take

  Seconds total() const;
};

CriticalPath CriticalPathOf(const StepProgram& program, const std::vector<LoweredCall>& calls,
                            const Timeline& timeline);

}  // namespace zerosim
