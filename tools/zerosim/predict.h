// Predictions of many scenarios, each in a process of its own: SimGrid simulates once a process.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "models/core/units.h"
#include "models/scenario/scenario.h"

namespace zerosim {

struct Prediction {
  Seconds step;
  double tokens_per_s = 0;
  Bytes allocated;  // peak of the framework's allocator on one GPU: without the context
};

// Simulates every scenario with the fluid engine, `jobs` at a time. Calls `done` with the number of
// finished ones after each. Throws EnvironmentError if a process cannot be started or dies; what a
// simulation throws is on standard error then.
std::vector<Prediction> PredictAll(const std::vector<Scenario>& scenarios, int jobs,
                                   const std::function<void(std::size_t)>& done);

}  // namespace zerosim
