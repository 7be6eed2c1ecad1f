#include "models/topology/cheapest_cycle.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <stdexcept>

namespace zerosim {
namespace {

constexpr double kNone = std::numeric_limits<double>::infinity();

std::size_t CostPlace(int n, int from, int to) {
  return static_cast<std::size_t>(from) * n + to;
}

}  // namespace

Cycle CheapestCycle(int n, const std::vector<double>& cost) {
  if (n < 2 || n > 20) throw std::invalid_argument("a cycle of 2 to 20 points was expected");
  // best[set][last]: from point 0 through all of `set` (of points 1 to n - 1) to its point `last`.
  const int m = n - 1;
  const std::uint32_t sets = std::uint32_t{1} << m;
  std::vector<double> best(static_cast<std::size_t>(sets) * m, kNone);
  std::vector<int> before(best.size(), -1);
  for (int i = 0; i < m; ++i) best[(std::size_t{1} << i) * m + i] = cost[i + 1];
  for (std::uint32_t set = 1; set < sets; ++set) {
    for (int last = 0; last < m; ++last) {
      const double so_far = best[static_cast<std::size_t>(set) * m + last];
      if (so_far == kNone) continue;
      for (int next = 0; next < m; ++next) {
        if (set >> next & 1U) continue;
        const double total = so_far + cost[CostPlace(n, last + 1, next + 1)];
        const std::size_t at = static_cast<std::size_t>(set | 1U << next) * m + next;
        if (total >= best[at]) continue;
        best[at] = total;
        before[at] = last;
      }
    }
  }
  Cycle cycle;
  cycle.cost = kNone;
  int last = -1;
  std::uint32_t set = sets - 1;
  for (int i = 0; i < m; ++i) {
    const double total = best[static_cast<std::size_t>(set) * m + i] + cost[CostPlace(n, i + 1, 0)];
    if (total >= cycle.cost) continue;
    cycle.cost = total;
    last = i;
  }
  if (last < 0) return cycle;
  while (last >= 0) {
    cycle.points.push_back(last + 1);
    const int previous = before[static_cast<std::size_t>(set) * m + last];
    set &= ~(1U << last);
    last = previous;
  }
  cycle.points.push_back(0);
  std::ranges::reverse(cycle.points);
  return cycle;
}

}  // namespace zerosim
