// Small scenarios drawn from a seed: every strategy and knob on clusters of up to 12 GPUs.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <random>

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

inline Scenario RandomScenario(unsigned seed) {
  Draws draws(seed);
  Scenario s = SmallScenario(draws.From({1, 2, 3}), draws.From({1, 2, 4}));
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
  return s;
}

}  // namespace zerosim
