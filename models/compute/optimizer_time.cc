#include "models/compute/optimizer_time.h"

#include <stdexcept>

namespace zerosim {
namespace {

// Bytes a parameter of the shard that the optimizer's kernels move: 28 for Adam in fp32 (gradient,
// weight and two moments read, three written) and 16 for unscaling and clipping before it.
constexpr double kOptimizerBytes = 28 + 16;

}  // namespace

Seconds OptimizerTime(std::int64_t parameters, const ClusterSpec& cluster) {
  const BytesPerSecond rate =
      cluster.calibration.memory_fraction.value * cluster.node.gpu.memory_bandwidth;
  return Seconds::Count(cluster.calibration.optimizer_fixed.value +
                        kOptimizerBytes * static_cast<double>(parameters) /
                            rate.bytes_per_second());
}

HostOptimizer HostOptimizerOf(const Scenario& scenario) {
  if (scenario.fsdp) return HostOptimizer::kTorch;
  return scenario.zero.stage == 3 ? HostOptimizer::kDeepSpeedAndCast : HostOptimizer::kDeepSpeed;
}

Seconds HostOptimizerTime(std::int64_t parameters, HostOptimizer optimizer,
                          const ClusterSpec& cluster) {
  const NodeSpec& node = cluster.node;
  if (node.host_memory_bandwidth <= BytesPerSecond()) {
    throw std::invalid_argument("an optimizer on the CPU needs the node's host_memory_bandwidth");
  }
  double bytes = 80;
  if (optimizer == HostOptimizer::kDeepSpeed) bytes = 36;
  if (optimizer == HostOptimizer::kDeepSpeedAndCast) bytes = 42;
  const BytesPerSecond rate =
      cluster.calibration.host_memory_fraction.value / node.gpus * node.host_memory_bandwidth;
  return Seconds::Count(bytes * static_cast<double>(parameters) / rate.bytes_per_second());
}

}  // namespace zerosim
