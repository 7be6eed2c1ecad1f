// Which ZeRO and ZeRO++ strategy trains the model, and DeepSpeed's knobs that decide what it
// communicates and keeps. Defaults are DeepSpeed's (runtime/zero/config.py at edaa722).
#pragma once

#include <cstdint>
#include <optional>

#include "models/quantization/format.h"

namespace zerosim {

// How gradients are summed. Stages 1 and 2: as the papers say (reduce-scatter) or as DeepSpeed's
// code does by default (all-reduce). Stage 3: by reduce-scatter or, with DeepSpeed's
// reduce_scatter: false, by all-reduce, of which each rank keeps its part.
enum class GradientCollective : std::uint8_t { kAllReduce, kReduceScatter };

// Type of the gradients that a rank keeps until the optimizer's step: that of the weights, or fp32
// (DeepSpeed's data_types.grad_accum_dtype; in stages 0 and 1 Megatron-LM's
// accumulate_allreduce_grads_in_fp32, which also sends them so).
enum class GradientPrecision : std::uint8_t { kModel, kFp32 };

// When hpZ gathers between nodes: once an optimizer step (DeepSpeed since 2024-01-25), or in the
// forward pass of every micro-step (the release of 2023-06).
enum class SecondaryRule : std::uint8_t { kOncePerStep, kOncePerMicroStep };

// What the all-gathers of weights may run beside. The public measurements do not tell these apart
// (README, "What is not known"), so each is a policy.
struct OverlapPolicy {
  bool gather_forward = true;     // prefetch beside forward compute
  bool gather_backward = true;    // prefetch beside backward compute
  bool reduce = true;             // reduce-scatter beside backward compute
  bool quantized_reduce = false;  // qgZ's chain beside backward compute; false: compute waits

  bool operator==(const OverlapPolicy&) const = default;
};

// What lies in the host's memory instead of the GPU's: ZeRO-Offload (arXiv 2101.06840) and
// ZeRO-Infinity's parameters (runtime/zero/offload_config.py). NVMe is not modelled.
struct OffloadConfig {
  bool optimizer = false;      // stages 1 to 3: states, and gradients of the shard; Adam on the CPU
  double optimizer_ratio = 1;  // stage 3: part of the states that is there (Twin-Flow)
  bool optimizer_pinned = false;
  bool parameters = false;  // stage 3: the 16-bit shards
  bool parameters_pinned = false;

  bool operator==(const OffloadConfig&) const = default;
};

struct ZeroConfig {
  int stage = 0;
  std::optional<QuantizationFormat> quantized_weights;      // qwZ
  std::optional<GradientQuantization> quantized_gradients;  // qgZ
  // qWD of SDP4Bit (arXiv 2410.15526), stages 1 and 2: after the optimizer's step ranks gather what
  // the weights changed by, quantised, and add it to the 16-bit copies that they have. A difference
  // is against those copies, so what one step's quantisation loses is in the next one's.
  std::optional<QuantizationFormat> weight_differences;
  int secondary_partition_size = 1;  // hpZ: ranks of a group; 1 is off
  // Ranks that one copy of the states is spread over; 0: all data-parallel ranks. Fewer: MiCS
  // (stage 3), or stages 1 and 2 with the optimizer sharded over a sub-group.
  int shard_size = 0;
  SecondaryRule secondary_rule = SecondaryRule::kOncePerStep;
  std::optional<GradientCollective> gradient_collective;  // empty: the stage's default
  GradientPrecision gradient_precision = GradientPrecision::kModel;
  // Stages 0 and 1: products add gradients of weights to the kept ones; autograd gets placeholders.
  bool fused_weight_gradients = false;
  OverlapPolicy overlap;
  OffloadConfig offload;

  // All in elements, as in DeepSpeed.
  std::int64_t prefetch_bucket_size = 50'000'000;
  std::int64_t max_live_parameters = 1'000'000'000;
  std::int64_t max_reuse_distance = 1'000'000'000;
  std::int64_t param_persistence_threshold = 100'000;
  std::int64_t reduce_bucket_size = 500'000'000;
  std::int64_t allgather_bucket_size = 500'000'000;
  bool contiguous_gradients = true;
  std::optional<bool> overlap_comm;  // empty: true for stage 3 only

  GradientCollective collective() const {
    return gradient_collective.value_or(stage == 3 ? GradientCollective::kReduceScatter
                                                   : GradientCollective::kAllReduce);
  }
  // SDP4Bit quantises the gradients of stages 1 and 2 too; DeepSpeed does in stage 3 only.
  bool quantizes_gradients() const {
    return quantized_gradients && (stage == 3 || sends_differences());
  }
  bool sends_differences() const { return weight_differences && (stage == 1 || stage == 2); }
  bool overlaps() const { return overlap_comm.value_or(stage == 3); }
  // Part of the optimizer's states in the host's memory.
  double offloaded_optimizer() const {
    if (stage == 0 || !offload.optimizer) return 0;
    return stage == 3 ? offload.optimizer_ratio : 1;
  }
  bool offloads_parameters() const { return stage == 3 && offload.parameters; }
  bool has_secondary() const { return stage == 3 && secondary_partition_size > 1; }

  bool operator==(const ZeroConfig&) const = default;
};

}  // namespace zerosim
