// What something costs on this machine, and how fast this machine is now.
#pragma once

#include <string>
#include <vector>

namespace zerosim {

// A shared machine runs everything, tests and compilers, at two thirds of its speed for minutes. So
// a promise is held as a ratio within one run: against sorting kSorted numbers, which took kSort_s
// on the machine where the promise was made.
inline constexpr int kSorted = 300'000;
inline constexpr double kSort_s = 0.0149;

// Seconds of sorting them now.
double SortTime();

// Whether assertions or sanitizers are on, so that no promise holds.
bool Slowed();

struct ProcessCost {
  double seconds = 1e9;  // wall time, the fastest of all runs
  double megabytes = 0;  // the largest resident set
};

// Of running `words` so many times, without its output. A status other than 0 fails the test.
ProcessCost CostOfProcess(const std::vector<std::string>& words, int runs);

}  // namespace zerosim
