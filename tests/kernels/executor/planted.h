// Small kernels, each with one fault planted or with none, to see what the executor and the
// sanitizers catch. Run by tests in their own process, and by planted_main.cc in a child's.
#pragma once

#include <string>
#include <vector>

#include "kernels/executor/launch.h"

namespace zerosim::kernels {

struct Outcome {
  std::string message;  // the executor's complaint; empty if it had none
  bool right = false;   // the output is what the kernel without a fault gives
};

struct Planted {
  std::string name;
  Outcome (*run)(const executor::LaunchOptions&);
};

// Races and wrong accesses: what runs to its end, with a right or a wrong result.
std::vector<Planted> PlantedInMemory();
// What breaks a rule of barriers, masks and limits.
std::vector<Planted> PlantedInRules();
// Kernels that must run clean everywhere.
std::vector<Planted> Controls();
// Likewise, of so many blocks or threads that once is enough.
std::vector<Planted> LargeControls();

// Returns the one of that name; aborts if there is none.
Planted PlantedOf(const std::string& name);

}  // namespace zerosim::kernels
