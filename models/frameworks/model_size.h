// How many parameters a model section describes.
#pragma once

#include <cstdint>

#include "models/scenario/document.h"

namespace zerosim {

struct ModelSize {
  std::int64_t parameters = 0;
  std::int64_t active_parameters = 0;  // that a token meets
};

// Reads the section `model` of `root` as a scenario does and counts. Reports what a scenario would;
// with an error the counts mean nothing.
ModelSize ModelSizeOf(const Node& root, Problems* problems);

}  // namespace zerosim
