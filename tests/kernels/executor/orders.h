// The orders in which tests run kernels.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/executor/launch.h"

namespace zerosim::kernels {

// Random orders of the seeds 1 ... count.
inline std::vector<executor::LaunchOptions> RandomOrders(std::uint64_t count) {
  std::vector<executor::LaunchOptions> orders(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    orders[i].order = executor::Order::kRandom;
    orders[i].seed = i + 1;
  }
  return orders;
}

// Forwards, backwards and `count` random orders.
inline std::vector<executor::LaunchOptions> AllOrders(std::uint64_t count) {
  std::vector<executor::LaunchOptions> orders = RandomOrders(count + 2);
  orders[count].order = executor::Order::kForward;
  orders[count + 1].order = executor::Order::kReverse;
  return orders;
}

// For the message of a failure.
inline std::string Trace(const executor::LaunchOptions& options) {
  return "order " + std::to_string(static_cast<int>(options.order)) + ", seed " +
         std::to_string(options.seed);
}

}  // namespace zerosim::kernels
