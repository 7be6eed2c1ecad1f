// Runs a function in a child process: SimGrid simulates once a process, and a test that compares
// two engines needs two.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace zerosim {

// Returns the numbers that `work` returned in the child. Fails the current test and returns nothing
// if the child died; its message is on stderr.
std::vector<double> InChild(const std::function<std::vector<double>()>& work);

}  // namespace zerosim
