// What the nodes of a scenario that are not as the others cost.
#pragma once

#include <functional>
#include <optional>

#include "models/scenario/scenario.h"
#include "sim/step_report.h"

namespace zerosim {

// Simulates the scenario with those nodes sound, left out and, of several exceptions, sound by
// each; each in a process of its own (predict.h): call it before this process simulates. `on_nodes`
// reads the scenario anew with that number of nodes and no exceptions; it may throw ScenarioError.
// Nothing for a scenario without exceptions.
std::optional<ExceptionsReport> CostOfExceptions(
    const Scenario& scenario, const std::function<Scenario(int nodes)>& on_nodes);

}  // namespace zerosim
