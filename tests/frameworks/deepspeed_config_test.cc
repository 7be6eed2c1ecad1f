#include "models/frameworks/deepspeed_config.h"

#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/frameworks/deepspeed_keys.h"
#include "models/scenario/keys.h"
#include "tests/scenario/small_scenario.h"

namespace zerosim {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// The small scenario, eight ranks and hidden 64, with `config` in place of zero's keys.
std::string WithConfig() {
  return Small("  stage: 3\n", "  deepspeed_config: ds.json\n");
}

ReadResult ReadWith(const std::string& config, const std::vector<Override>& set = {}) {
  return ReadSmall(WithConfig(), set, {{"ds.json", config}});
}

std::string ErrorWith(const std::string& config, const std::vector<Override>& set = {}) {
  return ErrorOf(WithConfig(), set, {{"ds.json", config}});
}

// `zero` as the section zero_optimization of a configuration in fp16.
std::string Zero(const std::string& zero) {
  return R"({"fp16": {"enabled": true}, "zero_optimization": {)" + zero + "}}";
}

TEST(DeepSpeedConfig, GivesTheKeysOfZeroAndTraining) {
  const Scenario s = ReadWith(R"({
    "train_batch_size": 64, "train_micro_batch_size_per_gpu": 4, "gradient_accumulation_steps": 2,
    "bf16": {"enabled": true},
    "zero_optimization": {
      "stage": 3, "overlap_comm": false, "contiguous_gradients": true,
      "reduce_bucket_size": 1e7, "stage3_prefetch_bucket_size": 2e7,
      "stage3_param_persistence_threshold": 3e4, "stage3_max_live_parameters": 4000000000.0,
      "stage3_max_reuse_distance": 5, "zero_hpz_partition_size": 4,
      "zero_quantized_weights": true, "zero_quantized_gradients": true}})")
                         .scenario;

  EXPECT_EQ(s.training.global_batch_size, 64);
  EXPECT_EQ(s.training.micro_batch_size, 4);
  EXPECT_EQ(s.training.gradient_accumulation_steps, 2);
  EXPECT_EQ(s.training.precision, Precision::kBf16);
  EXPECT_EQ(s.training.sequence_length, 128);
  ZeroConfig expected;
  expected.stage = 3;
  expected.overlap_comm = false;
  expected.reduce_bucket_size = 10'000'000;
  expected.prefetch_bucket_size = 20'000'000;
  expected.param_persistence_threshold = 30'000;
  expected.max_live_parameters = 4'000'000'000;
  expected.max_reuse_distance = 5;
  expected.secondary_partition_size = 4;
  expected.quantized_weights.emplace();
  expected.quantized_gradients.emplace();
  EXPECT_EQ(s.zero, expected);
}

TEST(DeepSpeedConfig, HasDeepSpeedsDefaults) {
  EXPECT_EQ(ReadWith(Zero("")).scenario.zero, ZeroConfig{});
  EXPECT_EQ(ReadWith(R"({"fp16": {"enabled": true}})").scenario.zero.stage, 0);
  EXPECT_EQ(
      ReadWith(R"({"fp16": {"enabled": true}, "zero_optimization": true})").scenario.zero.stage, 1);
}

