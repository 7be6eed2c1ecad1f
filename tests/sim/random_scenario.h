// Small scenarios drawn from a seed: every strategy and knob on clusters of up to 16 GPUs.
#pragma once

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <random>
#include <stdexcept>

#include "models/parallel/groups.h"
#include "models/parallel/scenario_groups.h"
#include "models/scenario/scenario.h"
#include "tests/sim/scenarios.h"

namespace zerosim {

// Draws the same on every platform: the values of mt19937 are standardised, those of the standard
// distributions are not.
class Draws {
 public:
  explicit Draws(unsigned seed) : next_(seed) {}

  template <typename T>
  T From(std::initializer_list<T> values) {
    return values.begin()[next_() % values.size()];
  }
  bool Coin() { return From({false, true}); }

 private:
  std::mt19937 next_;
};

inline void DrawZeroPlusPlus(Draws* draws, Scenario* s) {
  ZeroConfig& zero = s->zero;
  const int gpus = s->cluster.node.gpus;
  if (draws->Coin()) zero.quantized_weights = QuantizationFormat{};
  if (draws->Coin()) {
    zero.quantized_gradients = GradientQuantization{};
    zero.quantized_gradients->two_hops = draws->From({true, true, false});
  }
  if (draws->Coin()) zero.secondary_partition_size = draws->From({gpus, gpus > 2 ? 2 : gpus});
  zero.secondary_rule =
      draws->From({SecondaryRule::kOncePerStep, SecondaryRule::kOncePerMicroStep});
}

inline void DrawFsdp(Draws* draws, Scenario* s) {
  FsdpConfig& fsdp = s->fsdp.emplace();
  fsdp.sharding = draws->From({FsdpStrategy::kFullShard, FsdpStrategy::kFullShard,
                               FsdpStrategy::kShardGradOp, FsdpStrategy::kNoShard});
  fsdp.shard_size = draws->From({0, 0, s->cluster.node.gpus});
  fsdp.separate_embeddings = draws->Coin();
  fsdp.blocks_per_unit = draws->From({1, 1, 2});
  fsdp.forward_prefetch = draws->Coin();
  fsdp.backward_prefetch =
      draws->From({BackwardPrefetch::kPre, BackwardPrefetch::kPost, BackwardPrefetch::kNone});
  fsdp.limit_all_gathers = draws->Coin();
  fsdp.reduce_precision = draws->From({ReducePrecision::kSixteenBit, ReducePrecision::kFp32});
  fsdp.per_parameter = draws->Coin();
  fsdp.no_sync = draws->Coin();
  if (fsdp.sharding == FsdpStrategy::kNoShard) {
    fsdp.shard_size = 0;
    return;
  }
  if (draws->Coin()) fsdp.quantized_weights = QuantizationFormat{};
  if (draws->Coin()) fsdp.quantized_gradients = GradientQuantization{};
  if (draws->Coin()) fsdp.secondary_partition_size = s->cluster.node.gpus;
}

// A mixture whose experts all data-parallel ranks of a node divide, or none.
inline void DrawExperts(Draws* draws, Scenario* s) {
  s->model.mixture = MixtureSpec{.experts = 8,
                                 .experts_per_token = draws->From({1, 2}),
                                 .ffn_hidden = 1024,
                                 .shared_ffn_hidden = draws->From({0, 512})};
  s->parallel.expert = draws->From({1, s->data_ranks_per_node()});
  if (s->parallel.expert == 1) return;
  s->zero.shard_size = 0;
  if (!s->fsdp) return;
  s->fsdp->shard_size = 0;
  s->fsdp->secondary_partition_size = 1;
  s->fsdp->quantized_gradients.reset();
}

// Divides the model as far as the ranks allow; groups of a node shrink with it.
inline void DrawParallelism(Draws* draws, Scenario* s) {
  ParallelSpec& parallel = s->parallel;
  const int gpus = s->cluster.node.gpus;
  if (gpus % 2 == 0) parallel.tensor = draws->From({1, 2, gpus});
  parallel.sequence_parallel = draws->Coin();
  const int left = s->world_size() / parallel.tensor;
  if (left % 2 == 0) parallel.context = draws->From({1, 2});
  if (draws->Coin() && s->zero.stage != 3) DrawExperts(draws, s);
  s->training.partition_checkpoints = draws->Coin();
  const int local = s->data_ranks_per_node();
  if (s->zero.shard_size > 0) s->zero.shard_size = local;
  if (s->zero.secondary_partition_size > 1) s->zero.secondary_partition_size = local;
  if (!s->fsdp) return;
  if (s->fsdp->shard_size > 0) s->fsdp->shard_size = local;
  if (s->fsdp->secondary_partition_size > 1) s->fsdp->secondary_partition_size = local;
}

inline void DrawOffload(Draws* draws, Scenario* s) {
  s->cluster.node.gpus_per_host_link = draws->From({1, 2});
  if (s->fsdp) {
    // FSDP's offload needs both.
    s->fsdp->offload = s->fsdp->sharding != FsdpStrategy::kNoShard;
    s->fsdp->no_sync = true;
    return;
  }
  OffloadConfig& offload = s->zero.offload;
  offload.optimizer = draws->From({true, true, false});
  offload.optimizer_ratio = draws->From({1.0, 1.0, 0.4});
  offload.optimizer_pinned = draws->Coin();
  offload.parameters = draws->Coin();
  offload.parameters_pinned = draws->Coin();
}

// A scenario whose ranks all do the same.
inline Scenario RandomAlike(unsigned seed) {
  Draws draws(seed);
  const int gpus = draws.From({1, 2, 4});
  const int nodes = draws.From({1, 2, 3});
  Scenario s = SmallScenario(nodes, gpus);
  s.model.layers = 2;
  s.model.gated_mlp = draws.Coin();
  s.model.tied_embeddings = draws.Coin();
  s.cluster.fabric.nics_per_node = draws.From({1, 2, 4});
  s.cluster.fabric.oversubscription = draws.From({1.0, 1.0, 2.0, 3.0});
  s.cluster.calibration.all_to_all_fraction.value = draws.From({1.0, 0.5});
  s.algorithm = draws.From({CollectiveAlgorithm::kRing, CollectiveAlgorithm::kHierarchicalRing});
  s.training.micro_batch_size = draws.From({1, 2});
  s.training.gradient_accumulation_steps = draws.From({1, 1, 2});
  s.training.checkpointing =
      draws.From({Checkpointing::kNone, Checkpointing::kSelective, Checkpointing::kFull});
  s.training.first_step = draws.From({false, false, true});

  ZeroConfig& zero = s.zero;
  zero.stage = draws.From({0, 1, 2, 3, 3, 3, 3});
  if (zero.stage == 3) DrawZeroPlusPlus(&draws, &s);
  zero.gradient_collective =
      draws.From({GradientCollective::kAllReduce, GradientCollective::kReduceScatter});
  if (zero.stage == 3 && seed % 4 != 0) zero.gradient_collective.reset();
  zero.overlap.gather_forward = draws.Coin();
  zero.overlap.gather_backward = draws.Coin();
  zero.overlap.reduce = draws.Coin();
  zero.overlap.quantized_reduce = draws.Coin();
  zero.prefetch_bucket_size = draws.From({0, 5'000'000, 50'000'000});
  zero.reduce_bucket_size = draws.From({2'000'000, 500'000'000});
  if (draws.Coin()) zero.overlap_comm = draws.Coin();
  zero.shard_size = draws.From({0, 0, 0, s.cluster.node.gpus});
  if (draws.From({false, false, true})) DrawFsdp(&draws, &s);
  if (draws.From({false, false, true})) DrawParallelism(&draws, &s);
  if (draws.From({false, false, true})) DrawOffload(&draws, &s);
  if (draws.From({false, false, true})) {
    s.model.lora = LoraSpec{
        .rank = 8,
        .targets = draws.From({LoraTargets::kAll, LoraTargets::kMlp, LoraTargets::kQueryValue}),
        .frozen_bits = draws.From({16, 8, 4})};
  }
  return s;
}

// Whether the ranks can be divided as asked and every group lies in whole nodes alike.
inline bool HasRegularGroups(const Scenario& s) {
  try {
    return IsRegular(ProcessGroupsOf(s).pipeline, s.cluster.node.gpus);
  } catch (const std::invalid_argument&) {
    return false;
  }
}

// Divides the ranks anew, with a pipeline of two stages at least: as Megatron numbers them or with
// the stages in one node, 1F1B or interleaved, and other parallelism inside of the stages.
inline Scenario DrawStages(Draws* draws, Scenario s) {
  const int gpus = s.cluster.node.gpus;
  s.cluster.nodes = draws->From({1, 2, 2, 3, 4, 4});
  ParallelSpec& parallel = s.parallel;
  parallel = {};
  parallel.pipeline = draws->From({2, 2, 3, 4, 4, 8});
  parallel.virtual_stages = draws->From({1, 1, 2});
  parallel.order = draws->From({RankOrder::kTensorDataPipeline, RankOrder::kTensorPipelineData});
  parallel.tensor = draws->From({1, 1, 2, gpus});
  parallel.sequence_parallel = draws->Coin();
  parallel.context = draws->From({1, 1, 2});
  s.model.layers = parallel.pipeline * parallel.virtual_stages * draws->From({1, 2});
  const int rounds = draws->From({1, 2});
  s.training.gradient_accumulation_steps =
      parallel.virtual_stages > 1 ? rounds * parallel.pipeline : draws->From({1, 3, 4, 8});
  // Groups of a node have the data-parallel ranks that are there.
  const int data = s.world_size() / (parallel.tensor * parallel.pipeline);
  const int local = std::min(s.data_ranks_per_node(), data);
  if (s.model.mixture && s.zero.stage != 3) parallel.expert = draws->From({1, std::max(1, local)});
  if (s.zero.shard_size > 0) s.zero.shard_size = local == 1 ? 0 : local;
  if (s.zero.secondary_partition_size > 1) s.zero.secondary_partition_size = local;
  if (!s.fsdp) return s;
  if (s.fsdp->shard_size > 0) s.fsdp->shard_size = local == 1 ? 0 : local;
  if (s.fsdp->secondary_partition_size > 1) s.fsdp->secondary_partition_size = local;
  return s;
}

// A scenario with a pipeline.
inline Scenario RandomPipeline(unsigned seed) {
  const Scenario alike = RandomAlike(seed);
  Draws draws(seed + 1'000'000);
  while (true) {
    Scenario s = DrawStages(&draws, alike);
    if (HasRegularGroups(s)) return s;
  }
}

// One of both.
inline Scenario RandomScenario(unsigned seed) {
  return seed % 3 == 0 ? RandomPipeline(seed) : RandomAlike(seed);
}

}  // namespace zerosim
