// The groups of a scenario's strategy.
#pragma once

#include "models/parallel/groups.h"
#include "models/scenario/scenario.h"

namespace zerosim {

// Throws std::invalid_argument as ProcessGroupsOf(data, ...) does.
ProcessGroups ProcessGroupsOf(const Scenario& scenario);

}  // namespace zerosim
