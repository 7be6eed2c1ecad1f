// The files of zerosim import that describe a machine.
#pragma once

#include <functional>

#include "tools/zerosim/command.h"

namespace zerosim {

// Adds a subcommand of `import` for each format. The function that is returned reads and prints
// what was asked for after parsing; false if no format of them was.
std::function<bool()> AddTopologies(CLI::App* import);

}  // namespace zerosim