TEST(DeepSpeedConfig, TakesOldNames) {
  const ZeroConfig zero =
      ReadWith(Zero(R"("stage": 3, "max_live_parameters": 0, "max_reuse_distance": 1,
                       "prefetch_bucket_size": 2, "param_persistence_threshold": 3,
                       "gather_16bit_weights_on_model_save": false)"))
          .scenario.zero;

  EXPECT_EQ(zero.max_live_parameters, 0);
  EXPECT_EQ(zero.max_reuse_distance, 1);
  EXPECT_EQ(zero.prefetch_bucket_size, 2);
  EXPECT_EQ(zero.param_persistence_threshold, 3);
  EXPECT_EQ(ReadWith(R"({"bfloat16": {"enabled": true}})").scenario.training.precision,
            Precision::kBf16);
  EXPECT_THAT(ErrorWith(Zero("\"stage\": 3,\n\"max_live_parameters\": 1,\n"
                             "\"stage3_max_live_parameters\": 2")),
              HasSubstr("ds.json:3:31: error: zero_optimization.stage3_max_live_parameters: also "
                        "given as max_live_parameters (line 2); leave one out\n"));
}

TEST(DeepSpeedConfig, ReadsOffload) {
  const auto read = [](const std::string& zero, std::vector<Override> set = {}) {
    set.push_back({"cluster.node.host_memory_bandwidth", "100 GB/s"});
    return ReadSmall(Small("  stage: 3\n", "  deepspeed_config: ds.json\n"), set,
                     {{"ds.json", Zero(zero)}});
  };
  const std::string both = R"("stage": 3,
"offload_optimizer": {"device": "cpu", "pin_memory": true, "ratio": 0.3, "nvme_path": "/x"},
"offload_param": {"device": "cpu"})";
  EXPECT_EQ(read(both).scenario.zero.offload, (OffloadConfig{.optimizer = true,
                                                             .optimizer_ratio = 0.3,
                                                             .optimizer_pinned = true,
                                                             .parameters = true}));
  EXPECT_THAT(read(both).notes,
              ElementsAre("ds.json:2:74: note: zero_optimization.offload_optimizer.nvme_path: no "
                          "effect on a step: it is about NVMe"));
  EXPECT_EQ(read(R"("stage": 2, "cpu_offload": true)").scenario.zero.offload,
            OffloadConfig{.optimizer = true});
  EXPECT_EQ(read(R"("stage": 3, "offload_param": {"device": "none", "pin_memory": true})")
                .scenario.zero.offload,
            OffloadConfig{});
  // The scenario's own keys win.
  EXPECT_EQ(read(both, {{"zero.offload_param.device", "none"}}).scenario.zero.offload.parameters,
            false);
}

TEST(DeepSpeedConfig, ReadsQuantisedFrozenWeights) {
  const ReadResult read =
      ReadSmall(Small("  stage: 3\n", "  deepspeed_config: ds.json\n"), {{"training.lora", "true"}},
                {{"ds.json", Zero(R"("stage": 3, "zero_quantized_nontrainable_weights": true)")}});
  ASSERT_TRUE(read.scenario.model.lora);
  EXPECT_EQ(read.scenario.model.lora->frozen_bits, 8);
}

TEST(DeepSpeedConfig, LetsTheScenarioWin) {
  const std::string text =
      Small("  stage: 3\n", "  deepspeed_config: ds.json\n  reduce_bucket_size: 7\n  stage: 2\n");
  const ReadResult read =
      ReadSmall(text, {{"training.micro_batch_size", "2"}},
                {{"ds.json", R"({"fp16": {"enabled": true}, "train_micro_batch_size_per_gpu": 4,
"zero_optimization": {"stage": 3,
"reduce_bucket_size": 7}})"}});

  EXPECT_EQ(read.scenario.zero.stage, 2);
  EXPECT_EQ(read.scenario.zero.reduce_bucket_size, 7);
  EXPECT_EQ(read.scenario.training.micro_batch_size, 2);
  EXPECT_THAT(read.warnings,
              ElementsAre("ds.json:1:29: warning: train_micro_batch_size_per_gpu: 4 here; "
                          "training.micro_batch_size 2 (--set training.micro_batch_size=2) wins",
                          "ds.json:2:23: warning: zero_optimization.stage: 3 here; zero.stage 2 "
                          "(s.yaml:12:10) wins"));
}

TEST(DeepSpeedConfig, ResolvesAutoAsTheHuggingFaceIntegrationDoes) {
  const std::string sizes = R"("reduce_bucket_size": "auto", "stage3_prefetch_bucket_size": "auto",
      "stage3_param_persistence_threshold": "auto")";
  const ReadResult read = ReadWith(Zero("\"stage\": 3,\n" + sizes));

  EXPECT_EQ(read.scenario.zero.reduce_bucket_size, 64 * 64);
  EXPECT_EQ(read.scenario.zero.prefetch_bucket_size, 3686);  // 3686.4, cut
  EXPECT_EQ(read.scenario.zero.param_persistence_threshold, 640);
  ASSERT_EQ(read.notes.size(), 3U);
  EXPECT_EQ(read.notes[0],
            "ds.json:2:1: note: zero_optimization.reduce_bucket_size: auto is hidden^2 = 4096 with "
            "hidden 64, as in the Hugging Face integration");

  // Below stage 3 it fills in the bucket alone; DeepSpeed leaves "auto" at its default.
  const ReadResult stage2 = ReadWith(Zero("\"stage\": 2,\n" + sizes));
  EXPECT_EQ(stage2.scenario.zero.reduce_bucket_size, 64 * 64);
  EXPECT_EQ(stage2.scenario.zero.prefetch_bucket_size, ZeroConfig{}.prefetch_bucket_size);
}

