// The step of a scenario over many steps with jitter.
#pragma once

#include <optional>

#include "models/scenario/scenario.h"
#include "sim/step_report.h"

namespace zerosim {

// Draws the steps (sim/step_jitter.h) and simulates those at the percentiles 5, 50, 95 and 99, and
// four more for the mean, each in a process of its own (predict.h): call it before this process
// simulates. Percentiles of the kernels are percentiles of the step, which grows with them; a
// percentile p of n steps is the step at place p n / 100, rounded up, in the order of their time.
// Nothing for a scenario without jitter.
std::optional<JitterReport> StepsWithJitter(const Scenario& scenario);

}  // namespace zerosim
