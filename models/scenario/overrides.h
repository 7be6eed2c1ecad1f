// Values that the command line sets (--set cluster.nodes=8).
#pragma once

#include "models/scenario/assemble.h"
#include "models/scenario/document.h"

namespace zerosim {

// Puts the value of `set` over that of its key in `root`. What is wrong with it is reported, and
// the key is then in doubt.
void ApplyOverride(const Override& set, Node* root, Problems* problems);

}  // namespace zerosim
