// How far predictions lie from measurements, over many rows.
#pragma once

#include <cstddef>
#include <vector>

namespace zerosim {

// Of relative errors, predicted / measured - 1. All but the bias are of their magnitudes; the
// quantiles are those of the rows, without interpolation: the least error that the share of rows
// does not exceed.
struct ErrorSummary {
  std::size_t count = 0;
  double mean = 0;
  double median = 0;
  double p90 = 0;
  double worst = 0;
  double bias = 0;  // mean with the sign
};

ErrorSummary Summarize(const std::vector<double>& errors);

}  // namespace zerosim
