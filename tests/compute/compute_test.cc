#include "models/compute/compute.h"
#include "models/compute/optimizer_time.h"

#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/compute/flops.h"

namespace zerosim {
namespace {

constexpr std::int64_t kPositions = 512;

TransformerSpec Gpt18B() {
  return {.name = "gpt_18b",
          .layers = 40,
          .hidden = 6144,
          .heads = 32,
          .kv_heads = 32,
          .ffn_hidden = std::int64_t{4} * 6144,
          .vocabulary = 50304,
          .max_positions = kPositions};
}

// DeepBench's V100 (results of commit da81ba7): the rate of 4096 x n x 4096 follows
// 112 n / (n + 95) TFLOP/s; 125 TFLOP/s is NVIDIA's data sheet.
GpuSpec V100() {
  return {.name = "V100",
          .memory = Bytes::Count(32'000'000'000),
          .peak = FlopsPerSecond::TeraflopsPerSecond(125),
          .memory_bandwidth = BytesPerSecond::GigabytesPerSecond(780),
          .gemm = {.peak_fraction = 112.0 / 125, .launch = {}, .rows_half = 95},
          .attention = {}};
}

// Constants and their sources: models/compute/README.md.
GpuSpec A100() {
  return {.name = "A100",
          .memory = Bytes::Count(80'000'000'000),
          .peak = FlopsPerSecond::TeraflopsPerSecond(312),
          .memory_bandwidth = BytesPerSecond::GigabytesPerSecond(1610),
          .gemm = {.peak_fraction = 0.936,
                   .sustained_slowdown = 1.13,
                   .launch = Seconds::Micros(16.7),
                   .rows_half = 42,
                   .columns_half = 130,
                   .reduction_half = 139},
          .attention = {{.head_dimension = 64,
                         .rate = FlopsPerSecond::TeraflopsPerSecond(176),
                         .half_sequence = 505},
                        {.head_dimension = 128,
                         .rate = FlopsPerSecond::TeraflopsPerSecond(194),
                         .half_sequence = 485}}};
}

// Runs products at 1 TFLOP/s whatever their shape and everything else in no time.
GpuSpec IdealGpu() {
  return {.name = "ideal",
          .memory = Bytes::Count(1),
          .peak = FlopsPerSecond::TeraflopsPerSecond(1),
          .memory_bandwidth = BytesPerSecond::Count(std::numeric_limits<double>::infinity()),
          .gemm = {.launch = {}},
          .attention = {}};
}

Scenario ScenarioOn(const GpuSpec& gpu) {
  Scenario scenario;
  scenario.model = Gpt18B();
  scenario.cluster.node.gpu = gpu;
  scenario.cluster.node.gpus = 16;
  scenario.cluster.nodes = 4;
  scenario.cluster.calibration.kernel_launch.value = 0;
  scenario.training.sequence_length = kPositions;
  scenario.training.checkpointing = Checkpointing::kFull;
  return scenario;
}

double AchievedTeraflops(std::int64_t m, std::int64_t n, std::int64_t k, const GpuSpec& gpu) {
  const auto flops =
      Flops::Count(2 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k));
  return (flops / GemmTime(m, n, k, gpu, 1)).teraflops_per_second();
}

// All passes of all modules of one micro-batch.
Seconds StepTime(const Scenario& scenario) {
  Seconds sum;
  for (const Module& module : Layout(scenario.model).modules) {
    const ModuleTime time = TimeOf(module.part, scenario);
    sum += time.forward.total() + time.backward.total() + time.recompute.total();
  }
  return sum;
}

// The bar is that of the source: a smooth curve through two of its points.
TEST(GemmTime, MeetsDeepBenchOnAV100AtLargeAndSmallBatches) {
  EXPECT_NEAR(AchievedTeraflops(128, 4096, 4096, V100()) / 64.1, 1, 0.03);
  EXPECT_NEAR(AchievedTeraflops(7000, 4096, 4096, V100()) / 112.3, 1, 0.03);
}

// All five constants fitted to the 82 rows of that table with dimensions of at least 1000 and n of
// at least 64: median error 4.4 %, 90th percentile 15 %.
TEST(GemmTime, MeetsShapesOfDeepBenchWithTheFittedConstants) {
  GpuSpec gpu = V100();
  gpu.gemm = {.peak_fraction = 0.892,
              .launch = Seconds::Micros(12.9),
              .rows_half = 84,
              .columns_half = 10,
              .reduction_half = 176};

  EXPECT_NEAR(AchievedTeraflops(128, 4096, 4096, gpu) / 64.1, 1, 0.15);
  EXPECT_NEAR(AchievedTeraflops(7000, 2560, 2560, gpu) / 103.8, 1, 0.15);
  EXPECT_NEAR(AchievedTeraflops(7435, 3072, 1024, gpu) / 102.6, 1, 0.15);
  EXPECT_NEAR(AchievedTeraflops(24000, 1024, 1530, gpu) / 96.2, 1, 0.15);
  EXPECT_NEAR(AchievedTeraflops(48000, 4608, 1536, gpu) / 99.8, 1, 0.15);
}

struct SustainedGemm {
  const char* name;
  std::int64_t m;
  std::int64_t n;
  std::int64_t k;
  double measured_teraflops;
};

class SustainedGemmTime : public ::testing::TestWithParam<SustainedGemm> {};

// The slowdown was fitted to training steps, not to these: 3 % is what models/compute/README.md
// states.
TEST_P(SustainedGemmTime, IsWithinThreePercentOfTheMeasurement) {
  const SustainedGemm& row = GetParam();

  EXPECT_NEAR(AchievedTeraflops(row.m, row.n, row.k, A100()) / row.measured_teraflops, 1, 0.03);
}

INSTANTIATE_TEST_SUITE_P(
    A100, SustainedGemmTime,
    ::testing::Values(
        // EleutherAI cookbook 827ee3b, benchmarks/sizing/sample_results: a layer of h = 4096 on
        // 8192 tokens.
        SustainedGemm{"Qkv", 8192, 12288, 4096, 241.6},
        SustainedGemm{"Projection", 8192, 4096, 4096, 234.9},
        SustainedGemm{"MlpIn", 8192, 16384, 4096, 241.1},
        SustainedGemm{"MlpOut", 8192, 4096, 16384, 252.8},
        SustainedGemm{"Logits", 8192, 51200, 4096, 255.4},
        // Azure AI-benchmarking-guide 8fd0c6e, ND_A100_v4_results.md: after 10,000 warm-ups.
        SustainedGemm{"Square4096", 4096, 4096, 4096, 228.0},
        SustainedGemm{"Square8192", 8192, 8192, 8192, 253.7},
        SustainedGemm{"Square16384", 16384, 16384, 16384, 256.5},
        SustainedGemm{"Wide", 6144, 12288, 12288, 250.8}),
    [](const auto& row) { return row.param.name; });

TEST(GemmTime, ScalesWithTheInverseOfTheFractionExceptItsLaunch) {
  const Seconds launch = A100().gemm.launch;

  const Seconds whole = GemmTime(512, 6144, 6144, A100(), 1) - launch;
  const Seconds half = GemmTime(512, 6144, 6144, A100(), 0.5) - launch;

  EXPECT_NEAR(Ratio(half, whole), 2, 1e-12);
}

TEST(GemmTime, RefusesSizesAndFractionsThatAreNotPositive) {
  const auto message = [](std::int64_t m, double fraction) -> std::string {
    try {
      GemmTime(m, 2, 3, A100(), fraction);
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "no exception";
  };

  EXPECT_EQ(message(0, 1), "sizes of a matrix product must be positive, got 0 x 2 x 3");
  EXPECT_EQ(message(1, 0), "fraction must be positive, got 0");
  EXPECT_EQ(message(1, std::nan("")), "fraction must be positive, got nan");
}

struct FlashRate {
  const char* name;
  int head_dimension;
  std::int64_t sequence;
  double measured_teraflops;
};

class FusedAttention : public ::testing::TestWithParam<FlashRate> {};

// FlashAttention 0251105, assets/flash2_a100_fwd_bwd_benchmark.png: causal, hidden 2048, 16384
// tokens; FLOP counted as 3.5 times 2 b s^2 h.
TEST_P(FusedAttention, MeetsTheRateOfFlashAttention2OnAnA100) {
  const FlashRate& row = GetParam();
  Scenario scenario = ScenarioOn(A100());
  scenario.model.hidden = 2048;
  scenario.model.heads = 2048 / row.head_dimension;
  scenario.training.sequence_length = row.sequence;
  scenario.training.micro_batch_size = 16384 / row.sequence;

  const ModuleTime time = TimeOf(Part::kAttention, scenario);

  const Flops flops = Flops::Count(3.5 * 2 * 16384 * static_cast<double>(row.sequence) * 2048);
  const double achieved =
      (flops / (time.forward.attention + time.backward.attention)).teraflops_per_second();
  EXPECT_NEAR(achieved / row.measured_teraflops, 1, 0.02);
  EXPECT_EQ(time.forward.memory_bound, Seconds());
}

INSTANTIATE_TEST_SUITE_P(A100, FusedAttention,
                         ::testing::Values(FlashRate{"Head64Sequence512", 64, 512, 88},
                                           FlashRate{"Head64Sequence2048", 64, 2048, 140},
                                           FlashRate{"Head64Sequence8192", 64, 8192, 165},
                                           FlashRate{"Head128Sequence512", 128, 512, 99},
                                           FlashRate{"Head128Sequence2048", 128, 2048, 155},
                                           FlashRate{"Head128Sequence16384", 128, 16384, 189}),
                         [](const auto& row) { return row.param.name; });

TEST(AttentionTime, DoublesWithoutTheCausalSkip) {
  Scenario scenario = ScenarioOn(A100());
  const Seconds causal = TimeOf(Part::kAttention, scenario).forward.attention;
  scenario.compute.causal_skip = false;

  const Seconds full = TimeOf(Part::kAttention, scenario).forward.attention;

  EXPECT_NEAR(Ratio(full, causal), 2, 1e-12);
}

// 16 bytes a score forward, twice that backward: 32 heads x 512 x 512 scores over 780 GB/s.
TEST(AttentionTime, MovesTheScoresWhereItIsNotFused) {
  const Scenario scenario = ScenarioOn(V100());

  const ModuleTime time = TimeOf(Part::kAttention, scenario);

  const double scores = 32.0 * 512 * 512;
  EXPECT_NEAR(time.forward.memory_bound.seconds(), 16 * scores / 780e9, 1e-12);
  EXPECT_NEAR(time.backward.memory_bound.seconds(), 32 * scores / 780e9, 1e-12);
}

// Forward of a layer is 24 h^2 + 4 s h FLOP a token, four times under full checkpointing; the
// head's 2 h V three times: 96 B s l h^2 (1 + s/6h + V/16lh).
TEST(FlopsOfStep, EqualsTheFormulaOfPublicationsUnderFullCheckpointing) {
  const double h = 6144;
  const double s = 512;
  const double l = 40;
  const double v = 50304;

  const StepFlops flops = FlopsOfStep(ScenarioOn(V100()));

  const double four_passes = 96 * s * l * h * h * (1 + s / (6 * h) + v / (16 * l * h));
  const double three_passes = 72 * s * l * h * h * (1 + s / (6 * h) + v / (12 * l * h));
  EXPECT_NEAR(flops.hardware.count() / four_passes, 1, 1e-12);
  EXPECT_NEAR(flops.model.count() / three_passes, 1, 1e-12);
}

// Logs in the tutorial of ZeRO++ (deepspeed.ai/tutorials/zeropp): iterations of 9955.9 and
// 3680.6 ms print 7.65 and 20.70 TFLOP/s a GPU. Half a unit of the last digit is 0.07 %.
TEST(FlopsOfStep, GivesTheRatesThatTheZeroPlusPlusTutorialPrints) {
  const Flops hardware = FlopsOfStep(ScenarioOn(V100())).hardware;

  EXPECT_NEAR((hardware / Seconds::Millis(9955.9)).teraflops_per_second(), 7.65, 0.005);
  EXPECT_NEAR((hardware / Seconds::Millis(3680.6)).teraflops_per_second(), 20.70, 0.005);
}

// On paper: 96 * 1024 * 40 * 6144^2 * (1 + 1024/36864 + 50304/3932160) = 154.5e12.
TEST(FlopsOfStep, CountsTheHeadlineExperimentOfZeroPlusPlus) {
  Scenario scenario = ScenarioOn(V100());
  scenario.training.sequence_length = 1024;

  EXPECT_NEAR(FlopsOfStep(scenario).hardware.teraflops(), 154.5, 0.05);
}

TEST(FlopsOfStep, GrowsWithMicroBatchAndAccumulation) {
  Scenario scenario = ScenarioOn(V100());
  const Flops one = FlopsOfStep(scenario).model;
  scenario.training.micro_batch_size = 3;
  scenario.training.gradient_accumulation_steps = 5;

  EXPECT_NEAR(Ratio(FlopsOfStep(scenario).model, one), 15, 1e-12);
}

// Llama-2-70B: 80 layers of 2 * (8192 * 10240 + 8192^2 + 3 * 8192 * 28672) + 4 s * 8192 a token,
// and 2 * 8192 * 32000 of the head.
TEST(FlopsOfStep, CountsGroupedQueriesAndGatedMlps) {
  Scenario scenario = ScenarioOn(A100());
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
  scenario.training.sequence_length = 4096;
  scenario.training.checkpointing = Checkpointing::kNone;

  const StepFlops flops = FlopsOfStep(scenario);

  const double layer =
      2 * (8192.0 * 10240 + 8192.0 * 8192 + 3 * 8192.0 * 28672) + 4 * 4096.0 * 8192;
  const double expected = 3 * 4096.0 * (80 * layer + 2 * 8192.0 * 32000);
  EXPECT_NEAR(flops.model.count() / expected, 1, 1e-12);
  EXPECT_EQ(flops.hardware, flops.model);
}

// An independent sum: the products that TimeOf prices are the FLOP that FlopsOfStep counts.
TEST(TimeOf, TakesTheFlopsOverThePeakOnAnIdealGpu) {
  for (const Checkpointing checkpointing :
       {Checkpointing::kNone, Checkpointing::kSelective, Checkpointing::kFull}) {
    Scenario scenario = ScenarioOn(IdealGpu());
    scenario.training.checkpointing = checkpointing;

    const Seconds time = StepTime(scenario);

    EXPECT_NEAR(time.seconds() / FlopsOfStep(scenario).hardware.teraflops(), 1, 1e-9)
        << static_cast<int>(checkpointing);
  }
}

TEST(TimeOf, TakesAttentionWithoutCausalSkipFromItsOwnRow) {
  GpuSpec gpu = A100();
  gpu.attention[1].full_rate = FlopsPerSecond::TeraflopsPerSecond(205);
  gpu.attention[1].full_half_sequence = 193;
  Scenario scenario = ScenarioOn(gpu);
  scenario.model.heads = 48;  // of 128
  scenario.compute.causal_skip = false;
  const double s = static_cast<double>(scenario.training.sequence_length);

  const ModuleTime time = TimeOf(Part::kAttention, scenario);

  const double flops = 4 * s * s * static_cast<double>(scenario.model.hidden);
  EXPECT_NEAR(time.forward.attention.seconds() / (flops / 205e12 * (1 + 193 / s)), 1, 1e-12);
}

// Of Llama's products K, output and the other factor of the MLP run again, and no attention.
TEST(TimeOf, RecomputesEverySecondProductByOperators) {
  Scenario scenario = ScenarioOn(IdealGpu());
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
  scenario.training.checkpointing = Checkpointing::kOperators;
  Seconds again;

  for (const Module& module : Layout(scenario.model).modules) {
    again += TimeOf(module.part, scenario).recompute.total();
  }

  const double tokens = static_cast<double>(scenario.tokens_per_micro_batch());
  EXPECT_NEAR(again.seconds() / (2e-12 * tokens * 4096 * (1024 + 4096 + 14336)), 1, 1e-9);
  EXPECT_NEAR(FlopsOfStep(scenario).hardware.teraflops() - FlopsOfStep(scenario).model.teraflops(),
              again.seconds(), 1e-6);
}

// Forward 20 h + 4 ff bytes a token and layer, backward 32 h + 6 ff, at 1.75 passes: 63 h and 98 h.
TEST(TimeOf, ChargesTheBytesOfAGeluLayer) {
  Scenario scenario = ScenarioOn(V100());
  scenario.compute.memory_passes = 1.75;
  Seconds forward;
  Seconds backward;

  for (const Module& module : Layout(scenario.model).modules) {
    if (module.layer != 0 || module.part == Part::kAttention) continue;
    forward += TimeOf(module.part, scenario).forward.memory_bound;
    backward += TimeOf(module.part, scenario).backward.memory_bound;
  }

  EXPECT_NEAR(forward.seconds() / (63 * 6144.0 * 512 / 780e9), 1, 1e-9);
  EXPECT_NEAR(backward.seconds() / (98 * 6144.0 * 512 / 780e9), 1, 1e-9);
}

// Forward 28 h + 6 ff, backward 40 h + 10 ff, rotary embedding included.
TEST(TimeOf, ChargesTheBytesOfAGatedLayerWithRotaryPositions) {
  Scenario scenario = ScenarioOn(A100());
  scenario.model.gated_mlp = true;
  scenario.model.biases = false;
  scenario.model.position = Position::kRotary;
  scenario.compute.memory_passes = 1;
  Seconds forward;
  Seconds backward;

  for (const Module& module : Layout(scenario.model).modules) {
    if (module.layer != 0) continue;
    forward += TimeOf(module.part, scenario).forward.memory_bound;
    backward += TimeOf(module.part, scenario).backward.memory_bound;
  }

  EXPECT_NEAR(forward.seconds() / ((28 + 6 * 4) * 6144.0 * 512 / 1.61e12), 1, 1e-9);
  EXPECT_NEAR(backward.seconds() / ((40 + 10 * 4) * 6144.0 * 512 / 1.61e12), 1, 1e-9);
}

TEST(TimeOf, ChargesTheLossByTokenAndVocabularyEntry) {
  Scenario scenario = ScenarioOn(A100());
  scenario.compute.loss_bytes = 17;

  const ModuleTime head = TimeOf(Part::kHead, scenario);

  const Seconds loss = head.forward.memory_bound + head.backward.memory_bound;
  EXPECT_NEAR(loss.seconds() / (17.0 * 512 * 50304 / 1.61e12), 1, 1e-9);
  EXPECT_EQ(head.recompute.total(), Seconds());
}

// 512 tokens: 6 products of 74 and one of 68.
TEST(TimeOf, DoesTheHeadsProductsChunkByChunk) {
  Scenario scenario = ScenarioOn(A100());
  const ModuleTime whole = TimeOf(Part::kHead, scenario);
  scenario.training.loss_chunks = 7;

  const ModuleTime head = TimeOf(Part::kHead, scenario);

  const auto product = [&](std::int64_t m, std::int64_t n, std::int64_t k) {
    return GemmTime(m, n, k, scenario.cluster.node.gpu,
                    scenario.cluster.calibration.gemm_fraction.value);
  };
  const std::int64_t v = 50304;
  const std::int64_t h = scenario.model.hidden;
  EXPECT_NEAR(Ratio(head.forward.gemm, 6 * product(74, v, h) + product(68, v, h)), 1, 1e-12);
  EXPECT_NEAR(Ratio(head.backward.gemm, 6 * (product(74, h, v) + product(v, h, 74)) +
                                            product(68, h, v) + product(v, h, 68)),
              1, 1e-12);
  EXPECT_EQ(head.forward.memory_bound, whole.forward.memory_bound);
  EXPECT_EQ(head.forward_kernels, whole.forward_kernels + 6);
  EXPECT_EQ(head.backward_kernels, whole.backward_kernels + 12);

  scenario.training.loss_chunks = 1'000'000;  // more than tokens: one each
  EXPECT_EQ(TimeOf(Part::kHead, scenario).forward_kernels, whole.forward_kernels + 511);
}

TEST(TimeOf, RecomputesTheLayersOnlyAndLessWhenToldSo) {
  Scenario scenario = ScenarioOn(V100());
  for (const Part part : {Part::kEmbedding, Part::kFinalNorm, Part::kHead}) {
    EXPECT_EQ(TimeOf(part, scenario).recompute.total(), Seconds());
  }
  for (const Part part : {Part::kQkv, Part::kAttention, Part::kMlpOut, Part::kResidual}) {
    const ModuleTime time = TimeOf(part, scenario);
    EXPECT_EQ(time.recompute.total(), time.forward.total());
  }

  scenario.compute.recompute_skips_last = true;
  EXPECT_EQ(TimeOf(Part::kMlpOut, scenario).recompute.total(), Seconds());
  scenario.training.checkpointing = Checkpointing::kSelective;
  EXPECT_GT(TimeOf(Part::kAttention, scenario).recompute.total(), Seconds());
  EXPECT_EQ(TimeOf(Part::kQkv, scenario).recompute.total(), Seconds());
  scenario.training.checkpointing = Checkpointing::kNone;
  EXPECT_EQ(TimeOf(Part::kAttention, scenario).recompute.total(), Seconds());
}

TEST(TimeOf, MeetsAGivenUtilizationWithAndWithoutCheckpointing) {
  for (const Checkpointing checkpointing :
       {Checkpointing::kNone, Checkpointing::kSelective, Checkpointing::kFull}) {
    Scenario scenario = ScenarioOn(A100());
    scenario.training.checkpointing = checkpointing;
    scenario.training.gradient_accumulation_steps = 4;
    scenario.compute.mfu = 0.4;

    const Seconds micro_batch = StepTime(scenario);

    const Seconds step = FlopsOfStep(scenario).model / (0.4 * A100().peak);
    EXPECT_NEAR(Ratio(4 * micro_batch, step), 1, 1e-9) << static_cast<int>(checkpointing);
  }
}

TEST(TimeOf, HalvesWhenAllRatesOfTheGpuDouble) {
  const Scenario slow = ScenarioOn(V100());
  Scenario fast = slow;
  GpuSpec& gpu = fast.cluster.node.gpu;
  gpu.peak = 2 * gpu.peak;
  gpu.memory_bandwidth = 2 * gpu.memory_bandwidth;

  EXPECT_NEAR(Ratio(StepTime(slow), StepTime(fast)), 2, 1e-9);
}

TEST(TimeOf, LetsNoKernelBoundByMemoryTakeLessThanItsLaunch) {
  Scenario scenario = ScenarioOn(A100());
  scenario.training.sequence_length = 1;
  scenario.cluster.calibration.kernel_launch.value = 3e-6;

  const ModuleTime norm = TimeOf(Part::kInputNorm, scenario);

  EXPECT_NEAR(norm.forward.memory_bound.microseconds(), 3.0 * norm.forward_kernels, 1e-9);
}

// Shapes beyond GPT, small enough to check by hand.
TransformerSpec Small() {
  return {.name = "small",
          .layers = 6,
          .hidden = 1024,
          .heads = 8,
          .kv_heads = 2,
          .ffn_hidden = 2048,
          .vocabulary = 32000,
          .position = Position::kRotary,
          .gated_mlp = true,
          .biases = false,
          .tied_embeddings = false};
}

TransformerSpec SmallMixture() {
  TransformerSpec spec = Small();
  spec.mixture = MixtureSpec{.experts = 8,
                             .experts_per_token = 2,
                             .ffn_hidden = 512,
                             .shared_ffn_hidden = 1536,
                             .shared_gate = true,
                             .dense_layers = 1};
  return spec;
}

TransformerSpec SmallLatents() {
  TransformerSpec spec = Small();
  spec.latent_attention = LatentAttentionSpec{.query_rank = 384,
                                              .kv_rank = 128,
                                              .rope_dimension = 32,
                                              .nope_dimension = 64,
                                              .value_dimension = 96};
  return spec;
}

std::vector<TransformerSpec> Shapes() {
  std::vector<TransformerSpec> shapes = {Small(), SmallMixture(), SmallLatents()};
  shapes.push_back(Small());
  shapes.back().own_head_dimension = 192;
  shapes.back().query_key_norm = QueryKeyNorm::kHead;
  shapes.push_back(Small());
  shapes.back().block = Block::kParallelTwoNorms;
  shapes.push_back(Small());
  shapes.back().block = Block::kSandwich;
  shapes.push_back(Small());
  shapes.back().embedding_width = 256;
  shapes.back().block = Block::kPostNorm;
  shapes.push_back(SmallLatents());
  shapes.back().mixture = SmallMixture().mixture;
  shapes.back().latent_attention->query_rank = 0;
  return shapes;
}

// An independent sum: a token is multiplied with every matrix that it meets but the tables it is
// looked up in, and with s queries and values in every layer.
TEST(FlopsOfStep, IsTwiceTheActiveMatricesATokenBesideAttention) {
  for (const TransformerSpec& spec : Shapes()) {
    Scenario scenario = ScenarioOn(A100());
    scenario.model = spec;
    const ModelLayout layout = Layout(spec);
    double matrices = 0;
    for (const Weight& w : layout.weights) {
      if (w.is_vector() || w.name == "embedding") continue;
      matrices += static_cast<double>(w.active * w.tensor_elements());
    }
    const double widths = spec.latent_attention
                              ? 8.0 * (32 + 64 + 96)
                              : 2.0 * 8 * static_cast<double>(spec.head_dimension());
    const double attention = spec.layers * 2 * 512 * widths;

    const double forward = 512 * (2 * matrices + attention);

    EXPECT_NEAR(FlopsOfStep(scenario).model.count() / (3 * forward), 1, 1e-12)
        << layout.parameters();
  }
}

TEST(TimeOf, TakesTheFlopsOfEveryShapeOnAnIdealGpu) {
  for (const TransformerSpec& spec : Shapes()) {
    Scenario scenario = ScenarioOn(IdealGpu());
    scenario.model = spec;

    EXPECT_NEAR(StepTime(scenario).seconds() / FlopsOfStep(scenario).hardware.teraflops(), 1, 1e-9);
  }
}

TEST(TimeOf, MeetsAGivenUtilizationWithEveryShape) {
  for (TransformerSpec spec : Shapes()) {
    spec.sliding_window = SlidingWindowSpec{.length = 100, .global_every = 2};
    Scenario scenario = ScenarioOn(A100());
    scenario.model = spec;
    scenario.compute.mfu = 0.4;

    const Seconds step = FlopsOfStep(scenario).model / (0.4 * A100().peak);
    EXPECT_NEAR(Ratio(StepTime(scenario), step), 1, 1e-9);
  }
}

// One expert that every token goes through is the MLP, and a router of one column beside it.
TEST(Mixture, OfOneExpertIsTheMlp) {
  Scenario dense = ScenarioOn(A100());
  dense.model = Small();
  Scenario one = dense;
  one.model.mixture = MixtureSpec{.experts = 1, .ffn_hidden = one.model.ffn_hidden};

  for (const auto& [mlp, expert] : {std::pair(Part::kMlpIn, Part::kExpertsIn),
                                    std::pair(Part::kActivation, Part::kExpertsActivation),
                                    std::pair(Part::kMlpOut, Part::kExpertsOut)}) {
    const ModuleTime a = TimeOf(mlp, dense);
    const ModuleTime b = TimeOf(expert, one);
    EXPECT_EQ(a.forward.total(), b.forward.total());
    EXPECT_EQ(a.backward.total(), b.backward.total());
  }
  EXPECT_NEAR((FlopsOfStep(one).model - FlopsOfStep(dense).model).count(),
              3 * 6 * 2.0 * 512 * 1024 * 1, 1);
}

// 8 experts, 2 a token: each has 512 * 2 / 8 = 128 rows, and one launch serves all.
TEST(Mixture, RunsTheAverageExpertsRows) {
  Scenario scenario = ScenarioOn(A100());
  scenario.model = SmallMixture();
  scenario.cluster.node.gpu.memory_bandwidth = IdealGpu().memory_bandwidth;
  const Seconds launch = A100().gemm.launch;
  const auto product = [&](std::int64_t m, std::int64_t n, std::int64_t k) {
    return 8 * (GemmTime(m, n, k, A100(), 1) - launch) + launch;
  };

  const ModuleTime in = TimeOf(Part::kExpertsIn, scenario);

  EXPECT_NEAR(Ratio(in.forward.gemm, product(128, 1024, 1024)), 1, 1e-12);
  EXPECT_NEAR(Ratio(in.backward.gemm, product(128, 1024, 1024) + product(1024, 1024, 128)), 1,
              1e-12);
  EXPECT_EQ(in.forward_kernels, 1);
}

// 16 tokens on 8 experts: 4 rows each. Reading the matrices of 8 * 1024 * 1024 takes longer.
TEST(Mixture, TakesAtLeastTheTimeToReadItsExperts) {
  Scenario scenario = ScenarioOn(A100());
  scenario.model = SmallMixture();
  scenario.training.sequence_length = 16;
  scenario.cluster.node.gpu.gemm.launch = {};

  const double bytes = 2 * (8.0 * 1024 * 1024 + 32 * (1024 + 1024));
  EXPECT_NEAR(TimeOf(Part::kExpertsIn, scenario).forward.gemm.seconds(), bytes / 1.61e12, 1e-12);
}

// Two copies of 1024 values of 16 bit: read and written by dispatch; read, and their sum written,
// by combine, which also adds the shared experts' output (6h).
TEST(Mixture, MovesItsTokensToTheirExpertsAndBack) {
  Scenario scenario = ScenarioOn(A100());
  scenario.model = SmallMixture();
  scenario.compute.memory_passes = 1;
  const auto bytes = [&](Part part) {
    return TimeOf(part, scenario).forward.memory_bound.seconds() * 1.61e12 / 512;
  };

  EXPECT_NEAR(bytes(Part::kDispatch), 4 * 2 * 1024, 1e-6);
  EXPECT_NEAR(bytes(Part::kCombine), 2 * 2 * 1024 + 2 * 1024 + 6 * 1024, 1e-6);
  EXPECT_NEAR(bytes(Part::kExpertsActivation), 6 * 2 * 512, 1e-6);
}

TEST(SlidingWindow, ThatHoldsTheSequenceIsFullAttention) {
  Scenario scenario = ScenarioOn(A100());
  scenario.model = Small();
  const ModuleTime full = TimeOf(Part::kAttention, scenario);
  for (const int length : {512, 513, 4096}) {
    scenario.model.sliding_window = SlidingWindowSpec{.length = length};

    const ModuleTime local = TimeOf(Part::kLocalAttention, scenario);

    EXPECT_EQ(local.forward.total(), full.forward.total());
    EXPECT_EQ(local.backward.total(), full.backward.total());
    EXPECT_EQ(ForwardFlops(Part::kLocalAttention, scenario),
              ForwardFlops(Part::kAttention, scenario));
  }
}

// A window of w: publications count w for each of s tokens; the kernel computes w (1 - w/2s) of
// them, which for w = s is the half that causal attention leaves.
TEST(SlidingWindow, SavesWhatItDoesNotSee) {
  Scenario scenario = ScenarioOn(A100());
  scenario.model = Small();
  scenario.training.sequence_length = 4096;
  scenario.cluster.node.gpu.attention = {
      {.head_dimension = 128, .rate = FlopsPerSecond::TeraflopsPerSecond(1)}};
  scenario.model.sliding_window = SlidingWindowSpec{.length = 1024};

  const Seconds local = TimeOf(Part::kLocalAttention, scenario).forward.attention;
  const Seconds full = TimeOf(Part::kAttention, scenario).forward.attention;

  EXPECT_NEAR(Ratio(local, full), 1024 * (1 - 1024 / 8192.0) / 2048, 1e-12);
  EXPECT_NEAR(Ratio(ForwardFlops(Part::kLocalAttention, scenario),
                    ForwardFlops(Part::kAttention, scenario)),
              0.25, 1e-12);
}

// Attention over 96 values of a query and key and 96 of a value, 8 heads: 2 T s 8 (96 + 96).
TEST(LatentAttention, ProjectsThroughItsLatents) {
  Scenario scenario = ScenarioOn(A100());
  scenario.model = SmallLatents();
  const auto flops = [&](Part part) { return ForwardFlops(part, scenario).count(); };

  EXPECT_EQ(flops(Part::kQueryDown), 2.0 * 512 * 1024 * 384);
  EXPECT_EQ(flops(Part::kQueryUp), 2.0 * 512 * 384 * 8 * 96);
  EXPECT_EQ(flops(Part::kKvDown), 2.0 * 512 * 1024 * (128 + 32));
  EXPECT_EQ(flops(Part::kKvUp), 2.0 * 512 * 128 * 8 * (64 + 96));
  EXPECT_EQ(flops(Part::kAttention), 2.0 * 512 * 512 * 8 * (96 + 96));
  EXPECT_EQ(flops(Part::kAttentionOutput), 2.0 * 512 * 8 * 96 * 1024);
}

TEST(ParallelBlock, SavesOneNorm) {
  Scenario scenario = ScenarioOn(A100());
  scenario.model = Small();
  const Seconds serial = StepTime(scenario);
  const ModuleTime norm = TimeOf(Part::kPostNorm, scenario);
  scenario.model.block = Block::kParallel;

  const Seconds saved = 6 * (norm.forward.total() + norm.backward.total() + norm.recompute.total());
  EXPECT_NEAR(Ratio(serial - StepTime(scenario), saved), 1, 1e-9);
}

// A norm on the MLP's output keeps it, so its product is recomputed though told to skip it.
TEST(TimeOf, RecomputesTheLastProductWhereANormNeedsIt) {
  Scenario scenario = ScenarioOn(A100());
  scenario.model = Small();
  scenario.compute.recompute_skips_last = true;

  EXPECT_EQ(TimeOf(Part::kMlpOut, scenario).recompute.total(), Seconds());
  scenario.model.block = Block::kSandwich;
  EXPECT_GT(TimeOf(Part::kMlpOut, scenario).recompute.total(), Seconds());
}

TEST(MemoryTime, IsBytesOverTheAchievedBandwidthOrALaunch) {
  ClusterSpec cluster = ScenarioOn(A100()).cluster;
  cluster.calibration.memory_fraction.value = 0.5;
  cluster.calibration.kernel_launch.value = 3e-6;

  EXPECT_NEAR(MemoryTime(Bytes::Count(1'610'000'000), cluster).milliseconds(), 2, 1e-9);
  EXPECT_NEAR(MemoryTime(Bytes::Count(1), cluster).microseconds(), 3, 1e-12);
  EXPECT_EQ(MemoryTime(Bytes(), cluster), Seconds());
}

// 18.4e9 / 64 parameters of 44 bytes at 780 GB/s take 16.2 ms, beside 5 ms.
TEST(OptimizerTime, IsBytesOverBandwidthBesideAFixedPart) {
  ClusterSpec cluster = ScenarioOn(V100()).cluster;
  cluster.calibration.optimizer_fixed.value = 5e-3;

  const Seconds time = OptimizerTime(18'434'813'952 / 64, cluster);

  EXPECT_NEAR(time.milliseconds(), 5 + 18'434'813'952 / 64.0 * 44 / 780e9 * 1e3, 1e-6);
}

}  // namespace
}  // namespace zerosim
