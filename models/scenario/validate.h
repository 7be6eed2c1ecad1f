// What the sections of a scenario demand of each other.
#pragma once

#include "models/scenario/document.h"
#include "models/scenario/scenario.h"

namespace zerosim {

// Reports what does not fit together in `scenario`, which was read from `root`, and fills in what
// one section takes from another (max_positions). A check between keys is left out if one of them
// is doubted in `problems` or in doubt in `root`: what it would say may be wrong once that is
// mended.
void CheckBetweenSections(const Node& root, Scenario* scenario, Problems* problems);

}  // namespace zerosim
