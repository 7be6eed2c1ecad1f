// How long the optimizer's step takes, on the GPU or on the CPU of its node: bytes over bandwidth.
//
// Constants and their sources: models/compute/README.md.
#pragma once

#include <cstdint>

#include "models/core/units.h"
#include "models/hardware/hardware.h"
#include "models/scenario/scenario.h"

namespace zerosim {

// The optimizer's own kernels for `parameters` of the local shard: bytes over bandwidth plus
// Calibration::optimizer_fixed.
Seconds OptimizerTime(std::int64_t parameters, const ClusterSpec& cluster);

// Adam on the CPU, by how many bytes of the host's memory it moves a parameter:
//   kTorch      80, torch.optim.AdamW tensor by tensor, nothing fused (FSDP): decay 8, first moment
//               12, second 20, square root, division and epsilon 24, update 16;
//   kDeepSpeed  36, DeepSpeedCPUAdam: unscaling and clipping (reads and writes fp32 gradients) 8,
//               then reads weight, gradient and two moments and writes three of them in one pass
//               (csrc/includes/cpu_adam.h) 28;
//   kDeepSpeedAndCast  42, stage 3, which casts the weight to 16 bit on the CPU as well.
enum class HostOptimizer : std::uint8_t { kTorch, kDeepSpeed, kDeepSpeedAndCast };
HostOptimizer HostOptimizerOf(const Scenario& scenario);

// For `parameters` of the local shard, while all ranks of the node do the same and share its
// memory. Not modelled: arithmetic (it is bound by memory with vector instructions), caches, NUMA.
// Throws std::invalid_argument if the node's host_memory_bandwidth is not known.
Seconds HostOptimizerTime(std::int64_t parameters, HostOptimizer optimizer,
                          const ClusterSpec& cluster);

}  // namespace zerosim
