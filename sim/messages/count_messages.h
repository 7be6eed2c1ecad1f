// How much a program is for the message engine.
#pragma once

#include "models/program/step_program.h"
#include "models/scenario/scenario.h"
#include "sim/network.h"

namespace zerosim {

// Ranks of each stage of the pipeline; without one, all.
int RanksOfStage(const NetworkModel& network);

// Messages that all ranks send in a step.
double CountMessages(const StepProgram& program, const NetworkModel& network,
                     CollectiveAlgorithm algorithm);

}  // namespace zerosim
