// PyTorch's fully sharded data parallelism, and what it would be with quantised collectives.
//
// Sources: torch/distributed/fsdp/_runtime_utils.py and _limiter_utils.py (FSDP1) of PyTorch 2.x;
// torch/distributed/fsdp/_fully_shard (FSDP2).
#pragma once

#include <cstdint>
#include <optional>

#include "models/quantization/format.h"

namespace zerosim {

// What is sharded. The states of the optimizer always are, except without sharding (DDP's bytes).
enum class FsdpStrategy : std::uint8_t {
  kFullShard,    // weights are gathered for forward, released, and gathered again for backward
  kShardGradOp,  // weights stay gathered from forward to backward
  kNoShard,      // every rank keeps everything; gradients are all-reduced
};

// When the next unit's weights are gathered in backward.
enum class BackwardPrefetch : std::uint8_t {
  kPre,   // before this unit's gradients are computed
  kPost,  // after, and before they are reduced
  kNone,  // when its turn comes, behind this unit's reduction
};

// How weights and gradients travel, and are kept by the optimizer.
enum class ReducePrecision : std::uint8_t { kSixteenBit, kFp32 };

struct FsdpConfig {
  FsdpStrategy sharding = FsdpStrategy::kFullShard;
  // Ranks that one copy is spread over; 0: all data-parallel ranks. Fewer is hybrid sharding
  // (HSDP): gradients are then all-reduced between the copies too.
  int shard_size = 0;
  int blocks_per_unit = 1;          // transformer blocks that are wrapped together
  bool separate_embeddings = true;  // embedding and head are units; false: the root holds them
  bool per_parameter = false;       // FSDP2: what was gathered is copied into its parameters
  bool forward_prefetch = false;    // the next unit is gathered before this one runs
  BackwardPrefetch backward_prefetch = BackwardPrefetch::kPre;
  bool limit_all_gathers = true;  // the host waits when two units are gathered ahead
  ReducePrecision reduce_precision = ReducePrecision::kFp32;
  // With several micro-steps: gradients are reduced in the last one only and kept in full until
  // then.
  bool no_sync = false;
  // CPUOffload(offload_params=True): shards of weights, gradients and states lie in the host's
  // memory, and torch.optim.AdamW runs on the CPU.
  bool offload = false;

  // What no framework ships: ZeRO++'s collectives under this schedule.
  std::optional<QuantizationFormat> quantized_weights;
  std::optional<GradientQuantization> quantized_gradients;
  int secondary_partition_size = 1;  // hpZ: ranks of a group; 1 is off
};

}  // namespace zerosim
