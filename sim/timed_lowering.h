// Lowering by a collective's time in closed form (models/network/collective_timer.h), where the
// scenario lets NCCL choose or asks for the best algorithm.
//
// A collective is one stage: its latency, then its bytes on all links at once. Alone it takes the
// timer's time to the last digit. Beside others it shares links: each link that it loads is charged
// what the timer reckons there, scaled so that the busiest is busy for the whole transfer.
//
// Stages of a pipeline that share a node each have their part of its NICs. Sends between stages run
// at the rates that NCCL achieves. Not modelled: the message engine; parts of a collective whose
// stages follow one another, which here hold all their links until the last is over.
#pragma once

#include <vector>

#include "models/program/step_program.h"
#include "models/scenario/scenario.h"
#include "sim/lowering.h"
#include "sim/network.h"

namespace zerosim {

// The cluster with its links as data sheets have them: what the timer's rates are fractions of.
ClusterSpec WithoutLinkCalibration(ClusterSpec cluster);

// All calls of a program on `network`, which is NetworkOf(WithoutLinkCalibration(cluster)).
// Requires scenario.times_collectives(). Throws std::invalid_argument if NCCL has no algorithm left
// for a collective.
std::vector<LoweredCall> LowerAllTimed(const Scenario& scenario, const StepProgram& program,
                                       const NetworkModel& network);

}  // namespace zerosim
