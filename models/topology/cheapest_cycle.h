// The cheapest cycle through all of a few points.
#pragma once

#include <vector>

namespace zerosim {

struct Cycle {
  double cost = 0;
  std::vector<int> points;  // in order from point 0; empty if there is none of finite cost
};

// `cost[i * n + j]` of going from i to j, infinite if that is not possible; costs may be negative.
// Held and Karp's dynamic program, n^2 2^n steps. Requires 2 <= n <= 20.
Cycle CheapestCycle(int n, const std::vector<double>& cost);

}  // namespace zerosim
