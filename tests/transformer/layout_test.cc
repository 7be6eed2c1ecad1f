#include <algorithm>
#include <set>
#include <stdexcept>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/transformer/transformer.h"

namespace zerosim {
namespace {

using ::testing::ElementsAre;

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

TransformerSpec Llama2(int layers, std::int64_t hidden, int heads, int kv_heads, std::int64_t ffn) {
  return {.name = "llama2",
          .layers = layers,
          .hidden = hidden,
          .heads = heads,
          .kv_heads = kv_heads,
          .ffn_hidden = ffn,
          .vocabulary = 32000,
          .position = Position::kRotary,
          .gated_mlp = true,
          .biases = false,
          .tied_embeddings = false};
}

std::vector<Part> PartsOf(const ModelLayout& layout, int layer) {
  std::vector<Part> parts;
  for (const Module& module : layout.modules) {
    if (module.layer == layer) parts.push_back(module.part);
  }
  return parts;
}

// Biases of 3h, h, 4h and h and two norms of 2h: 13h vectors a layer beside 12h^2 of matrices.
TEST(Layout, CountsTheParametersOfThe18BModelOfTheZeroPlusPlusTutorial) {
  const std::int64_t h = 6144;

  const ModelLayout layout = Layout(Gpt18B());

  EXPECT_EQ(layout.parameters(), 40 * (12 * h * h + 13 * h) + 50304 * h + 512 * h + 2 * h);
  EXPECT_EQ(layout.parameters(), 18'434'813'952);
  EXPECT_EQ(layout.layer_parameters(), 12 * h * h + 13 * h);
}

// The sizes that arXiv 2307.09288 rounds to 7B, 13B and 70B. On paper, for 7B: 32 layers of
// 4 * 4096^2 + 3 * 4096 * 11008 + 2 * 4096, two tables of 32000 * 4096, and 4096 of the last norm.
TEST(Layout, CountsTheParametersOfLlama2) {
  EXPECT_EQ(Layout(Llama2(32, 4096, 32, 32, 11008)).parameters(), 6'738'415'616);
  EXPECT_EQ(Layout(Llama2(40, 5120, 40, 40, 13824)).parameters(), 13'015'864'320);
  // Grouped queries: 8 heads of keys and values for 64 of queries.
  EXPECT_EQ(Layout(Llama2(80, 8192, 64, 8, 28672)).parameters(), 68'976'648'192);
}

// arXiv 2005.14165, table 2.1: 96 layers of 12288. On paper: 96 * (12h^2 + 13h) + 50257h + 2048h
// + 2h = 174.6e9.
TEST(Layout, CountsTheParametersOfGpt3) {
  TransformerSpec spec = Gpt18B();
  spec.layers = 96;
  spec.hidden = 12288;
  spec.heads = 96;
  spec.kv_heads = 96;
  spec.ffn_hidden = std::int64_t{4} * 12288;
  spec.vocabulary = 50257;
  spec.max_positions = 2048;

  EXPECT_EQ(Layout(spec).parameters(), 174'604'259'328);
}

TEST(Layout, GivesEveryLayerItsModulesInTheOrderOfExecution) {
  const ModelLayout layout = Layout(Gpt18B());

  EXPECT_EQ(layout.modules.size(), 1 + 40 * 10 + 2);
  EXPECT_EQ(layout.modules.front().part, Part::kEmbedding);
  EXPECT_EQ(layout.modules[layout.modules.size() - 2].part, Part::kFinalNorm);
  EXPECT_EQ(layout.modules.back().part, Part::kHead);
  for (const int layer : {0, 39}) {
    EXPECT_THAT(PartsOf(layout, layer),
                ElementsAre(Part::kInputNorm, Part::kQkv, Part::kAttention, Part::kAttentionOutput,
                            Part::kResidual, Part::kPostNorm, Part::kMlpIn, Part::kActivation,
                            Part::kMlpOut, Part::kResidual));
  }
}

TEST(Layout, NamesWeightsInTheOrderInWhichForwardNeedsThem) {
  TransformerSpec spec = Gpt18B();
  spec.layers = 1;

  const ModelLayout layout = Layout(spec);

  std::vector<std::string> names;
  for (const Weight& weight : layout.weights) names.push_back(weight.name);
  EXPECT_THAT(names, ElementsAre("embedding", "positions", "layers.0.input_norm",
                                 "layers.0.input_norm.bias", "layers.0.qkv", "layers.0.qkv.bias",
                                 "layers.0.attention_output", "layers.0.attention_output.bias",
                                 "layers.0.post_norm", "layers.0.post_norm.bias", "layers.0.mlp_in",
                                 "layers.0.mlp_in.bias", "layers.0.mlp_out",
                                 "layers.0.mlp_out.bias", "final_norm", "final_norm.bias"));
}

TEST(Layout, ShapesAGatedLayerWithGroupedQueries) {
  const ModelLayout layout = Layout(Llama2(1, 8192, 64, 8, 28672));

  // 64 heads of queries and 2 * 8 of keys and values, 128 wide each.
  const Weight& qkv = layout.weights.at(2);
  EXPECT_EQ(qkv.name, "layers.0.qkv");
  EXPECT_EQ(qkv.rows, 80 * 128);
  EXPECT_EQ(qkv.columns, 8192);
  const Weight& mlp_in = layout.weights.at(5);
  EXPECT_EQ(mlp_in.name, "layers.0.mlp_in");
  EXPECT_EQ(mlp_in.rows, 2 * 28672);
}

TEST(Layout, UsesEveryWeightInOneModuleButATiedEmbeddingInTwo) {
  for (const bool tied : {true, false}) {
    TransformerSpec spec = Gpt18B();
    spec.tied_embeddings = tied;

    const ModelLayout layout = Layout(spec);

    std::multiset<int> uses;
    for (const Module& module : layout.modules) {
      uses.insert(module.weights.begin(), module.weights.end());
    }
    for (int weight = 0; weight < static_cast<int>(layout.weights.size()); ++weight) {
      EXPECT_EQ(uses.count(weight), tied && weight == 0 ? 2 : 1) << layout.weights[weight].name;
    }
    EXPECT_EQ(layout.parameters(), Layout(Gpt18B()).parameters() + (tied ? 0 : 50304 * 6144));
  }
}

TransformerSpec Qwen3_32B() {
  TransformerSpec spec = Llama2(64, 5120, 64, 8, 25600);
  spec.vocabulary = 151936;
  spec.own_head_dimension = 128;
  spec.query_key_norm = QueryKeyNorm::kHead;
  return spec;
}

// 61 layers, the first 3 dense; 256 experts of 2048 and a shared one (arXiv 2412.19437,
// section 4.2).
TransformerSpec DeepSeekV3() {
  TransformerSpec spec = Llama2(61, 7168, 128, 128, 18432);
  spec.vocabulary = 129280;
  spec.mixture = MixtureSpec{.experts = 256,
                             .experts_per_token = 8,
                             .ffn_hidden = 2048,
                             .shared_ffn_hidden = 2048,
                             .router_bias = true,
                             .dense_layers = 3};
  spec.latent_attention = LatentAttentionSpec{.query_rank = 1536,
                                              .kv_rank = 512,
                                              .rope_dimension = 64,
                                              .nope_dimension = 128,
                                              .value_dimension = 128};
  return spec;
}

// Queries are 64 x 128 = 8192 wide on a residual stream of 5120. The count is that of the model's
// safetensors files (65,524,246,528 bytes of bf16).
TEST(Layout, GivesHeadsAWidthOfTheirOwn) {
  const ModelLayout layout = Layout(Qwen3_32B());

  EXPECT_EQ(layout.parameters(), 32'762'123'264);
  EXPECT_EQ(layout.weights.at(2).rows, 8192 + 2 * 1024);
  EXPECT_THAT(
      PartsOf(layout, 0),
      ElementsAre(Part::kInputNorm, Part::kQkv, Part::kQueryNorm, Part::kKeyNorm, Part::kAttention,
                  Part::kAttentionOutput, Part::kResidual, Part::kPostNorm, Part::kMlpIn,
                  Part::kActivation, Part::kMlpOut, Part::kResidual));
}

// On paper, per layer: attention 7168*1536 + 1536 + 1536*24576 + 7168*576 + 512 + 512*32768 +
// 16384*7168 and two norms; a dense MLP 3*7168*18432; an expert 3*7168*2048, of which there are
// 257, and the router's 256*7168 + 256. arXiv 2412.19437 says 671B, 37B activated.
TEST(Layout, CountsDeepSeekV3) {
  const ModelLayout layout = Layout(DeepSeekV3());

  const std::int64_t attention =
      7168 * 1536 + 1536 + 1536 * 24576 + 7168 * 576 + 512 + 512 * 32768 + 16384 * 7168;
  const std::int64_t expert = 3 * 7168 * 2048;
  const std::int64_t outside = 2 * 129280 * 7168 + 7168 + 61 * (attention + 2 * 7168) +
                               std::int64_t{3} * 3 * 7168 * 18432 + 58 * (256 * 7168 + 256);
  EXPECT_EQ(layout.parameters(), outside + 58 * 257 * expert);
  EXPECT_EQ(layout.parameters(), 671'026'419'200);
  EXPECT_EQ(layout.active_parameters(), outside + 58 * 9 * expert);
  EXPECT_NEAR(static_cast<double>(layout.active_parameters()) * 1e-9, 37.5, 0.1);
}

// 45 thousand matrices of experts are two entries a layer.
TEST(Layout, KeepsOneEntryForTheExpertsOfALayer) {
  const ModelLayout layout = Layout(DeepSeekV3());

  EXPECT_LT(layout.weights.size(), 1000);
  for (const Weight& w : layout.weights) {
    const bool experts = w.name.find("experts_") != std::string::npos;
    EXPECT_EQ(w.count, experts ? 256 : 1) << w.name;
    EXPECT_EQ(w.active, experts ? 8 : 1) << w.name;
    EXPECT_EQ(w.elements(), w.count * w.tensor_elements());
  }
  EXPECT_THAT(PartsOf(layout, 3),
              ElementsAre(Part::kInputNorm, Part::kQueryDown, Part::kQueryNorm, Part::kQueryUp,
                          Part::kKvDown, Part::kKeyNorm, Part::kKvUp, Part::kAttention,
                          Part::kAttentionOutput, Part::kResidual, Part::kPostNorm, Part::kRouter,
                          Part::kDispatch, Part::kExpertsIn, Part::kExpertsActivation,
                          Part::kExpertsOut, Part::kSharedIn, Part::kSharedActivation,
                          Part::kSharedOut, Part::kCombine, Part::kResidual));
}

TEST(Layout, PutsExpertsInTheLayersThatAreToHaveThem) {
  TransformerSpec spec = DeepSeekV3();
  spec.layers = 6;
  spec.mixture->dense_layers = 2;
  spec.mixture->every = 2;

  std::vector<bool> experts;
  for (int layer = 0; layer < 6; ++layer) experts.push_back(spec.has_experts(layer));

  EXPECT_THAT(experts, ElementsAre(false, false, false, true, false, true));
  for (const int dense : {0, 1, 3, 6, 9}) {
    for (const int every : {1, 2, 4, 7}) {
      spec.mixture->dense_layers = dense;
      spec.mixture->every = every;
      int count = 0;
      for (int layer = 0; layer < 6; ++layer) count += spec.has_experts(layer) ? 1 : 0;
      EXPECT_EQ(spec.expert_layers(), count) << dense << " " << every;
    }
  }
}

TEST(Layout, LetsSomeLayersSeeTheWholeSequence) {
  TransformerSpec spec = Llama2(6, 64, 4, 4, 128);
  const auto local = [&] {
    std::vector<bool> layers;
    for (int layer = 0; layer < 6; ++layer) layers.push_back(spec.is_local(layer));
    return layers;
  };

  EXPECT_THAT(local(), testing::Each(false));
  spec.sliding_window = SlidingWindowSpec{.length = 16};
  EXPECT_THAT(local(), testing::Each(true));
  spec.sliding_window->global_every = 3;
  EXPECT_THAT(local(), ElementsAre(true, true, false, true, true, false));
  spec.sliding_window->global_layers = 2;
  EXPECT_THAT(local(), ElementsAre(false, false, false, true, true, false));
  for (const int leading : {0, 1, 4, 8}) {
    for (const int every : {0, 1, 2, 5, 9}) {
      spec.sliding_window->global_layers = leading;
      spec.sliding_window->global_every = every;
      EXPECT_EQ(spec.local_layers(), std::ranges::count(local(), true)) << leading << " " << every;
    }
  }
  EXPECT_EQ(Layout(spec).parameters(), Layout(Llama2(6, 64, 4, 4, 128)).parameters());
}

// Parts with h values of weights, by block: how many norms there are, and where.
TEST(Layout, PlacesNormsByTheKindOfBlock) {
  const auto parts = [](Block block) {
    TransformerSpec spec = Llama2(1, 64, 4, 4, 128);
    spec.block = block;
    return PartsOfLayer(spec, false, false);
  };
  const std::vector<Part> attention = {Part::kQkv, Part::kAttention, Part::kAttentionOutput};
  const std::vector<Part> mlp = {Part::kMlpIn, Part::kActivation, Part::kMlpOut};
  const auto join = [](std::initializer_list<std::vector<Part>> pieces) {
    std::vector<Part> all;
    for (const auto& piece : pieces) all.insert(all.end(), piece.begin(), piece.end());
    return all;
  };
  const Part add = Part::kResidual;

  EXPECT_EQ(parts(Block::kPostNorm),
            join({attention, {add, Part::kAttentionNorm}, mlp, {add, Part::kMlpNorm}}));
  EXPECT_EQ(parts(Block::kOutputNorm),
            join({attention, {Part::kAttentionNorm, add}, mlp, {Part::kMlpNorm, add}}));
  EXPECT_EQ(parts(Block::kSandwich), join({{Part::kInputNorm},
                                           attention,
                                           {Part::kAttentionNorm, add, Part::kPostNorm},
                                           mlp,
                                           {Part::kMlpNorm, add}}));
  EXPECT_EQ(parts(Block::kParallel), join({{Part::kInputNorm}, attention, mlp, {add, add}}));
  EXPECT_EQ(parts(Block::kParallelTwoNorms),
            join({{Part::kInputNorm}, attention, {Part::kPostNorm}, mlp, {add, add}}));
}

// h = 64: QKV's bias has 3h values, attention's output h, the MLP 2h and h.
TEST(Layout, TellsBiasesAndNormsApart) {
  TransformerSpec spec = Llama2(1, 64, 4, 4, 128);
  spec.gated_mlp = false;
  const std::int64_t none = Layout(spec).parameters();
  const auto more = [&] { return Layout(spec).parameters() - none; };

  spec.own_qkv_biases = true;
  EXPECT_EQ(more(), 3 * 64);
  spec.own_output_biases = true;
  EXPECT_EQ(more(), 4 * 64);
  spec.own_mlp_biases = true;
  EXPECT_EQ(more(), 7 * 64);
  spec.own_norm = Norm::kLayer;  // three norms
  EXPECT_EQ(more(), 10 * 64);
  spec.head_bias = true;
  EXPECT_EQ(more(), 10 * 64 + 32000);
  spec.embedding_norm = true;
  EXPECT_EQ(more(), 12 * 64 + 32000);
  spec.own_norm = Norm::kWithoutWeights;
  EXPECT_EQ(more(), 4 * 64 + 32000);
}

// Two matrices of 32 x 64 beside tables of half the width.
TEST(Layout, ProjectsANarrowEmbedding) {
  TransformerSpec spec = Llama2(1, 64, 4, 4, 128);
  const std::int64_t wide = Layout(spec).parameters();
  spec.embedding_width = 32;

  EXPECT_EQ(Layout(spec).parameters(), wide - 2 * 32000 * 32 + 2 * 32 * 64);
}

TEST(ApproximateParameters, IsNearTheCount) {
  for (const TransformerSpec& spec : {Qwen3_32B(), Llama2(32, 4096, 32, 32, 11008)}) {
    EXPECT_NEAR(ApproximateParameters(spec) / static_cast<double>(Layout(spec).parameters()), 1,
                0.05);
  }
  // Layers count as dense and as experts both.
  const TransformerSpec spec = DeepSeekV3();
  EXPECT_NEAR(ApproximateParameters(spec) / static_cast<double>(Layout(spec).parameters()), 1, 0.1);
}

struct BadSpec {
  const char* name;
  void (*spoil)(TransformerSpec&);
  const char* message;
};

class LayoutRefuses : public ::testing::TestWithParam<BadSpec> {};

TEST_P(LayoutRefuses, AndSaysWhy) {
  TransformerSpec spec = Gpt18B();
  GetParam().spoil(spec);

  try {
    Layout(spec);
    FAIL() << "no exception";
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(), GetParam().message);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Specs, LayoutRefuses,
    ::testing::Values(
        BadSpec{"NoLayers", [](TransformerSpec& s) { s.layers = 0; },
                "layers must be positive, got 0"},
        BadSpec{"NegativeHidden", [](TransformerSpec& s) { s.hidden = -6144; },
                "hidden must be positive, got -6144"},
        BadSpec{"NoPositions", [](TransformerSpec& s) { s.max_positions = 0; },
                "max_positions must be positive, got 0"},
        BadSpec{"OddHeads", [](TransformerSpec& s) { s.heads = s.kv_heads = 7; },
                "heads must divide hidden, got 7 heads for 6144"},
        BadSpec{"OddKvHeads", [](TransformerSpec& s) { s.kv_heads = 5; },
                "kv_heads must divide heads, got 5 kv_heads for 32"},
        BadSpec{"TooFewExperts",
                [](TransformerSpec& s) {
                  s.mixture = MixtureSpec{.experts = 2, .experts_per_token = 3, .ffn_hidden = 8};
                },
                "experts_per_token must be at most the 2 experts, got 3"},
        BadSpec{"NoWindow", [](TransformerSpec& s) { s.sliding_window = SlidingWindowSpec{}; },
                "the window's length must be positive, got 0"},
        BadSpec{"NoLatent", [](TransformerSpec& s) { s.latent_attention = LatentAttentionSpec{}; },
                "kv_rank must be positive, got 0"}),
    [](const auto& spec) { return spec.param.name; });

}  // namespace
}  // namespace zerosim
