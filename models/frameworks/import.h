// Puts what a scenario takes from other frameworks' configurations in its place.
#pragma once

#include "models/scenario/document.h"
#include "models/scenario/files.h"

namespace zerosim {

// Replaces `zero.deepspeed_config` in `root`, a scenario with its catalog entries in place, by the
// keys of the file that it names, relative to the file that names it. Keys that the scenario has
// win. What cannot be read is reported, and its section stands as kUnresolved.
void ImportFrameworks(Node* root, const Files& files, Problems* problems);

}  // namespace zerosim
