// The largest packing of things into capacities, where the things are too many to list.
#pragma once

#include <functional>
#include <optional>
#include <vector>

namespace zerosim {

// What one unit of a thing uses of each capacity.
using PackingColumn = std::vector<double>;

struct Packing {
  std::vector<double> amounts;  // of each column that the search met, in that order
  double total = 0;
  bool optimal = false;  // false: the limit of steps was reached; the packing is still valid
};

// maximize sum x_j subject to sum_j column_j[i] x_j <= capacity[i], x >= 0, by the revised simplex
// method with generated columns. `cheapest` is given a price of each capacity, none negative, and
// returns a column whose uses cost less than 1 at these prices, the cheapest there is, or nothing.
// The capacities must be positive, and each column must use some of one.
Packing LargestPacking(
    const std::vector<double>& capacity,
    const std::function<std::optional<PackingColumn>(const std::vector<double>& prices)>& cheapest);

}  // namespace zerosim
