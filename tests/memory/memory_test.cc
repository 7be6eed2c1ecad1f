#include "models/memory/memory.h"

#include <algorithm>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace zerosim {
namespace {

constexpr double kMebibyte = 1024.0 * 1024.0;

double Mebibytes(Bytes bytes) {
  return static_cast<double>(bytes.count()) / kMebibyte;
}

TransformerSpec Gpt18B() {
  return {.name = "gpt_18b",
          .layers = 40,
          .hidden = 6144,
          .heads = 32,
          .kv_heads = 32,
          .ffn_hidden = std::int64_t{4} * 6144,
          .vocabulary = 50304,
          .max_positions = 512};
}

// 18B on 4 nodes x 16 V100, as in the tutorial of ZeRO++ (deepspeed.ai/tutorials/zeropp).
Scenario Tutorial() {
  Scenario scenario;
  scenario.model = Gpt18B();
  scenario.cluster.nodes = 4;
  scenario.cluster.node.gpus = 16;
  scenario.training.sequence_length = 512;
  scenario.training.checkpointing = Checkpointing::kFull;
  scenario.zero.stage = 3;
  scenario.zero.reduce_bucket_size = 10'000'000;
  return scenario;
}

// A model of exactly `parameters`, all in one matrix that 64 ranks divide.
ModelLayout OneMatrix(std::int64_t parameters) {
  ModelLayout layout;
  layout.weights.push_back({.name = "matrix", .rows = parameters / 1000, .columns = 1000});
  return layout;
}

struct PaperRow {
  const char* name;
  int stage;
  double gigabytes;
};

class ZeroPaper : public ::testing::TestWithParam<PaperRow> {};

// arXiv 1910.02054, figure 1: 7.5e9 parameters, 64 ranks, K = 12 bytes of optimizer states.
TEST_P(ZeroPaper, StatesOfEachStageForSevenAndAHalfBillionParametersOn64Ranks) {
  Scenario scenario = Tutorial();
  scenario.zero.stage = GetParam().stage;

  const StaticMemory memory = StaticMemoryOf(scenario, OneMatrix(7'500'000'000));

  EXPECT_NEAR(memory.allocated().gigabytes(), GetParam().gigabytes, 1e-6);
}

INSTANTIATE_TEST_SUITE_P(Figure1, ZeroPaper,
                         ::testing::Values(PaperRow{"Stage0", 0, 120.0},
                                           PaperRow{"Stage1", 1, 31.40625},
                                           PaperRow{"Stage2", 2, 16.640625},
                                           PaperRow{"Stage3", 3, 1.875}),
                         [](const auto& row) { return row.param.name; });

struct BucketRow {
  const char* name;
  bool contiguous_gradients;
  bool overlap_comm;
  std::int64_t bucket;
  double measured_mb;
};

class Zero2Buffers : public ::testing::TestWithParam<BucketRow> {};

// DeepSpeed issue 1302, comment of 2023-01-09: one model, ZeRO-2, MB as nvidia-smi prints them
// (MiB). The base is the row without contiguous gradients; 0.02 % of 21152 is 4 MB.
TEST_P(Zero2Buffers, ExplainWhatContiguousGradientsOverlapAndBucketCost) {
  const double base = 19247;
  Scenario scenario = Tutorial();
  scenario.zero.stage = 2;
  scenario.zero.contiguous_gradients = GetParam().contiguous_gradients;
  scenario.zero.overlap_comm = GetParam().overlap_comm;
  scenario.zero.reduce_bucket_size = GetParam().bucket;

  const StaticMemory memory = StaticMemoryOf(scenario, OneMatrix(1'000'000));

  EXPECT_NEAR(base + Mebibytes(memory.buffers), GetParam().measured_mb, 4);
}

INSTANTIATE_TEST_SUITE_P(
    Issue1302, Zero2Buffers,
    ::testing::Values(BucketRow{"Overlapped500M", true, true, 500'000'000, 21152},
                      BucketRow{"Unscattered500M", true, true, 500'000'000, 21152},
                      BucketRow{"Single500M", true, false, 500'000'000, 20198},
                      BucketRow{"Overlapped100M", true, true, 100'000'000, 19625},
                      BucketRow{"Overlapped10M", true, true, 10'000'000, 19284},
                      BucketRow{"ScatteredOverlapped", false, true, 500'000'000, 19247},
                      BucketRow{"Scattered", false, false, 10'000'000, 19247}),
    [](const auto& row) { return row.param.name; });

// DeepSpeed's estimators of model states (estimate_zero2_model_states_mem_needs, .../stage3.py), of
// P parameters on n nodes of g GPUs; L: the largest layer's. The factor 1.5 of the host's memory is
// theirs ("additional_buffer_factor").
struct Estimate {
  double gpu = 0;
  double cpu = 0;
};

constexpr double kCpuFactor = 1.5;

Estimate EstimateZero2(double parameters, int nodes, int gpus, bool offload) {
  if (offload) {
    return {2 * parameters, parameters * std::max(4 * nodes * gpus, 16) * kCpuFactor};
  }
  // The code says 2 P + 18 P / W since 2022; its documentation still prints this.
  return {4 * parameters + 16 * parameters / (nodes * gpus), parameters * 4 * gpus * kCpuFactor};
}

Estimate EstimateZero3(double parameters, double layer, int nodes, int gpus, bool offload_optimizer,
                       bool offload_param, bool zero_init) {
  const double world = nodes * gpus;
  if (!offload_optimizer) {
    return {4 * layer + 18 * parameters / world,
            (zero_init ? layer * 4 : parameters * 4) * gpus * kCpuFactor};
  }
  const double host = offload_param ? 18.0 : 16.0;
  return {
      4 * layer + (offload_param ? 0 : 2 * parameters / world),
      parameters * (zero_init ? host / nodes : std::max(4.0 * gpus, host / nodes)) * kCpuFactor};
}

constexpr double kGibibyte = 1024.0 * 1024 * 1024;

// What DeepSpeed's documentation prints (docs/code-docs/source/memory.rst) for t5-3b, 2851M
// parameters with a largest layer of 32M, on 8 GPUs, and for t5-large on 4.
TEST(DeepSpeedEstimator, IsUnderstood) {
  const double p = 2851e6;
  const double l = 32e6;
  const auto expect = [](Estimate estimate, double gpu_gib, double cpu_gib) {
    EXPECT_NEAR(estimate.gpu / kGibibyte, gpu_gib, 0.01);
    EXPECT_NEAR(estimate.cpu / kGibibyte, cpu_gib, 0.1);
  };
  expect(EstimateZero3(p, l, 1, 8, false, false, true), 6.09, 1.43);
  expect(EstimateZero3(p, l, 1, 8, true, false, true), 0.78, 63.72);
  expect(EstimateZero3(p, l, 1, 8, true, true, true), 0.12, 71.69);
  expect(EstimateZero3(p, l, 1, 8, false, false, false), 6.09, 127.45);
  expect(EstimateZero2(p, 1, 8, false), 15.93, 127.45);
  expect(EstimateZero2(p, 1, 8, true), 5.31, 127.45);
  EXPECT_NEAR(EstimateZero3(737.67e6, 32.90e6, 1, 4, false, false, true).gpu / kMebibyte, 3291, 1);
}

Scenario OnEight(int stage, OffloadConfig offload) {
  Scenario scenario = Tutorial();
  scenario.cluster.nodes = 1;
  scenario.cluster.node.gpus = 8;
  scenario.zero.stage = stage;
  scenario.zero.contiguous_gradients = false;
  scenario.zero.offload = offload;
  return scenario;
}

// On the GPU the states agree with the estimator, which adds 4 L for a layer at work (here part of
// the step) and, in stage 3 without offload, 2 P / W that the states do not have.
TEST(StaticMemory, WithOffloadIsWhatDeepSpeedEstimatesForTheGpu) {
  const std::int64_t p = 2'851'000'000;
  const auto states = [&](int stage, OffloadConfig offload) {
    const StaticMemory memory = StaticMemoryOf(OnEight(stage, offload), OneMatrix(p));
    return static_cast<double>(memory.allocated().count());
  };
  const auto real = static_cast<double>(p);
  const OffloadConfig all = {.optimizer = true, .parameters = true};

  EXPECT_EQ(states(3, {}) + 2 * real / 8, EstimateZero3(real, 0, 1, 8, false, false, true).gpu);
  EXPECT_EQ(states(3, {.optimizer = true}), EstimateZero3(real, 0, 1, 8, true, false, true).gpu);
  EXPECT_EQ(states(3, all), EstimateZero3(real, 0, 1, 8, true, true, true).gpu);
  EXPECT_EQ(states(2, {.optimizer = true}), EstimateZero2(real, 1, 8, true).gpu);
  // Parameters and gradients in full, of which stage 1 offloads none.
  EXPECT_EQ(states(1, {.optimizer = true}), 4 * real);
}

// A parameter on the host: 12 bytes of states, 4 of their gradient, 2 of gradients that are summed,
// 2 of the weight. The estimator counts 16 and 18, times 1.5.
TEST(StaticMemory, CountsWhatOffloadPutsOnTheHost) {
  const std::int64_t p = 2'851'000'000;
  const auto host = [&](const Scenario& scenario) {
    return StaticMemoryOf(scenario, OneMatrix(p)).host.count();
  };
  const OffloadConfig all = {.optimizer = true, .parameters = true};
  Scenario part = OnEight(3, {.optimizer = true, .optimizer_ratio = 0.5});

  EXPECT_EQ(host(OnEight(3, {})), 0);
  EXPECT_EQ(host(OnEight(3, {.optimizer = true})), 18 * p / 8);
  EXPECT_EQ(host(OnEight(3, all)), 20 * p / 8);
  EXPECT_EQ(host(part), (16 / 2 + 2) * p / 8);
  EXPECT_EQ(StaticMemoryOf(part, OneMatrix(p)).optimizer.count(), 12 * p / 16);
  EXPECT_EQ(host(OnEight(2, {.optimizer = true})), 16 * p / 8);
  Scenario accumulating = OnEight(2, {.optimizer = true});
  accumulating.training.gradient_accumulation_steps = 2;
  EXPECT_EQ(host(accumulating), 18 * p / 8);
  const auto real = static_cast<double>(p);
  for (const bool parameters : {false, true}) {
    const double estimate = EstimateZero3(real, 0, 1, 8, true, parameters, true).cpu / 8;
    const auto ours =
        static_cast<double>(host(OnEight(3, {.optimizer = true, .parameters = parameters})));
    EXPECT_LT(ours, estimate);
    EXPECT_GT(ours, estimate / kCpuFactor);
  }
}

TEST(StaticMemory, OfFsdpWithOffloadIsAllOnTheHost) {
  Scenario scenario = OnEight(3, {});
  scenario.fsdp.emplace();
  const StaticMemory without = StaticMemoryOf(scenario, OneMatrix(8'000'000));
  scenario.fsdp->offload = true;
  const StaticMemory with = StaticMemoryOf(scenario, OneMatrix(8'000'000));

  EXPECT_EQ(with.allocated(), Bytes());
  EXPECT_EQ(with.host, without.allocated());
  EXPECT_EQ(with.host, Bytes::Count(16'000'000));
}

// ZeRO++ (arXiv 2306.10209, section 4.2): hpZ on groups of 16 takes 8.9 times ZeRO-3's states for
// 100B parameters on 1024 GPUs; by the formula 9.0, 2 P / 16 beside 16 P / 1024.
TEST(StaticMemory, OfHpzOn1024GpusIsNineTimesThatOfZero3) {
  Scenario scenario = Tutorial();
  scenario.cluster.nodes = 64;
  const std::int64_t p = 102'400'000'000;
  const Bytes states = StaticMemoryOf(scenario, OneMatrix(p)).allocated();
  const Bytes secondary = Bytes::Count(2 * p / 16);

  EXPECT_EQ(states, Bytes::Count(16 * p / 1024));
  EXPECT_DOUBLE_EQ(Ratio(states + secondary, states), 9.0);
}

// Printed after the optimizer step: 4421.16 MiB. On paper 16 P / 64 = 4395.4, persistent vectors
// 2 * (40 * 13 + 2) * 6144 = 6.1 and the gradient bucket 2 * 1e7 = 19.1 MiB.
TEST(StaticMemory, MeetsWhatTheZeroPlusPlusTutorialPrintsAfterAStep) {
  const Scenario scenario = Tutorial();

  const StaticMemory memory = StaticMemoryOf(scenario, Layout(scenario.model));

  EXPECT_NEAR(Mebibytes(memory.allocated()), 16.0 * 18'434'813'952 / 64 / kMebibyte + 6.1, 0.1);
  EXPECT_NEAR(Mebibytes(memory.allocated() + memory.buffers) / 4421.16, 1, 0.0005);
}

TEST(StaticMemory, KeepsSmallWeightsWholeBesideTheirShards) {
  Scenario scenario = Tutorial();
  const ModelLayout layout = Layout(scenario.model);
  scenario.zero.param_persistence_threshold = 0;
  const StaticMemory without = StaticMemoryOf(scenario, layout);
  scenario.zero.param_persistence_threshold =
      std::int64_t{4} * 6144;  // the longest vector, inclusive

  const StaticMemory with = StaticMemoryOf(scenario, layout);

  EXPECT_EQ(with.parameters - without.parameters,
            Bytes::Count(std::int64_t{2} * (40 * 13 + 2) * 6144));
  EXPECT_EQ(with.gradients, without.gradients);
  EXPECT_EQ(with.optimizer, without.optimizer);
}

// 100 ranks: 2 * ceil(150/100) against 2 * ceil(300/100).
TEST(StaticMemory, PadsEveryWeightByItselfInStage3Only) {
  Scenario scenario = Tutorial();
  scenario.cluster.nodes = 10;
  scenario.cluster.node.gpus = 10;
  scenario.zero.param_persistence_threshold = 0;
  ModelLayout layout;
  layout.weights = {{.name = "a", .rows = 15, .columns = 10}, {.name = "b", .rows = 150}};

  EXPECT_EQ(StaticMemoryOf(scenario, layout).gradients, Bytes::Count(std::int64_t{2} * (2 + 2)));
  scenario.zero.stage = 2;
  EXPECT_EQ(StaticMemoryOf(scenario, layout).gradients, Bytes::Count(std::int64_t{2} * 3));
}

TEST(StaticMemory, ReservesABucketOnceInStage3AndNoneInStage0) {
  Scenario scenario = Tutorial();
  scenario.zero.overlap_comm = true;
  const ModelLayout layout = OneMatrix(1'000'000);

  EXPECT_EQ(StaticMemoryOf(scenario, layout).buffers, Bytes::Count(20'000'000));
  scenario.zero.contiguous_gradients = false;
  EXPECT_EQ(StaticMemoryOf(scenario, layout).buffers, Bytes());
  scenario.zero.contiguous_gradients = true;
  scenario.zero.stage = 0;
  EXPECT_EQ(StaticMemoryOf(scenario, layout).buffers, Bytes());
}

TEST(StaticMemory, CountsACommunicatorForEveryGroup) {
  Scenario scenario = Tutorial();
  const ModelLayout layout = OneMatrix(1'000'000);
  const Bytes world = StaticMemoryOf(scenario, layout).context;
  scenario.zero.secondary_partition_size = 16;
  const Bytes secondary = StaticMemoryOf(scenario, layout).context;
  scenario.zero.quantized_gradients = GradientQuantization{};
  const Bytes quantized = StaticMemoryOf(scenario, layout).context;
  scenario.cluster.nodes = scenario.cluster.node.gpus = 1;
  scenario.zero = {};
  const Bytes alone = StaticMemoryOf(scenario, layout).context;

  EXPECT_EQ(secondary - world, world - alone);
  EXPECT_EQ(quantized - secondary, 2 * (world - alone));
}

// arXiv 2205.05198, equations 1 and 5, table 2: s b h (34 + 5 a s / h) a layer, 34 s b h with the
// attention recomputed, 2 s b h with the layer recomputed.
TEST(ActivationMemory, FollowsKorthikantiForAGptLayer) {
  Scenario scenario = Tutorial();
  scenario.training.micro_batch_size = 3;
  const std::int64_t sbh = std::int64_t{512} * 3 * 6144;
  const std::int64_t scores = std::int64_t{32} * 512 * 512 * 3;

  scenario.training.checkpointing = Checkpointing::kNone;
  EXPECT_EQ(ActivationMemoryOf(scenario).saved_per_layer, Bytes::Count(34 * sbh + 5 * scores));
  scenario.training.checkpointing = Checkpointing::kSelective;
  EXPECT_EQ(ActivationMemoryOf(scenario).saved_per_layer, Bytes::Count(34 * sbh));
  scenario.training.checkpointing = Checkpointing::kFull;
  EXPECT_EQ(ActivationMemoryOf(scenario).saved_per_layer, Bytes::Count(2 * sbh));
  EXPECT_EQ(ActivationMemoryOf(scenario).embedding, Bytes::Count(2 * sbh));
}

// Recomputation brings back what it saved, whatever the mode.
TEST(ActivationMemory, IsTheSameInsideALayerWhateverIsRecomputed) {
  for (const bool gated : {false, true}) {
    Scenario scenario = Tutorial();
    scenario.model.gated_mlp = gated;
    scenario.training.checkpointing = Checkpointing::kNone;
    const ActivationMemory none = ActivationMemoryOf(scenario);
    const Bytes whole = none.saved_per_layer + none.working_per_layer;
    scenario.training.checkpointing = Checkpointing::kSelective;
    const ActivationMemory selective = ActivationMemoryOf(scenario);
    scenario.training.checkpointing = Checkpointing::kFull;
    const ActivationMemory full = ActivationMemoryOf(scenario);

    EXPECT_EQ(selective.saved_per_layer + selective.working_per_layer, whole);
    EXPECT_EQ(full.working_per_layer, whole);
    scenario.training.checkpointing = Checkpointing::kOperators;
    const ActivationMemory operators = ActivationMemoryOf(scenario);
    EXPECT_EQ(operators.saved_per_layer + operators.working_per_layer, whole);
  }
}

// A layer of Llama 3 8B: its input, Q, V, attention's output, gate and MLP out; 4 a for attention.
TEST(ActivationMemory, KeepsEverySecondProductByOperators) {
  Scenario scenario = Tutorial();
  scenario.model = {.name = "llama",
                    .layers = 1,
                    .hidden = 4096,
                    .heads = 32,
                    .kv_heads = 8,
                    .ffn_hidden = 14336,
                    .vocabulary = 128256,
                    .position = Position::kRotary,
                    .gated_mlp = true,
                    .biases = false,
                    .tied_embeddings = false};
  scenario.cluster.node.gpu.attention = {
      {.head_dimension = 128, .rate = FlopsPerSecond::TeraflopsPerSecond(1)}};
  scenario.training.checkpointing = Checkpointing::kOperators;

  EXPECT_EQ(
      ActivationMemoryOf(scenario).saved_per_layer,
      Bytes::Count(scenario.tokens_per_micro_batch() * (2 * (4 * 4096 + 1024 + 14336) + 4 * 32)));
}

// With fused attention a row of scores leaves one fp32 number: 4 a b s bytes.
// A block's input, 2 h bytes a token, over the ranks; the sequence is divided already beside
// sequence parallelism.
TEST(ActivationMemory, DividesPartitionedCheckpoints) {
  Scenario scenario = Tutorial();
  scenario.parallel.tensor = 8;
  scenario.training.partition_checkpoints = true;
  const Bytes input = Bytes::Count(512 * 2 * scenario.model.hidden);

  scenario.training.checkpointing = Checkpointing::kFull;
  EXPECT_EQ(8 * ActivationMemoryOf(scenario).saved_per_layer, input);
  scenario.parallel.sequence_parallel = true;
  EXPECT_EQ(8 * ActivationMemoryOf(scenario).saved_per_layer, input);
  scenario.training.checkpointing = Checkpointing::kNone;
  const Bytes kept = ActivationMemoryOf(scenario).saved_per_layer;
  scenario.training.partition_checkpoints = false;
  EXPECT_EQ(ActivationMemoryOf(scenario).saved_per_layer, kept);
}

TEST(ActivationMemory, KeepsNoScoresWithFusedAttention) {
  Scenario scenario = Tutorial();
  scenario.training.checkpointing = Checkpointing::kNone;
  scenario.cluster.node.gpu.attention = {
      {.head_dimension = 128, .rate = FlopsPerSecond::TeraflopsPerSecond(1)}};
  const std::int64_t fused = 34 * 512 * 6144 + 4 * 32 * 512;

  EXPECT_EQ(ActivationMemoryOf(scenario).saved_per_layer, Bytes::Count(fused));
  scenario.compute.flash_attention = false;
  EXPECT_EQ(ActivationMemoryOf(scenario).saved_per_layer,
            Bytes::Count(34 * 512 * 6144 + 5 * 32 * 512 * 512));
}

// A token of Llama-2-70B: 2 bytes of 5 h (inputs of norms, QKV, projection, MLP), of h + 2 h/8 for
// queries, keys and values, and of 4 * 28672 for the gated MLP; no masks.
TEST(ActivationMemory, CountsGroupedQueriesAndGatedMlps) {
  Scenario scenario = Tutorial();
  scenario.model = {.name = "llama2_70b",
                    .layers = 80,
                    .hidden = 8192,
                    .heads = 64,
                    .kv_heads = 8,
                    .ffn_hidden = 28672,
                    .vocabulary = 32000,
                    .position = Position::kRotary,
                    .gated_mlp = true,
                    .biases = false,
                    .tied_embeddings = false};
  scenario.training.checkpointing = Checkpointing::kSelective;

  const std::int64_t token = std::int64_t{2} * (5 * 8192 + 8192 + 2 * 1024 + 4 * 28672);
  EXPECT_EQ(ActivationMemoryOf(scenario).saved_per_layer, Bytes::Count(512 * token));
}

// The residual's 2 h a token beside the wider of: MLP, 2 bytes of f for GELU's output and input (3
// f gated); attention, 2 bytes of 3 h and of scores after and before softmax.
TEST(ActivationMemory, TakesTheWidestPointOfALayersBackward) {
  Scenario scenario = Tutorial();
  const std::int64_t th = std::int64_t{512} * 6144;
  const std::int64_t scores = std::int64_t{32} * 512 * 512;

  EXPECT_EQ(ActivationMemoryOf(scenario).gradient_per_layer,
            Bytes::Count(2 * th + 6 * th + 4 * scores));
  scenario.model.ffn_hidden = std::int64_t{6} * 6144;
  EXPECT_EQ(ActivationMemoryOf(scenario).gradient_per_layer,
            Bytes::Count(2 * th + std::int64_t{4} * 6 * th));
  scenario.model.gated_mlp = true;
  EXPECT_EQ(ActivationMemoryOf(scenario).gradient_per_layer,
            Bytes::Count(2 * th + std::int64_t{6} * 6 * th));
}

// Three experts of 5 x 7 on 8 ranks: each is padded by itself to 5 a rank, 15 in all and not 14;
// each by itself is held against the threshold.
TEST(StaticMemory, PadsAndKeepsExpertsOneByOne) {
  Scenario scenario = Tutorial();
  scenario.cluster.nodes = 1;
  scenario.cluster.node.gpus = 8;
  scenario.zero.param_persistence_threshold = 34;
  ModelLayout layout;
  layout.weights.push_back({.name = "experts", .rows = 5, .columns = 7, .count = 3});

  EXPECT_EQ(StaticMemoryOf(scenario, layout).parameters, Bytes::Count(2 * 15));
  EXPECT_EQ(StaticMemoryOf(scenario, layout).optimizer, Bytes::Count(12 * 15));
  scenario.zero.param_persistence_threshold = 35;
  EXPECT_EQ(StaticMemoryOf(scenario, layout).parameters, Bytes::Count(2 * 15 + 2 * 105));
}

TransformerSpec Small() {
  return {.name = "small",
          .layers = 2,
          .hidden = 64,
          .heads = 4,
          .kv_heads = 2,
          .ffn_hidden = 96,
          .vocabulary = 1000,
          .position = Position::kRotary,
          .gated_mlp = true,
          .biases = false};
}

std::int64_t SavedPerToken(const TransformerSpec& model, bool experts = false) {
  Scenario scenario = Tutorial();
  scenario.training.checkpointing = Checkpointing::kSelective;
  scenario.model = model;
  return ActivationMemoryOf(scenario, experts).saved_per_layer.count() / 512;
}

// Beside the MLP of the same width: a copy for the expert and its output, 2 * 2 * 64, and the
// probability of one expert, 4.
TEST(ActivationMemory, OfOneExpertIsThatOfTheMlpAndItsCopies) {
  TransformerSpec spec = Small();
  const std::int64_t dense = SavedPerToken(spec);
  spec.mixture = MixtureSpec{.experts = 1, .ffn_hidden = 96};

  EXPECT_EQ(SavedPerToken(spec), dense);
  EXPECT_EQ(SavedPerToken(spec, true), dense + 2 * 2 * 64 + 4);
  spec.mixture =
      MixtureSpec{.experts = 16, .experts_per_token = 3, .ffn_hidden = 32, .shared_ffn_hidden = 64};
  EXPECT_EQ(SavedPerToken(spec, true),
            dense + 2 * 4 * (3 * 32 + 64 - 96) + 3 * 2 * 2 * 64 + 4 * 16);
}

// Inputs of norms and matrices, 2 bytes of h = 64 each: one less norm and one less input where one
// norm serves both halves; two more norms in a sandwich.
TEST(ActivationMemory, FollowsTheBlocksNorms) {
  TransformerSpec spec = Small();
  const std::int64_t pre = SavedPerToken(spec);
  const auto change = [&](Block block) {
    spec.block = block;
    return SavedPerToken(spec) - pre;
  };

  EXPECT_EQ(change(Block::kParallel), -2 * 2 * 64);
  EXPECT_EQ(change(Block::kParallelTwoNorms), -2 * 64);
  EXPECT_EQ(change(Block::kSandwich), 2 * 2 * 64);
  EXPECT_EQ(change(Block::kPostNorm), 0);
}

// By hand: 4 h, queries of 4 x 32, keys and values of 2 x 32, the output's input of 128; normed
// queries and keys keep what they were. MLP 4 * 96.
TEST(ActivationMemory, CountsHeadsOfTheirOwnWidthAndTheirNorms) {
  TransformerSpec spec = Small();
  spec.own_head_dimension = 32;

  EXPECT_EQ(SavedPerToken(spec), 2 * (4 * 64 + 128 + 2 * 64 + 128 + 4 * 96));
  spec.query_key_norm = QueryKeyNorm::kHead;
  EXPECT_EQ(SavedPerToken(spec), 2 * (4 * 64 + 128 + 2 * 64 + 128 + 128 + 64 + 4 * 96));
}

// By hand: queries and keys of 4 x (8 + 16), values of 4 x 24 and as many into the projection;
// latents of 40 and 20 before and after their norms, and the rotary key of 8.
TEST(ActivationMemory, CountsLatents) {
  TransformerSpec spec = Small();
  spec.latent_attention = LatentAttentionSpec{.query_rank = 40,
                                              .kv_rank = 20,
                                              .rope_dimension = 8,
                                              .nope_dimension = 16,
                                              .value_dimension = 24};

  EXPECT_EQ(SavedPerToken(spec), 2 * (4 * 64 + 4 * 96 + 2 * 40 + 2 * 20 + 8 + 4 * 96));
}

// On paper, in MiB: a recomputed layer 34 * 3 of sbh = 3 Mi elements, 5 + 2 bytes of 8 Mi scores.
TEST(ActivationMemory, AgreesWithThePaperSumOfTheTutorialsPeak) {
  const ActivationMemory memory = ActivationMemoryOf(Tutorial());

  EXPECT_DOUBLE_EQ(Mebibytes(memory.saved_per_layer), 6);
  EXPECT_DOUBLE_EQ(Mebibytes(memory.working_per_layer), 102 + 40 + 16);
  EXPECT_DOUBLE_EQ(Mebibytes(memory.gradient_per_layer), 56);
}

TEST(ActivationMemory, CountsLogitsTheirCopyAndItsGradient) {
  Scenario s = Tutorial();
  EXPECT_EQ(ActivationMemoryOf(s).logits, Bytes::Count(std::int64_t{12} * 512 * 50304));
  s.compute.loss_memory = 2;
  EXPECT_EQ(ActivationMemoryOf(s).logits, Bytes::Count(std::int64_t{2} * 512 * 50304));
}

// 512 tokens in parts of 128, and of at most 74.
TEST(ActivationMemory, CountsTheLogitsOfOneChunk) {
  Scenario s = Tutorial();
  s.training.loss_chunks = 4;
  EXPECT_EQ(ActivationMemoryOf(s).logits, Bytes::Count(std::int64_t{12} * 128 * 50304));
  s.training.loss_chunks = 7;
  EXPECT_EQ(ActivationMemoryOf(s).logits, Bytes::Count(std::int64_t{12} * 74 * 50304));
}

TEST(StaticMemory, DoublesGradientsInFp32) {
  for (const int stage : {0, 1, 2, 3}) {
    Scenario s = Tutorial();
    s.zero.stage = stage;
    const ModelLayout layout = Layout(s.model);
    const Bytes half = StaticMemoryOf(s, layout).gradients;
    s.zero.gradient_precision = GradientPrecision::kFp32;
    EXPECT_EQ(StaticMemoryOf(s, layout).gradients, 2 * half) << stage;
  }
}

// Megatron-LM's table of its distributed optimizer (docs/source/api-guide/dist_optimizer.md), bytes
// a parameter with bf16 weights and fp32 gradients over d ranks: 18 without it, 6 + 12 / d with it.
TEST(StaticMemory, IsWhatMegatronStatesForItsDistributedOptimizer) {
  Scenario s = Tutorial();
  s.zero.gradient_precision = GradientPrecision::kFp32;
  const std::int64_t p = 64'000'000;

  s.zero.stage = 0;
  EXPECT_EQ(StaticMemoryOf(s, OneMatrix(p)).allocated(), Bytes::Count(18 * p));
  s.zero.stage = 1;
  EXPECT_EQ(StaticMemoryOf(s, OneMatrix(p)).allocated(), Bytes::Count(6 * p + 12 * p / 64));
  // Context-parallel ranks hold the same weights: they share the states too. Stages of a pipeline
  // do not.
  s.parallel.context = 4;
  EXPECT_EQ(StaticMemoryOf(s, OneMatrix(p)).allocated(), Bytes::Count(6 * p + 12 * p / 64));
  s.parallel.tensor = 8;
  EXPECT_EQ(StaticMemoryOf(s, OneMatrix(p)).allocated(), Bytes::Count(6 * p + 12 * p / 8));
}

TransformerSpec TwoLayerLlama() {
  return {.name = "llama",
          .layers = 2,
          .hidden = 64,
          .heads = 4,
          .kv_heads = 2,
          .ffn_hidden = 96,
          .vocabulary = 1000,
          .position = Position::kRotary,
          .gated_mlp = true,
          .biases = false,
          .tied_embeddings = false};
}

// By hand, one of each shape however many layers have it: QKV (64 + 2 * 32) x 64, output 64 x 64,
// MLP in 192 x 64, MLP out 64 x 96; the head's, 1000 x 64, while it runs.
TEST(StaticMemory, KeepsAPlaceholderOfEachShapeWithFusedWeightGradients) {
  Scenario s = Tutorial();
  s.model = TwoLayerLlama();
  s.zero.contiguous_gradients = false;
  const ModelLayout layout = Layout(s.model);
  const Bytes blocks = Bytes::Count(2 * 64 * (128 + 64 + 192 + 96));
  const Bytes head = Bytes::Count(2 * 1000 * 64);
  const auto added = [&](int stage) {
    s.zero.stage = stage;
    s.zero.fused_weight_gradients = false;
    const Bytes buffers = StaticMemoryOf(s, layout).buffers;
    const Bytes logits = ActivationMemoryOf(s).logits;
    s.zero.fused_weight_gradients = true;
    return std::pair(StaticMemoryOf(s, layout).buffers - buffers,
                     ActivationMemoryOf(s).logits - logits);
  };

  EXPECT_EQ(added(0), std::pair(blocks, head));
  EXPECT_EQ(added(1), std::pair(blocks, head));
  EXPECT_EQ(added(2), std::pair(Bytes(), Bytes()));
  EXPECT_EQ(added(3), std::pair(Bytes(), Bytes()));
  s.zero.stage = 0;
  s.fsdp.emplace();
  EXPECT_EQ(added(0), std::pair(Bytes(), Bytes()));
}

// SiLU's output, 2 bytes of f a token, is computed again; GELU's is the next matrix's input.
TEST(ActivationMemory, ComputesAFusedActivationAgain) {
  Scenario s = Tutorial();
  s.model = TwoLayerLlama();
  s.training.checkpointing = Checkpointing::kNone;
  const Bytes whole = ActivationMemoryOf(s).saved_per_layer;
  s.compute.fused_activation = true;
  EXPECT_EQ(whole - ActivationMemoryOf(s).saved_per_layer, Bytes::Count(2 * 96 * 512));

  s.model.gated_mlp = false;
  const Bytes fused = ActivationMemoryOf(s).saved_per_layer;
  s.compute.fused_activation = false;
  EXPECT_EQ(ActivationMemoryOf(s).saved_per_layer, fused);
}

}  // namespace
}  // namespace zerosim
