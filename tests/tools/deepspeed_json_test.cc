// A scenario's strategy written for DeepSpeed and read again.
#include "tools/zerosim/deepspeed_json.h"

#include <filesystem>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/scenario/small_scenario.h"
#include "tests/sim/random_scenario.h"

namespace zerosim {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// A scenario of the ranks and sizes of `s` that takes the rest from `config`.
Scenario Reimport(const Scenario& s, const std::string& config) {
  const std::string text = fmt::format(
      "cluster:\n"
      "  node: {{base: tiny_node, gpus: {}, nics: 8, host_memory_bandwidth: 100 GB/s}}\n"
      "  nodes: {}\n"
      "  fabric: {{nics_per_node: 2, nic_bandwidth: 100 Gbps, latency: 2 us}}\n"
      "model: {{layers: 2, hidden: 64, heads: 4, vocabulary: 100}}\n"
      "training: {{sequence_length: 128, lora: {}}}\n"
      "parallelism: {{tensor: {}, context: {}}}\n"
      "zero: {{deepspeed_config: ds.json}}\n",
      s.cluster.node.gpus, s.cluster.nodes, s.model.lora.has_value(), s.parallel.tensor,
      s.parallel.context);
  return ReadSmall(text, {}, {{"ds.json", config}}).scenario;
}

// What of `zero` DeepSpeed's keys can say.
ZeroConfig Sayable(ZeroConfig zero) {
  zero.gradient_collective = zero.collective();
  zero.overlap = {};
  zero.secondary_rule = {};
  // What does not act is not written.
  if (!zero.offload.optimizer) zero.offload.optimizer_pinned = false;
  if (!zero.offload.optimizer || zero.stage < 3) zero.offload.optimizer_ratio = 1;
  if (!zero.offload.parameters) zero.offload.parameters_pinned = false;
  if (zero.quantized_weights) zero.quantized_weights.emplace();
  if (zero.quantized_gradients) zero.quantized_gradients.emplace();
  zero.weight_differences.reset();
  if (zero.stage == 0) zero.gradient_collective.reset();
  if (zero.stage < 2) zero.gradient_precision = {};
  if (zero.stage < 3) zero.shard_size = 0;
  return zero;
}

void ExpectRoundTrip(const Scenario& s, const std::string& name) {
  const std::string config = ExportDeepSpeed(s).config.dump();
  const Scenario again = Reimport(s, config);

  EXPECT_EQ(Sayable(again.zero), Sayable(s.zero)) << name << "\n" << config;
  EXPECT_EQ(again.training.micro_batch_size, s.training.micro_batch_size) << name;
  EXPECT_EQ(again.training.gradient_accumulation_steps, s.training.gradient_accumulation_steps)
      << name;
  EXPECT_EQ(again.training.global_batch_size, s.training.global_batch_size) << name;
  EXPECT_EQ(again.training.precision, s.training.precision) << name;
  EXPECT_EQ(ExportDeepSpeed(again).config.dump(), config) << name;
}

TEST(ExportDeepSpeed, IsReadAgainAsTheSameForEveryShippedScenario) {
  int count = 0;
  const std::filesystem::path folder = std::filesystem::path(ZEROSIM_SOURCE_DIR) / "scenarios";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".yaml") continue;
    const Scenario s = ReadScenario(entry.path().string(), {}, {}).scenario;
    // A ds_config.json holds neither FSDP nor how ranks divide the model.
    if (s.fsdp || s.parallel.model_ranks() > 1 || s.parallel.expert > 1) continue;
    ExpectRoundTrip(s, entry.path().string());
    ++count;
  }
  EXPECT_GE(count, 20);
}

TEST(ExportDeepSpeed, IsReadAgainAsTheSameForRandomScenarios) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    Scenario s = RandomAlike(seed);
    if (s.fsdp) continue;
    Draws draws(seed + 1000);
    s.training.precision = draws.From({Precision::kFp16, Precision::kBf16});
    s.zero.gradient_precision = draws.From({GradientPrecision::kModel, GradientPrecision::kFp32});
    s.zero.contiguous_gradients = draws.Coin();
    s.zero.max_live_parameters = draws.From({0, 1'000'000'000});
    s.zero.allgather_bucket_size = draws.From({1, 500'000'000});
    if (draws.Coin()) {
      s.training.global_batch_size =
          s.training.micro_batch_size * s.training.gradient_accumulation_steps * s.sample_ranks();
    }
    ExpectRoundTrip(s, fmt::format("seed {}", seed));
  }
}

TEST(ExportDeepSpeed, WritesShardsOfStage3ForMics) {
  Scenario s = SmallScenario(2, 4);
  s.zero.shard_size = 4;
  EXPECT_EQ(ExportDeepSpeed(s).config["zero_optimization"]["mics_shard_size"], 4);
  EXPECT_THAT(ExportDeepSpeed(s).left_out, IsEmpty());

  s.zero.stage = 1;
  s.parallel.tensor = 2;
  EXPECT_FALSE(ExportDeepSpeed(s).config["zero_optimization"].contains("mics_shard_size"));
  EXPECT_THAT(ExportDeepSpeed(s).left_out,
              ElementsAre("zero.shard_size: DeepSpeed has it in stage 3 only",
                          "parallelism: the training script divides the model"));
}

TEST(ExportDeepSpeed, WritesOffloadAndFrozenWeights) {
  Scenario s = SmallScenario(2, 4);
  s.zero.offload = {
      .optimizer = true, .optimizer_ratio = 0.5, .parameters = true, .parameters_pinned = true};
  s.model.lora = LoraSpec{.frozen_bits = 8};
  const DeepSpeedExport written = ExportDeepSpeed(s);
  const auto& zero = written.config["zero_optimization"];

  EXPECT_EQ(zero["offload_optimizer"].dump(), R"({"device":"cpu","pin_memory":false,"ratio":0.5})");
  EXPECT_EQ(zero["offload_param"].dump(), R"({"device":"cpu","pin_memory":true})");
  EXPECT_EQ(zero["zero_quantized_nontrainable_weights"], true);
  EXPECT_THAT(written.left_out, ElementsAre("training.lora: the training script adds adapters"));

  s.model.lora->frozen_bits = 4;
  EXPECT_THAT(ExportDeepSpeed(s).left_out,
              ElementsAre("training.lora: the training script adds adapters",
                          "training.frozen_weights: DeepSpeed has 8 bits in stage 3 only"));
}

TEST(ExportDeepSpeed, SaysWhatNoKeyOfDeepSpeedSays) {
  Scenario s = SmallScenario(2, 4);
  EXPECT_THAT(ExportDeepSpeed(s).left_out, IsEmpty());

  EnableZeroPlusPlus(&s);
  EXPECT_THAT(ExportDeepSpeed(s).left_out, IsEmpty());
  s.zero.quantized_weights->bits = 4;
  s.zero.quantized_gradients->two_hops = false;
  s.zero.overlap.reduce = false;
  s.zero.secondary_rule = SecondaryRule::kOncePerMicroStep;

  EXPECT_THAT(
      ExportDeepSpeed(s).left_out,
      ElementsAre(
          "zero.quantized_weights: DeepSpeed's qwZ has 8 bits in groups of its own choice, "
          "symmetric",
          "zero.quantized_gradients: DeepSpeed's qgZ has 4 bits in groups of its own choice, "
          "symmetric, in two hops",
          "zero.secondary_rule: DeepSpeed's version decides it: before 2024-01-25, once per "
          "micro-step",
          "zero.overlap: no key of DeepSpeed says it"));
}

}  // namespace
}  // namespace zerosim
