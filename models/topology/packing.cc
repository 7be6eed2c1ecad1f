#include "models/topology/packing.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace zerosim {
namespace {

constexpr double kTolerance = 1e-9;
constexpr int kMaxSteps = 2000;

// A basis of the program: row i is taken by column `column[i]`, or by the slack of a capacity.
class Basis {
 public:
  explicit Basis(const std::vector<double>& capacity)
      : size_(static_cast<int>(capacity.size())),
        inverse_(capacity.size() * capacity.size(), 0),
        amount_(capacity),
        column_(capacity.size(), kSlack) {
    for (int i = 0; i < size_; ++i) inverse_[i * size_ + i] = 1;
  }

  // What one more unit of each capacity is worth.
  std::vector<double> Prices() const {
    std::vector<double> prices(size_, 0);
    for (int row = 0; row < size_; ++row) {
      if (column_[row] == kSlack) continue;
      for (int i = 0; i < size_; ++i) prices[i] += inverse_[row * size_ + i];
    }
    return prices;
  }

  // Takes in `entering`, named `index`, and drops the row that it uses up first.
  bool Enter(const PackingColumn& entering, int index) {
    std::vector<double> direction(size_, 0);
    for (int row = 0; row < size_; ++row) {
      for (int i = 0; i < size_; ++i) direction[row] += inverse_[row * size_ + i] * entering[i];
    }
    int leaving = -1;
    double least = std::numeric_limits<double>::infinity();
    for (int row = 0; row < size_; ++row) {
      if (direction[row] <= kTolerance) continue;
      const double ratio = amount_[row] / direction[row];
      const bool tie = leaving >= 0 && std::abs(ratio - least) <= kTolerance;
      if (tie ? direction[row] > direction[leaving] : ratio < least) {
        leaving = row;
        least = std::min(ratio, least);
      }
    }
    if (leaving < 0) return false;
    Pivot(leaving, direction);
    column_[leaving] = index;
    return true;
  }

  std::vector<double> Amounts(std::size_t num_columns) const {
    std::vector<double> amounts(num_columns, 0);
    for (int row = 0; row < size_; ++row) {
      if (column_[row] != kSlack) amounts[column_[row]] += std::max(0.0, amount_[row]);
    }
    return amounts;
  }

  static constexpr int kSlack = -1;

 private:
  void Pivot(int leaving, const std::vector<double>& direction) {
    for (int i = 0; i < size_; ++i) inverse_[leaving * size_ + i] /= direction[leaving];
    amount_[leaving] /= direction[leaving];
    for (int row = 0; row < size_; ++row) {
      if (row == leaving || direction[row] == 0) continue;
      for (int i = 0; i < size_; ++i) {
        inverse_[row * size_ + i] -= direction[row] * inverse_[leaving * size_ + i];
      }
      amount_[row] -= direction[row] * amount_[leaving];
    }
  }

  int size_;
  std::vector<double> inverse_;  // of the matrix of the basis
  std::vector<double> amount_;
  std::vector<int> column_;
};

}  // namespace

Packing LargestPacking(
    const std::vector<double>& capacity,
    const std::function<std::optional<PackingColumn>(const std::vector<double>& prices)>&
        cheapest) {
  Basis basis(capacity);
  Packing packing;
  std::size_t num_columns = 0;
  for (int step = 0; step < kMaxSteps; ++step) {
    std::vector<double> prices = basis.Prices();
    // A slack that is worth taking back comes first, so that prices shown are never negative.
    const auto lowest = std::ranges::min_element(prices);
    if (*lowest < -kTolerance) {
      PackingColumn slack(capacity.size(), 0);
      slack[lowest - prices.begin()] = 1;
      if (!basis.Enter(slack, Basis::kSlack)) break;
      continue;
    }
    for (double& price : prices) price = std::max(0.0, price);
    const std::optional<PackingColumn> column = cheapest(prices);
    if (!column) {
      packing.optimal = true;
      break;
    }
    const bool entered = basis.Enter(*column, static_cast<int>(num_columns));
    ++num_columns;
    if (!entered) break;
  }
  packing.amounts = basis.Amounts(num_columns);
  for (const double amount : packing.amounts) packing.total += amount;
  return packing;
}

}  // namespace zerosim
