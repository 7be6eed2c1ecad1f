#include "sim/fit.h"

#include <gtest/gtest.h>

#include "sim/simulate.h"
#include "tests/sim/scenarios.h"

namespace zerosim {
namespace {

// 8 GPUs, no room in the limits of live parameters, and hosts of which nothing is known.
Scenario EightGpus() {
  Scenario s = SmallScenario(2, 4);
  s.zero.max_live_parameters = 50'000'000;
  s.cluster.node.host_memory_bandwidth = {};
  return s;
}

// The scenario on GPUs that have a byte less than it needs.
Scenario JustTooLarge(Scenario s) {
  s.cluster.node.gpu.memory = PeakMemory(s) - Bytes::Count(1);
  return s;
}

TEST(SmallestFittingChange, OfAScenarioThatLacksAByteIsTheCheapestOne) {
  const Scenario s = JustTooLarge(EightGpus());

  const auto change = SmallestFittingChange(s);

  ASSERT_TRUE(change);
  EXPECT_EQ(change->setting, "zero.reduce_bucket_size=250000000");
  EXPECT_LE(change->peak, s.cluster.node.gpu.memory);
}

TEST(SmallestFittingChange, KeepsAGlobalBatchByMoreMicroSteps) {
  Scenario s = EightGpus();
  s.zero.contiguous_gradients = false;
  s.training.micro_batch_size = 64;
  s.training.gradient_accumulation_steps = 1;
  s.training.checkpointing = Checkpointing::kFull;

  const auto free = SmallestFittingChange(JustTooLarge(s));
  s.training.global_batch_size = 512;
  const auto fixed = SmallestFittingChange(JustTooLarge(s));

  ASSERT_TRUE(free);
  ASSERT_TRUE(fixed);
  EXPECT_EQ(free->setting, "training.micro_batch_size=32");
  EXPECT_EQ(fixed->setting,
            "training.micro_batch_size=32 --set training.gradient_accumulation_steps=2");
}

TEST(SmallestFittingChange, OffersNoNodesThatAFixedGlobalBatchCannotFeed) {
  Scenario s = EightGpus();
  s.zero.contiguous_gradients = false;
  s.training.global_batch_size = 8;  // a sample a GPU
  s.cluster.node.gpu.memory = PeakMemory(s) - Bytes::Count(50'000'000);

  const auto fixed = SmallestFittingChange(s);
  s.training.global_batch_size.reset();
  const auto free = SmallestFittingChange(s);

  EXPECT_FALSE(fixed);
  ASSERT_TRUE(free);
  EXPECT_EQ(free->setting, "cluster.nodes=4");
}

TEST(SmallestFittingChange, OffloadsToHostsThatHaveTheRoom) {
  Scenario s = EightGpus();
  s.zero.contiguous_gradients = false;
  s.cluster.node.gpu.memory = PeakMemory(s) - Bytes::Count(50'000'000);
  s.cluster.node.host_memory_bandwidth = BytesPerSecond::GigabytesPerSecond(200);

  const auto unknown = SmallestFittingChange(s);
  s.cluster.node.host_memory = Bytes::Count(1'000'000'000);
  const auto enough = SmallestFittingChange(s);
  s.cluster.node.host_memory = Bytes::Count(100'000'000);
  const auto little = SmallestFittingChange(s);

  const char* const offload = "zero.offload_optimizer='{device: cpu, pin_memory: true}'";
  ASSERT_TRUE(unknown && enough && little);
  EXPECT_EQ(unknown->setting, offload);
  EXPECT_EQ(enough->setting, offload);
  EXPECT_EQ(little->setting, "cluster.nodes=4");
}

TEST(SmallestFittingChange, PrefersFewerLiveParametersToAll) {
  const auto change = SmallestFittingChange(JustTooLarge(SmallScenario(2, 4)));

  ASSERT_TRUE(change);
  EXPECT_EQ(change->setting, "zero.max_live_parameters=62500000");
}

TEST(SmallestFittingChange, TakesKnobsBackToTheirDefaults) {
  // Weights that are used again within that distance stay gathered, from forward to backward.
  Scenario kept = EightGpus();
  kept.model.hidden = 4096;
  kept.model.layers = 24;  // 4.8 billion parameters
  kept.zero.max_live_parameters = kept.zero.max_reuse_distance = 100'000'000'000;
  Scenario persistent = EightGpus();
  persistent.model.hidden = 2048;
  persistent.model.layers = 24;  // 1.3 billion parameters, which would all stay gathered
  persistent.zero.param_persistence_threshold = 1'000'000'000;

  const auto shorter = SmallestFittingChange(JustTooLarge(kept));
  const auto fewer = SmallestFittingChange(JustTooLarge(persistent));

  ASSERT_TRUE(shorter);
  EXPECT_EQ(shorter->setting, "zero.max_reuse_distance=1000000000");
  ASSERT_TRUE(fewer);
  EXPECT_EQ(fewer->setting, "zero.param_persistence_threshold=100000");
}

TEST(SmallestFittingChange, IsNothingWhereNothingHelps) {
  Scenario s = SmallScenario(2, 4);
  s.cluster.node.gpu.memory = Bytes::Count(100'000'000);  // below the CUDA context
  EXPECT_FALSE(SmallestFittingChange(s));
}

}  // namespace
}  // namespace zerosim
