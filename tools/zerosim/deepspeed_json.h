// A scenario's strategy as a DeepSpeed configuration (ds_config.json).
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "models/scenario/scenario.h"

namespace zerosim {

struct DeepSpeedExport {
  nlohmann::ordered_json config;
  // What the scenario says that no key of DeepSpeed does, one sentence each.
  std::vector<std::string> left_out;
};

// The keys whose import (models/frameworks/deepspeed_config.h) gives the scenario's zero: section
// and training's batch sizes and precision again, but for what is left out. Keys of another stage
// are written only where they are not at their default.
DeepSpeedExport ExportDeepSpeed(const Scenario& scenario);

}  // namespace zerosim