TEST(DeepSpeedConfig, LeavesOtherAutoAtItsDefault) {
  const ReadResult read = ReadWith(
      Zero("\"stage\": 3, \"offload_param\": {\"device\": \"auto\"},\n\"overlap_comm\": \"auto\""));

  EXPECT_EQ(read.scenario.zero.overlap_comm, std::nullopt);
  EXPECT_THAT(read.notes,
              ElementsAre("ds.json:1:81: note: zero_optimization.offload_param.device: auto is "
                          "DeepSpeed's default",
                          "ds.json:2:1: note: zero_optimization.overlap_comm: auto is DeepSpeed's "
                          "default"));
}

TEST(DeepSpeedConfig, TakesAutoBatchAndPrecisionFromTraining) {
  const ReadResult read = ReadWith(R"({
"train_batch_size": "auto", "train_micro_batch_size_per_gpu": "auto",
"gradient_accumulation_steps": "auto", "fp16": {"enabled": "auto"}, "bf16": {"enabled": "auto"}})",
                                   {{"training.micro_batch_size", "3"},
                                    {"training.gradient_accumulation_steps", "5"},
                                    {"training.precision", "bf16"}});

  EXPECT_EQ(read.scenario.training.micro_batch_size, 3);
  EXPECT_EQ(read.scenario.training.gradient_accumulation_steps, 5);
  EXPECT_EQ(read.scenario.training.precision, Precision::kBf16);
  EXPECT_THAT(read.notes, ElementsAre("ds.json:2:29: note: train_micro_batch_size_per_gpu: auto is "
                                      "training.micro_batch_size, 3",
                                      "ds.json:3:1: note: gradient_accumulation_steps: auto is "
                                      "training.gradient_accumulation_steps, 5"));
}

struct BatchCase {
  const char* name;
  const char* keys;
  std::int64_t micro;
  int steps;
};

class BatchTest : public testing::TestWithParam<BatchCase> {};

// On eight ranks.
TEST_P(BatchTest, AnyTwoGiveTheThird) {
  const TrainingSpec training =
      ReadWith(fmt::format(R"({{"fp16": {{"enabled": true}}, {}}})", GetParam().keys))
          .scenario.training;

  EXPECT_EQ(training.micro_batch_size, GetParam().micro);
  EXPECT_EQ(training.gradient_accumulation_steps, GetParam().steps);
}

INSTANTIATE_TEST_SUITE_P(
    DeepSpeedConfig, BatchTest,
    testing::Values(
        BatchCase{"Micro", R"("train_micro_batch_size_per_gpu": 2)", 2, 1},
        BatchCase{"Train", R"("train_batch_size": 32)", 4, 1},
        BatchCase{"TrainAndMicro", R"("train_batch_size": 96, "train_micro_batch_size_per_gpu": 2)",
                  2, 6},
        BatchCase{"TrainAndSteps", R"("train_batch_size": 96, "gradient_accumulation_steps": 2)", 6,
                  2},
        BatchCase{"MicroAndSteps",
                  R"("train_micro_batch_size_per_gpu": 2, "gradient_accumulation_steps": 3)", 2, 3},
        BatchCase{"All",
                  R"("train_batch_size": 48, "train_micro_batch_size_per_gpu": 2,
                     "gradient_accumulation_steps": 3)",
                  2, 3}),
    [](const auto& test) { return test.param.name; });

