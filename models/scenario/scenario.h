// One question to the simulator: a model, a cluster, a strategy. A plain value; read_scenario.h
// makes it from YAML and checks it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "models/fsdp/fsdp.h"
#include "models/hardware/hardware.h"
#include "models/nccl/nccl.h"
#include "models/nccl/overrides.h"
#include "models/parallel/parallel.h"
#include "models/transformer/transformer.h"
#include "models/zero/zero.h"

namespace zerosim {

enum class Precision : std::uint8_t { kFp16, kBf16 };
enum class Checkpointing : std::uint8_t { kNone, kSelective, kFull, kOperators };
enum class CollectiveAlgorithm : std::uint8_t {
  kRing,
  kHierarchicalRing,
  kNccl,  // what NCCL takes for each collective
  kBest,  // the fastest of all algorithms for each
};

struct TrainingSpec {
  std::int64_t sequence_length = 0;
  std::int64_t micro_batch_size = 1;  // samples of one forward and backward on one rank
  int gradient_accumulation_steps = 1;
  // Samples of all ranks in one optimizer step, if the scenario fixes them; the reader holds the
  // three sizes to it.
  std::optional<std::int64_t> global_batch_size;
  Precision precision = Precision::kFp16;
  Checkpointing checkpointing = Checkpointing::kNone;
  int checkpoint_every = 1;  // of how many layers the first is checkpointed
  // Inputs of blocks under kFull: each tensor-parallel rank keeps its part of them.
  bool partition_checkpoints = false;
  int loss_chunks = 1;      // parts of the tokens whose logits exist one after the other
  bool first_step = false;  // without the prefetch trace, as the first iteration

  // `layer` counts from 0.
  bool checkpoints(int layer) const {
    return checkpointing != Checkpointing::kNone && layer % checkpoint_every == 0;
  }
};

// How compute is timed: by operation, or all of it at a fixed model FLOP utilization.
struct ComputeSpec {
  std::optional<double> mfu;          // in (0, 1]; empty: by operation
  bool flash_attention = true;        // where the GPU has fused attention
  bool causal_skip = true;            // the attention kernel skips the masked half
  bool recompute_skips_last = false;  // recompute leaves out the block's last GEMM
  double memory_passes = 2;           // mu: passes over the bytes of memory-bound operations
  double loss_bytes = 17;             // beta: bytes per token and vocabulary entry of the loss
  double loss_memory = 12;            // bytes per token and vocabulary entry alive at its peak
  bool fused_activation = false;      // a gated MLP's activation and product are one kernel
};

struct Scenario {
  std::string name;
  std::string framework;  // whose habits were the defaults; empty: none's
  ClusterSpec cluster;
  TransformerSpec model;
  TrainingSpec training;
  ParallelSpec parallel;
  ZeroConfig zero;
  std::optional<FsdpConfig> fsdp;  // in place of `zero`
  ComputeSpec compute;
  CollectiveAlgorithm algorithm = CollectiveAlgorithm::kRing;
  NcclVersion nccl;              // of kNccl and kBest
  NcclOverrides nccl_overrides;  // the same

  // Whether each collective takes what models/network/collective_timer.h says.
  bool times_collectives() const {
    return algorithm == CollectiveAlgorithm::kNccl || algorithm == CollectiveAlgorithm::kBest;
  }

  int world_size() const { return cluster.world_size(); }

  // Data-parallel ranks that share a node; 1 if none do.
  int data_ranks_per_node() const {
    const int stride = parallel.order == RankOrder::kTensorDataPipeline
                           ? parallel.tensor
                           : parallel.tensor * parallel.pipeline;
    return std::max(1, cluster.node.gpus / std::max(1, stride));
  }

  // Trained parameters of a rank's layout that fewer data-parallel ranks than all hold: of experts,
  // if divided.
  std::int64_t divided_experts(const ModelLayout& layout) const {
    return parallel.expert > 1 ? layout.trainable_expert_parameters() : 0;
  }

  // Ranks that work on samples of their own. Context-parallel ranks share theirs.
  int sample_ranks() const { return world_size() / parallel.model_ranks(); }

  // Of one rank in one micro-batch.
  std::int64_t tokens_per_micro_batch() const {
    return CeilDiv(training.sequence_length * training.micro_batch_size, parallel.context);
  }

  // Parts of a block's kept input that the ranks gather to recompute it; 1: each has what it needs.
  int checkpoint_parts() const {
    const bool whole = training.checkpointing != Checkpointing::kFull ||
                       !training.partition_checkpoints || parallel.sequence_parallel;
    return whole ? 1 : parallel.tensor;
  }

  // Parts of the sequence that norms and residuals of one rank work on.
  int sequence_parts() const { return parallel.sequence_parallel ? parallel.tensor : 1; }

  // Whether products add gradients of weights to those that are kept: stages 0 and 1.
  bool fuses_weight_gradients() const {
    return !fsdp && zero.stage < 2 && zero.fused_weight_gradients;
  }

  // What both strategies have. hpZ and quantisation act in stage 3 only.
  bool shards_weights() const {
    return fsdp ? fsdp->sharding != FsdpStrategy::kNoShard : zero.stage == 3;
  }
  const std::optional<QuantizationFormat>& quantized_weights() const {
    return fsdp ? fsdp->quantized_weights : zero.quantized_weights;
  }
  const std::optional<GradientQuantization>& quantized_gradients() const {
    return fsdp ? fsdp->quantized_gradients : zero.quantized_gradients;
  }
  // Whether gradients go through qgZ if the groups let them.
  bool quantizes_gradients() const {
    return fsdp ? fsdp->quantized_gradients && fsdp->sharding != FsdpStrategy::kNoShard
                : zero.quantizes_gradients();
  }
  // What lies in the host's memory: part of the optimizer's states, and the shards of weights.
  double offloaded_optimizer() const {
    return fsdp ? (fsdp->offload ? 1 : 0) : zero.offloaded_optimizer();
  }
  bool offloads_parameters() const { return fsdp ? fsdp->offload : zero.offloads_parameters(); }
  bool offloads() const { return offloaded_optimizer() > 0 || offloads_parameters(); }

  // Ranks of an hpZ group; 1: there is none.
  int secondary_size() const {
    if (fsdp) return fsdp->secondary_partition_size;
    return zero.has_secondary() ? zero.secondary_partition_size : 1;
  }
};

}  // namespace zerosim
