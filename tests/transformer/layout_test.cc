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
    ::testing::Values(BadSpec{"NoLayers", [](TransformerSpec& s) { s.layers = 0; },
                              "layers must be positive, got 0"},
                      BadSpec{"NegativeHidden", [](TransformerSpec& s) { s.hidden = -6144; },
                              "hidden must be positive, got -6144"},
                      BadSpec{"NoPositions", [](TransformerSpec& s) { s.max_positions = 0; },
                              "max_positions must be positive, got 0"},
                      BadSpec{"OddHeads", [](TransformerSpec& s) { s.heads = s.kv_heads = 7; },
                              "heads must divide hidden, got 7 heads for 6144"},
                      BadSpec{"OddKvHeads", [](TransformerSpec& s) { s.kv_heads = 5; },
                              "kv_heads must divide heads, got 5 kv_heads for 32"}),
    [](const auto& spec) { return spec.param.name; });

}  // namespace
}  // namespace zerosim