TEST(DeepSpeedConfig, RefusesABatchThatDoesNotGoWithTheRanks) {
  EXPECT_THAT(ErrorWith(R"({"fp16": {"enabled": true},
"train_batch_size": 32,
"train_micro_batch_size_per_gpu": 2,
"gradient_accumulation_steps": 3})"),
              HasSubstr("ds.json:2:21: error: train_batch_size: expected "
                        "train_micro_batch_size_per_gpu 2 (line 3) x gradient_accumulation_steps 3 "
                        "(line 4) x 8 ranks, got 32\n"));
  EXPECT_THAT(ErrorWith(R"({"fp16": {"enabled": true},
"train_batch_size": 20, "gradient_accumulation_steps": 2})"),
              HasSubstr("ds.json:2:21: error: train_batch_size: expected a multiple of "
                        "gradient_accumulation_steps 2 x 8 ranks, got 20\n"));
  EXPECT_THAT(ErrorWith(R"({"fp16": {"enabled": true}, "train_batch_size": 0})"),
              HasSubstr("train_batch_size: expected at least 1, got 0"));
}

TEST(DeepSpeedConfig, DropsATrainBatchSizeThatTheScenarioOverrides) {
  const ReadResult read = ReadWith(
      R"({"fp16": {"enabled": true}, "train_batch_size": 32, "gradient_accumulation_steps": 2})",
      {{"training.micro_batch_size", "4"}});

  EXPECT_EQ(read.scenario.training.global_batch_size, std::nullopt);
  EXPECT_THAT(read.warnings,
              ElementsAre("ds.json:1:49: warning: train_batch_size: 32 does not hold; the "
                          "scenario's training section wins: train_micro_batch_size_per_gpu 4 "
                          "(--set training.micro_batch_size=4) x gradient_accumulation_steps 2 x 8 "
                          "ranks"));
}

TEST(DeepSpeedConfig, TellsHowGradientsAreSummed) {
  const auto collective = [](const std::string& keys) {
    return ReadWith(Zero(keys)).scenario.zero.collective();
  };
  using enum GradientCollective;
  EXPECT_EQ(collective(R"("stage": 3)"), kReduceScatter);
  EXPECT_EQ(collective(R"("stage": 3, "reduce_scatter": false)"), kAllReduce);
  EXPECT_EQ(collective(R"("stage": 2)"), kAllReduce);
  EXPECT_EQ(collective(R"("stage": 2, "use_multi_rank_bucket_allreduce": false)"), kReduceScatter);
  EXPECT_EQ(collective(
                R"("stage": 1, "use_multi_rank_bucket_allreduce": false, "reduce_scatter": false)"),
            kAllReduce);
}

TEST(DeepSpeedConfig, KeepsGradientsInFp32) {
  const std::string types =
      R"({"fp16": {"enabled": true}, "data_types": {"grad_accum_dtype": "fp32"},
"zero_optimization": {"stage": )";
  EXPECT_EQ(ReadWith(types + "2}}").scenario.zero.gradient_precision, GradientPrecision::kFp32);
  EXPECT_THAT(ErrorWith(types + "1}}"),
              HasSubstr("data_types.grad_accum_dtype: gradients in fp32 are modelled as "
                        "DeepSpeed's in stages 2 and 3 only, not in stage 1"));
}

