// The part of the table of deepspeed_keys.h that is of zero_optimization.
#pragma once

#include <span>

#include "models/frameworks/deepspeed_keys.h"

namespace zerosim {

std::span<const DeepSpeedKey> DeepSpeedZeroKeys();

}  // namespace zerosim
