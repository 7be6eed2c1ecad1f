// Builds the program of one optimizer step from a scenario, by DeepSpeed's rules.
#pragma once

#include "models/program/step_program.h"
#include "models/scenario/scenario.h"
#include "models/transformer/transformer.h"

namespace zerosim {

// The step of `scenario`. `layout` is that of one rank's part of the model: Layout(RankModel(...)).
// Throws std::invalid_argument if the scenario breaks a rule that read_scenario.h checks.
StepProgram BuildProgram(const Scenario& scenario, const ModelLayout& layout);

}  // namespace zerosim