TEST(DeepSpeedConfig, ReadsTheShardsOfMics) {
  const ReadResult read = ReadWith(
      Zero(R"("stage": 3, "mics_shard_size": 4, "mics_hierarchical_params_gather": true)"));
  EXPECT_EQ(read.scenario.zero.shard_size, 4);
  EXPECT_THAT(read.notes, ElementsAre(HasSubstr(
                              "note: zero_optimization.mics_hierarchical_params_gather: gathers "
                              "between nodes, then in the node, are simulated as one all-gather")));

  const ReadResult off = ReadWith(
      Zero(R"("stage": 3, "mics_shard_size": -1, "mics_hierarchical_params_gather": false)"));
  EXPECT_EQ(off.scenario.zero.shard_size, 0);
  EXPECT_THAT(off.notes, IsEmpty());

  const ReadResult idle = ReadWith(
      Zero(R"("stage": 2, "mics_shard_size": 4, "mics_hierarchical_params_gather": true)"));
  EXPECT_EQ(idle.scenario.zero.shard_size, 0);
  EXPECT_THAT(idle.notes,
              ElementsAre(HasSubstr("zero_optimization.mics_shard_size: no effect in stage 2"),
                          HasSubstr("no effect without mics_shard_size in stage 3")));
}

// Ranks that share samples are one of DeepSpeed's data-parallel ranks.
TEST(DeepSpeedConfig, CountsBatchesByRanksWithSamplesOfTheirOwn) {
  const ReadResult read =
      ReadWith(R"({"fp16": {"enabled": true}, "train_batch_size": 16, "zero_optimization": {}})",
               {{"parallelism", "{tensor: 2, context: 2}"}});

  EXPECT_EQ(read.scenario.sample_ranks(), 2);
  EXPECT_EQ(read.scenario.training.micro_batch_size, 8);
}

struct RefusedCase {
  const char* name;
  const char* config;  // all of it, or keys of zero_optimization
  const char* what;
};

class RefusedTest : public testing::TestWithParam<RefusedCase> {};

TEST_P(RefusedTest, NamesTheKey) {
  const std::string config = GetParam().config;
  EXPECT_THAT(ErrorWith(config.starts_with('{') ? config : Zero(config)),
              HasSubstr(GetParam().what));
}

