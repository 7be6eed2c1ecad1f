#include "validate/error_summary.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace zerosim {
namespace {

// The place-th least of `sorted`, where place is the share of all rows, rounded up.
double Quantile(const std::vector<double>& sorted, double share) {
  const double place = std::ceil(share * static_cast<double>(sorted.size()) - 1e-9);
  return sorted[static_cast<std::size_t>(std::max(place, 1.0)) - 1];
}

}  // namespace

ErrorSummary Summarize(const std::vector<double>& errors) {
  ErrorSummary summary;
  if (errors.empty()) return summary;
  std::vector<double> sorted;
  sorted.reserve(errors.size());
  for (const double error : errors) sorted.push_back(std::abs(error));
  std::ranges::sort(sorted);
  const auto count = static_cast<double>(errors.size());
  summary.count = errors.size();
  summary.mean = std::accumulate(sorted.begin(), sorted.end(), 0.0) / count;
  summary.median = Quantile(sorted, 0.5);
  summary.p90 = Quantile(sorted, 0.9);
  summary.worst = sorted.back();
  summary.bias = std::accumulate(errors.begin(), errors.end(), 0.0) / count;
  return summary;
}

}  // namespace zerosim
