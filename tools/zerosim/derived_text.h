// What a scenario comes to before anything is simulated: `zerosim check`.
#pragma once

#include <string>

#include "models/scenario/scenario.h"

namespace zerosim {

// Ranks, parameters, strategy, groups, batch and memory, one indented line each.
std::string DerivedText(const Scenario& scenario);

}  // namespace zerosim
