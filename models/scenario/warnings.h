// Keys of a scenario that do nothing in it.
#pragma once

#include "models/scenario/document.h"
#include "models/scenario/scenario.h"

namespace zerosim {

// Warns of keys in `root` that have no effect in `scenario`, which has no errors.
void WarnOfKeysWithoutEffect(const Node& root, const Scenario& scenario, Problems* problems);

}  // namespace zerosim