INSTANTIATE_TEST_SUITE_P(
    DeepSpeedConfig, RefusedTest,
    testing::Values(
        RefusedCase{"OffloadParam", R"("stage": 3, "offload_param": {"device": "nvme"})",
                    "zero_optimization.offload_param.device: offload to nvme is not modelled"},
        RefusedCase{"OffloadDevice", R"("stage": 1, "offload_optimizer": {"device": "tpu"})",
                    "zero_optimization.offload_optimizer.device: expected cpu or none, got"},
        RefusedCase{"OffloadRatio",
                    R"("stage": 3, "offload_optimizer": {"device": "cpu", "ratio": 2})",
                    "zero_optimization.offload_optimizer.ratio: expected a number from 0 to 1"},
        RefusedCase{"SuperOffload",
                    R"("stage": 3, "offload_optimizer": {"device": "cpu", "super_offload": true})",
                    "zero_optimization.offload_optimizer.super_offload: SuperOffload is not"},
        RefusedCase{"Mics", R"("stage": 3, "mics_shard_size": 9000000000)",
                    "zero_optimization.mics_shard_size: expected a whole number from 1 to"},
        RefusedCase{"Loco", R"("stage": 3, "zeropp_loco_param": {"err_beta": 0.8, "reset_T": 9})",
                    "zero_optimization.zeropp_loco_param: LoCo's"},
        RefusedCase{"Broadcasts", R"("stage": 1, "allgather_partitions": false)",
                    "zero_optimization.allgather_partitions: gathering updated weights by"},
        RefusedCase{"PersistenceLimit", R"("stage": 3, "stage3_model_persistence_threshold": 1e9)",
                    "zero_optimization.stage3_model_persistence_threshold: a limit"},
        RefusedCase{"LeafModules", R"("stage": 3, "stage3_module_granularity_threshold": 5)",
                    "zero_optimization.stage3_module_granularity_threshold: leaf modules"},
        RefusedCase{"Fp32OnTheWire",
                    R"({"fp16": {"enabled": true}, "communication_data_type": "fp32"})",
                    "communication_data_type: sending gradients in fp32 is not modelled"},
        RefusedCase{"Prescale",
                    R"({"fp16": {"enabled": true}, "prescale_gradients": true,
                        "zero_optimization": {"stage": 2}})",
                    "prescale_gradients: DeepSpeed refuses it in stage 2 with reduce_scatter"},
        RefusedCase{"Predivide",
                    R"({"fp16": {"enabled": true}, "gradient_predivide_factor": 2.0,
                        "zero_optimization": {"stage": 3}})",
                    "gradient_predivide_factor: DeepSpeed refuses it in stage 3"},
        RefusedCase{"TwoPrecisions", R"({"fp16": {"enabled": true}, "bf16": {"enabled": true}})",
                    "bf16.enabled: fp16 is enabled too (line 1), which DeepSpeed refuses"},
        RefusedCase{
            "Fp32", R"({"zero_optimization": {"stage": 3}})",
            "ds.json:1:1: error: neither fp16 nor bf16 is enabled; DeepSpeed then trains in "
            "fp32"},
        RefusedCase{"Lion", R"({"fp16": {"enabled": true}, "optimizer": {"type": "Lion"}})",
                    "optimizer.type: only Adam's states"},
        RefusedCase{"Autocast",
                    R"({"fp16": {"enabled": true}, "torch_autocast": {"enabled": true}})",
                    "torch_autocast: weights stay fp32"},
        RefusedCase{"TensorParallel",
                    R"({"fp16": {"enabled": true}, "tensor_parallel": {"autotp_size": 4}})",
                    "tensor_parallel: the degree of tensor parallelism is not read from here"},
        RefusedCase{"UnknownInZero", R"("stage": 3, "stage3_max_live_parameter": 5)",
                    "zero_optimization.stage3_max_live_parameter: no such key, which DeepSpeed "
                    "refuses too; did you mean \"stage3_max_live_parameters\"?"},
        RefusedCase{"UnknownInOffload", R"("offload_param": {"devise": "none"})",
                    "zero_optimization.offload_param.devise: no such key, which DeepSpeed refuses "
                    "too; did you mean \"device\"?"},
        RefusedCase{"NoSection", R"({"fp16": true})", "fp16: expected a section, got \"true\""},
        RefusedCase{"NoFlag", R"("overlap_comm": "perhaps")",
                    "zero_optimization.overlap_comm: expected true or false, got \"perhaps\""},
        RefusedCase{"NoCount", R"("stage": 3, "reduce_bucket_size": -1)",
                    "zero_optimization.reduce_bucket_size: expected a whole number, got \"-1\""},
        RefusedCase{
            "OutOfRange", R"("stage": 4)",
            "ds.json:1:60: error: zero_optimization.stage: expected a whole number from 0 to "
            "3, got \"4\""},
        RefusedCase{"EmptyBucket", R"("stage": 3, "reduce_bucket_size": 0)",
                    "zero_optimization.reduce_bucket_size: expected a whole number from 1 to "}),
    [](const auto& test) { return test.param.name; });

TEST(DeepSpeedConfig, TakesWhatAsksForNothing) {
  const ReadResult read = ReadWith(R"({
    "fp16": {"enabled": false}, "bf16": {"enabled": true}, "amp": {"enabled": false},
    "communication_data_type": null, "prescale_gradients": false, "gradient_predivide_factor": 1.0,
    "gradient_clipping": 0.0, "wall_clock_breakdown": false, "tensor_parallel": {"autotp_size": 1},
    "sparse_gradients": false, "sequence_parallel_size": 1, "optimizer": {"type": "AdamW"},
    "zero_optimization": {"stage": 3, "offload_param": {"device": "none"},
      "offload_optimizer": null, "cpu_offload": false, "mics_shard_size": -1,
      "zeropp_loco_param": null, "stage3_module_granularity_threshold": 0,
      "stage3_model_persistence_threshold": 9223372036854775807, "zero_hpz_partition_size": 0,
      "leaf_module": {}}})");

  EXPECT_THAT(read.warnings, IsEmpty());
  EXPECT_THAT(read.notes, IsEmpty());
  ZeroConfig expected;
  expected.stage = 3;
  EXPECT_EQ(read.scenario.zero, expected);
}

