// Adapters and frozen weights: counts against PEFT's and hand sums, work, memory and traffic.
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "models/compute/compute.h"
#include "models/compute/flops.h"
#include "models/memory/memory.h"
#include "models/program/build_program.h"
#include "models/quantization/quantization.h"
#include "tests/sim/scenarios.h"

namespace zerosim {
namespace {

TransformerSpec Llama7B() {
  return {.name = "llama_7b",
          .layers = 32,
          .hidden = 4096,
          .heads = 32,
          .kv_heads = 32,
          .ffn_hidden = 11008,
          .vocabulary = 32000,
          .position = Position::kRotary,
          .gated_mlp = true,
          .biases = false,
          .tied_embeddings = false};
}

std::int64_t Trainable(TransformerSpec spec, std::int64_t rank, LoraTargets targets) {
  spec.lora = LoraSpec{.rank = rank, .targets = targets};
  return Layout(spec).trainable_parameters();
}

// What PEFT's print_trainable_parameters says for Llama-7B: 39976960 with rank 16 on all linear
// layers, 4194304 with rank 8 on queries and values.
TEST(Lora, HasAsManyParametersAsPeftSays) {
  EXPECT_EQ(Trainable(Llama7B(), 16, LoraTargets::kAll), 39'976'960);
  EXPECT_EQ(Trainable(Llama7B(), 8, LoraTargets::kQueryValue), 4'194'304);
  // By hand: q, k, v and o of 4096 x 4096; gate and up of 4096 x 11008, and down.
  EXPECT_EQ(Trainable(Llama7B(), 16, LoraTargets::kAttention), 32 * 4 * 16 * 8192);
  EXPECT_EQ(Trainable(Llama7B(), 16, LoraTargets::kMlp), 32 * 3 * 16 * (4096 + 11008));
}

// Llama-2-70B's keys and values are 1024 wide.
TEST(Lora, CountsGroupedQueries) {
  TransformerSpec spec = Llama7B();
  spec.layers = 1;
  spec.hidden = 8192;
  spec.heads = 64;
  spec.kv_heads = 8;
  EXPECT_EQ(Trainable(spec, 4, LoraTargets::kQueryValue), 4 * (8192 + 8192 + 8192 + 1024));
  EXPECT_EQ(Trainable(spec, 4, LoraTargets::kAttention),
            4 * (2 * (8192 + 8192) + 2 * (8192 + 1024)));
}

TEST(Lora, GivesEveryExpertItsOwnAdapters) {
  TransformerSpec spec = Llama7B();
  spec.layers = 1;
  spec.mixture = MixtureSpec{.experts = 8, .experts_per_token = 2, .ffn_hidden = 512};
  EXPECT_EQ(Trainable(spec, 4, LoraTargets::kMlp), 8 * 3 * 4 * (4096 + 512));
}

// Before there is a layout: a number that is never below it, whatever the model.
TEST(Lora, IsCountedAheadOfTheLayout) {
  TransformerSpec dense = Llama7B();
  TransformerSpec mixture = dense;
  mixture.mixture = MixtureSpec{.experts = 8, .experts_per_token = 2, .ffn_hidden = 512};
  TransformerSpec latent = dense;
  latent.latent_attention = LatentAttentionSpec{.query_rank = 1536,
                                                .kv_rank = 512,
                                                .rope_dimension = 64,
                                                .nope_dimension = 128,
                                                .value_dimension = 128};
  for (TransformerSpec spec : {dense, mixture, latent}) {
    spec.lora = LoraSpec{.rank = 100'000};
    EXPECT_GT(ApproximateParameters(spec), static_cast<double>(Layout(spec).parameters()));
  }
}

TEST(Lora, AddsToTheModelAndFreezesIt) {
  TransformerSpec spec = Llama7B();
  const std::int64_t base = Layout(spec).parameters();
  EXPECT_EQ(Layout(spec).trainable_parameters(), base) << "without it everything is trained";
  spec.lora = LoraSpec{};
  EXPECT_EQ(Layout(spec).parameters(), base + 39'976'960);
}

// Two passes of three for frozen matrices; attention's scores have no weights and keep theirs. An
// adapter of rank r adds r (in + out) / (in out) of a matrix, three times.
TEST(Lora, SkipsTheGradientsOfFrozenWeights) {
  Scenario s = SmallScenario(1, 1);
  s.training.checkpointing = Checkpointing::kNone;
  s.model.lora = LoraSpec{.rank = 16, .targets = LoraTargets::kMlp};

  const Flops qkv = ForwardFlops(Part::kQkv, s);
  EXPECT_DOUBLE_EQ(Ratio(BackwardFlops(Part::kQkv, s), qkv), 1);
  EXPECT_DOUBLE_EQ(Ratio(BackwardFlops(Part::kAttention, s), ForwardFlops(Part::kAttention, s)), 2);
  EXPECT_DOUBLE_EQ(Ratio(BackwardFlops(Part::kHead, s), ForwardFlops(Part::kHead, s)), 1);
  const double base = 2.0 * 512 * 1024 * 4096;
  const double adapter = 2.0 * 512 * 16 * (1024 + 4096);
  EXPECT_DOUBLE_EQ(ForwardFlops(Part::kMlpIn, s).count(), base + adapter);
  EXPECT_DOUBLE_EQ(BackwardFlops(Part::kMlpIn, s).count(), base + 2 * adapter);

  // Of the step: 2/3 but for attention's scores and the adapters.
  Scenario full = s;
  full.model.lora.reset();
  EXPECT_NEAR(Ratio(FlopsOfStep(s).model, FlopsOfStep(full).model), 2.0 / 3, 0.03);
  EXPECT_LT(Ratio(FlopsOfStep(s).hardware, FlopsOfStep(full).hardware), 0.7);
  // And of the time of a frozen matrix: one product of two.
  const ModuleTime frozen = TimeOf(Part::kQkv, s);
  EXPECT_NEAR(Ratio(frozen.backward.gemm, TimeOf(Part::kQkv, full).backward.gemm), 0.5, 0.01);
  EXPECT_EQ(TimeOf(Part::kEmbedding, s).backward.total(), Seconds());
}

TEST(Lora, RunsAtAGivenMfuWithItsOwnFlop) {
  Scenario s = SmallScenario(1, 1);
  s.compute.mfu = 0.5;
  s.model.lora = LoraSpec{};
  const ModuleTime time = TimeOf(Part::kHead, s);
  EXPECT_NEAR(Ratio(time.backward.total(), time.forward.total()), 1, 1e-9);
}

// Weights in full or sharded, gradients and states of adapters only.
TEST(Lora, KeepsStatesOfAdaptersOnly) {
  Scenario s = SmallScenario(2, 4);
  s.model.lora = LoraSpec{};
  const ModelLayout layout = Layout(s.model);
  const std::int64_t all = layout.parameters();
  const std::int64_t adapters = layout.trainable_parameters();
  s.zero.param_persistence_threshold = 0;

  const StaticMemory three = StaticMemoryOf(s, layout);
  EXPECT_EQ(three.parameters.count(), 2 * all / 8);
  EXPECT_EQ(three.gradients.count(), 2 * adapters / 8);
  EXPECT_EQ(three.optimizer.count(), 12 * adapters / 8);
  s.zero.stage = 1;
  const StaticMemory one = StaticMemoryOf(s, layout);
  EXPECT_EQ(one.parameters.count(), 2 * all);
  EXPECT_EQ(one.gradients.count(), 2 * adapters);
  EXPECT_EQ(one.optimizer.count(), 12 * adapters / 8);
  s.fsdp.emplace();
  const StaticMemory fsdp = StaticMemoryOf(s, layout);
  EXPECT_EQ(fsdp.parameters.count(), (4 * adapters + 2 * (all - adapters)) / 8);
  EXPECT_EQ(fsdp.optimizer.count(), 8 * adapters / 8);
}

// int4: half a byte and an fp32 scale for 64 values; int8: a byte, and a scale for DeepSpeed's
// groups of at most 8000. Embedding, positions and vectors stay in 16 bit.
TEST(Lora, KeepsFrozenMatricesQuantised) {
  Scenario s = SmallScenario(1, 1);
  s.zero.stage = 1;
  const auto parameters = [&](int bits) {
    s.model.lora = LoraSpec{.frozen_bits = bits};
    return StaticMemoryOf(s, Layout(s.model)).parameters.count();
  };
  const std::int64_t matrices = std::int64_t{4} * 12 * 1024 * 1024;

  EXPECT_EQ(parameters(16) - parameters(4), 2 * matrices - (matrices / 2 + matrices / 16));
  const std::int64_t int8 = parameters(16) - parameters(8);
  EXPECT_NEAR(static_cast<double>(int8) / static_cast<double>(matrices), 1, 0.002);
}

// What a frozen matrix without an adapter does not keep: inputs of QKV and of the MLP's matrices.
TEST(Lora, KeepsInputsOfAdaptersOnly) {
  Scenario s = SmallScenario(1, 1);
  s.training.checkpointing = Checkpointing::kSelective;
  const auto per_token = [&](std::optional<LoraTargets> targets) {
    s.model.lora.reset();
    if (targets) s.model.lora = LoraSpec{.rank = 16, .targets = *targets};
    return ActivationMemoryOf(s).saved_per_layer.count() / 512;
  };
  const std::int64_t trained = per_token({});

  // A x of queries, keys, values, output, and of the MLP's two matrices.
  EXPECT_EQ(per_token(LoraTargets::kAll), trained + 2 * 6 * 16);
  EXPECT_EQ(per_token(LoraTargets::kAttention), trained + 2 * 4 * 16 - 2 * (1024 + 4096));
  EXPECT_EQ(per_token(LoraTargets::kMlp), trained + 2 * 2 * 16 - 2 * 1024);
}

std::int64_t FullOf(const StepProgram& program, const std::string& name) {
  std::int64_t bytes = 0;
  for (const Call& call : program.calls) {
    if (program.kinds[call.kind].name == name) bytes += call.full.count();
  }
  return bytes;
}

StepProgram Build(const Scenario& s) {
  return BuildProgram(s, Layout(s.model));
}

TEST(Lora, SendsGradientsAndUpdatesOfAdaptersOnly) {
  Scenario s = SmallScenario(2, 4);
  s.model.lora = LoraSpec{};
  const std::int64_t adapters = Layout(s.model).trainable_parameters();

  EXPECT_EQ(FullOf(Build(s), "gradients"), 2 * adapters);
  s.zero.stage = 2;
  EXPECT_EQ(FullOf(Build(s), "gradients"), 2 * adapters);
  EXPECT_EQ(FullOf(Build(s), "parameters_refresh"), 2 * adapters);
  s.fsdp.emplace();
  EXPECT_EQ(FullOf(Build(s), "gradients"), 4 * adapters);
}

// Every weight is still gathered for forward and backward: the frozen ones as they are kept, and
// without a kernel that quantises them first.
TEST(Lora, GathersFrozenWeightsAsTheyAreKept) {
  for (const bool fsdp : {false, true}) {
    SCOPED_TRACE(fsdp ? "fsdp" : "zero");
    Scenario s = SmallScenario(2, 4);
    s.training.checkpointing = Checkpointing::kNone;
    s.zero.max_reuse_distance = 0;
    s.zero.prefetch_bucket_size = 0;
    s.model.tied_embeddings = false;
    if (fsdp) s.fsdp.emplace();
    s.model.lora = LoraSpec{};
    const std::int64_t plain = FullOf(Build(s), "weights_backward");
    s.model.lora->frozen_bits = 4;
    const StepProgram program = Build(s);

    const std::int64_t matrices = std::int64_t{4} * 12 * 1024 * 1024;
    EXPECT_EQ(plain - FullOf(program, "weights_backward"),
              2 * matrices - (matrices / 2 + matrices / 16));
    for (const Op& op : program.ops) {
      if (fsdp || op.action != Action::kGather) continue;
      EXPECT_EQ(op.time, Seconds());
    }
  }
}

// Adapters of all weights and no rank to speak of: the schedule is that of the whole model.
TEST(Lora, GathersWhatTrainingOfAllGathers) {
  Scenario s = SmallScenario(2, 4);
  const std::int64_t all = FullOf(Build(s), "weights_forward");
  s.model.lora = LoraSpec{.rank = 1, .targets = LoraTargets::kQueryValue};
  // The adapters are persistent.
  EXPECT_EQ(FullOf(Build(s), "weights_forward"), all);
}

}  // namespace
}  // namespace zerosim