TEST(DeepSpeedConfig, SaysWhichKeysHaveNoEffectAndWhy) {
  const ReadResult read = ReadWith(R"({"fp16": {"enabled": true},
"steps_per_print": 10, "gradient_clipping": 1.0, "wall_clock_breakdown": true,
"zero_optimization": {"stage": 3,
"stage3_gather_16bit_weights_on_model_save": true, "allgather_bucket_size": 5e8},
"my_key": 1})");

  EXPECT_THAT(
      read.notes,
      ElementsAre("ds.json:2:1: note: steps_per_print, wall_clock_breakdown: no effect on a step: "
                  "it is about logging",
                  "ds.json:2:24: note: gradient_clipping: no effect on a step: a pass over the "
                  "gradient shard and a sum of one number are part of "
                  "cluster.calibration.optimizer_fixed",
                  "ds.json:4:1: note: "
                  "zero_optimization.stage3_gather_16bit_weights_on_model_save: no effect on a "
                  "step: it acts when the model is saved"));
  EXPECT_THAT(
      read.warnings,
      ElementsAre("ds.json:4:52: warning: zero.allgather_bucket_size: no effect in stage 3; "
                  "it belongs to stages 1 and 2",
                  "ds.json:5:1: warning: my_key: no such key, which DeepSpeed ignores"));
}

TEST(DeepSpeedConfig, IsFoundBesideTheFileThatNamesIt) {
  const std::string config = Zero(R"("stage": 2)");
  const std::map<std::string, std::string> files = {
      {"other/base.yaml", WithConfig()}, {"other/ds.json", config}, {"ds.json", "{"}};

  EXPECT_EQ(ReadSmall("include: other/base.yaml\n", {}, files).scenario.zero.stage, 2);
  EXPECT_EQ(ReadSmall(SmallScenario(), {{"zero.deepspeed_config", "other/ds.json"}}, files)
                .scenario.zero.stage,
            3);  // the scenario's own
  EXPECT_THAT(ErrorOf(WithConfig()), HasSubstr("s.yaml:10:21: error: zero.deepspeed_config: "
                                               "ds.json: no such file\n"));
  EXPECT_THAT(ErrorOf(SmallScenario(), {{"zero.deepspeed_config", "{a: 1}"}}),
              HasSubstr("zero.deepspeed_config: expected the name of a file, got a section"));
}

TEST(DeepSpeedConfig, LeavesWhatIsMissingToTheScenario) {
  EXPECT_EQ(
      ErrorOf(Small("training:\n  sequence_length: 128\n", "") + "  deepspeed_config: ds.json\n",
              {}, {{"ds.json", Zero("")}}),
      "s.yaml:1:1: error: training.sequence_length: missing; expected a whole number from 1 "
      "to 16777216\n"
      "  name: small\n"
      "  ^\n");
}

TEST(DeepSpeedKeys, AreUniqueAndExplained) {
  std::map<std::string, int> names;
  for (const DeepSpeedKey& key : DeepSpeedKeys()) {
    ++names[std::string(key.path)];
    EXPECT_EQ(key.use == DeepSpeedUse::kRead, key.why.empty()) << key.path;
    EXPECT_TRUE(key.zero_key.empty() || FindKey(fmt::format("zero.{}", key.zero_key)) != nullptr)
        << key.path;
  }
  for (const auto& [name, count] : names) EXPECT_EQ(count, 1) << name;
}

}  // namespace
}  // namespace zerosim
