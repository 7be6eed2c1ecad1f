#include "models/frameworks/neox_config.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/scenario/small_scenario.h"

namespace zerosim {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Eight ranks; everything else from the configuration.
std::string WithNeox(const std::string& more = "model: {vocabulary: 512}\n") {
  return "cluster:\n"                                                              // 1
         "  node: tiny_node\n"                                                     // 2
         "  nodes: 2\n"                                                            // 3
         "  fabric: {nics_per_node: 2, nic_bandwidth: 100 Gbps, latency: 2 us}\n"  // 4
         "neox: n.yml\n" +                                                         // 5
         more;                                                                     // 6
}

constexpr const char* kConfig =
    "# A comment.\n"
    "{\n"
    "  \"pipe-parallel-size\": 0,\n"
    "  \"model_parallel_size\": 1,\n"
    "  \"num-layers\": 3, \"hidden-size\": 64, \"num_attention_heads\": 4,\n"
    "  \"seq_length\": 256, \"max_position_embeddings\": 256,\n"
    "  \"pos_emb\": \"rotary\", \"no_weight_tying\": True,\n"
    "  \"zero_optimization\": {\"stage\": 2, \"overlap_comm\": True, \"cpu_offload\": False},\n"
    "  \"train_micro_batch_size_per_gpu\": 4, \"gradient_accumulation_steps\": 2,\n"
    "  \"checkpoint_activations\": true, \"checkpoint_num_layers\": 1,\n"
    "  \"fp16\": {\"fp16\": true, \"enabled\": true},\n"
    "  \"lr-decay-style\": \"cosine\", \"save\": \"./x\",\n"
    "}\n";

ReadResult Read(const std::string& config, const std::string& scenario = WithNeox()) {
  return ReadSmall(scenario, {}, {{"n.yml", config}});
}

std::string Error(const std::string& config, const std::string& scenario = WithNeox()) {
  return ErrorOf(scenario, {}, {{"n.yml", config}});
}

// kConfig with more keys.
std::string With(const std::string& keys) {
  std::string text = kConfig;
  return text.replace(text.rfind('}'), 1, keys + "}");
}

TEST(NeoxConfig, GivesModelTrainingAndZero) {
  const ReadResult read = Read(kConfig);
  const Scenario& s = read.scenario;

  EXPECT_EQ(s.model.layers, 3);
  EXPECT_EQ(s.model.hidden, 64);
  EXPECT_EQ(s.model.heads, 4);
  EXPECT_EQ(s.model.ffn_hidden, 256);
  EXPECT_EQ(s.model.vocabulary, 512);
  EXPECT_EQ(s.model.position, Position::kRotary);
  EXPECT_TRUE(s.model.biases);
  EXPECT_FALSE(s.model.tied_embeddings || s.model.gated_mlp);
  EXPECT_EQ(s.training.sequence_length, 256);
  EXPECT_EQ(s.training.micro_batch_size, 4);
  EXPECT_EQ(s.training.gradient_accumulation_steps, 2);
  EXPECT_EQ(s.training.precision, Precision::kFp16);
  EXPECT_EQ(s.training.checkpointing, Checkpointing::kFull);
  EXPECT_EQ(s.zero.stage, 2);
  EXPECT_EQ(s.zero.overlap_comm, true);
  EXPECT_THAT(read.warnings, IsEmpty());
  EXPECT_THAT(read.notes, ElementsAre("n.yml:2:1: note: not read, taken to be without effect on a "
                                      "step: lr-decay-style, save"));
}

TEST(NeoxConfig, HasTheDefaultsOfNeox) {
  const Scenario s = Read(R"({"num_layers": 1, "hidden_size": 64, "num_attention_heads": 4,
      "seq_length": 8, "train_batch_size": 16, "precision": "bfloat16"})")
                         .scenario;

  EXPECT_EQ(s.model.position, Position::kLearned);
  EXPECT_EQ(s.model.max_positions, 8);
  EXPECT_TRUE(s.model.tied_embeddings);
  EXPECT_EQ(s.training.checkpointing, Checkpointing::kNone);
  EXPECT_EQ(s.training.precision, Precision::kBf16);
  EXPECT_EQ(s.training.micro_batch_size, 2);
  EXPECT_EQ(s.zero.stage, 0);
}

TEST(NeoxConfig, LetsTheScenarioWin) {
  const Scenario s = Read(kConfig, WithNeox("model: {vocabulary: 512, layers: 5}\n"
                                            "training: {activation_checkpointing: none}\n"
                                            "zero: {stage: 3}\n"))
                         .scenario;

  EXPECT_EQ(s.model.layers, 5);
  EXPECT_EQ(s.training.checkpointing, Checkpointing::kNone);
  EXPECT_EQ(s.zero.stage, 3);
  EXPECT_EQ(s.zero.overlap_comm, true);
}

TEST(NeoxConfig, AsksForTheVocabulary) {
  EXPECT_EQ(Error(kConfig, WithNeox("")),
            "n.yml:2:1: error: the vocabulary is that of the tokenizer, padded to a multiple of "
            "128 x model_parallel_size: add model.vocabulary\n"
            "  {\n"
            "  ^\n");
}

TEST(NeoxConfig, ReadsGatedMlpsAndGroupedHeads) {
  const TransformerSpec m = Read(With(R"("norm": "rmsnorm", "activation": "swiglu",
      "intermediate_size": 96, "num_kv_heads": 2, "use_bias_in_attn_linear": false)"))
                                .scenario.model;

  EXPECT_TRUE(m.gated_mlp);
  EXPECT_FALSE(m.biases);
  EXPECT_EQ(m.ffn_hidden, 96);
  EXPECT_EQ(m.kv_heads, 2);
}

TEST(NeoxConfig, ReadsBlocksNormsAndWindows) {
  const auto model = [](const char* keys) { return Read(With(keys)).scenario.model; };

  EXPECT_EQ(model("\"gpt_j_residual\": true").block, Block::kParallelTwoNorms);
  EXPECT_EQ(model("\"gpt_j_residual\": true, \"gpt_j_tied\": true").block, Block::kParallel);
  EXPECT_EQ(model("\"gpt_j_tied\": true").block, Block::kPreNorm);
  EXPECT_EQ(model("\"norm\": \"rmsnorm\"").norm(), Norm::kRms);
  EXPECT_EQ(model("\"norm\": \"scalenorm\"").norm(), Norm::kWithoutWeights);
  EXPECT_EQ(model("\"use_bias_in_norms\": false").norm(), Norm::kLayerWithoutBias);
  EXPECT_EQ(model("\"use_qk_layernorm\": true").query_key_norm, QueryKeyNorm::kWidth);
  EXPECT_EQ(model("\"sliding_window_width\": 64").sliding_window->length, 64);
}

TEST(NeoxConfig, ReadsBiasesOfAttentionAndMlpApart) {
  const auto model = [](const char* keys) { return Read(With(keys)).scenario.model; };

  const TransformerSpec attention = model("\"use_bias_in_mlp\": false");
  EXPECT_TRUE(attention.qkv_biases() && attention.output_biases());
  EXPECT_FALSE(attention.mlp_biases());
  EXPECT_EQ(attention.norm(), Norm::kLayer);
  const TransformerSpec mlp = model("\"use_bias_in_attn_linear\": false");
  EXPECT_FALSE(mlp.qkv_biases() || mlp.output_biases());
  EXPECT_TRUE(mlp.mlp_biases());
  const TransformerSpec llama = model("\"mlp_type\": \"llama\", \"intermediate_size\": 96");
  EXPECT_FALSE(llama.mlp_biases());
  EXPECT_TRUE(llama.gated_mlp);
}

// kConfig with two tensor-parallel ranks.
std::string Divided(const std::string& keys) {
  std::string config = With(keys);
  return config.replace(config.find("size\": 1"), 8, "size\": 2");
}

TEST(NeoxConfig, ReadsHowRanksDivideTheModel) {
  const ReadResult read = Read(Divided(R"("context_parallel_size": 2, "sequence_parallel": true,
      "train_batch_size": 16)"));

  EXPECT_EQ(read.scenario.parallel.tensor, 2);
  EXPECT_EQ(read.scenario.parallel.context, 2);
  EXPECT_TRUE(read.scenario.parallel.sequence_parallel);
  EXPECT_EQ(read.scenario.sample_ranks(), 2);
  EXPECT_EQ(read.scenario.training.global_batch_size, 16);
  EXPECT_THAT(read.notes, Contains("n.yml:13:26: note: context_parallel_size: ring attention is "
                                   "simulated as a gather of keys and values"));
}

TEST(NeoxConfig, SpreadsCheckpointsOverTheRanksOfAModel) {
  const char* const keys = "\"partition_activations\": true";
  EXPECT_FALSE(Read(With(keys)).scenario.training.partition_checkpoints);
  EXPECT_TRUE(Read(Divided(keys)).scenario.training.partition_checkpoints);
}

TEST(NeoxConfig, GivesNoStrategyBesideFsdp) {
  const ReadResult read = Read(kConfig, WithNeox("model: {vocabulary: 512}\nfsdp: {}\n"));

  EXPECT_TRUE(read.scenario.fsdp.has_value());
  EXPECT_EQ(read.scenario.training.micro_batch_size, 4);
}

TEST(NeoxConfig, SaysWhatIsComputedOtherwise) {
  EXPECT_THAT(Read(With("\"rotary_pct\": 0.25")).notes,
              Contains("n.yml:13:15: note: rotary_pct: computed as over all of a head"));
}

struct RefusedCase {
  const char* name;
  const char* keys;
  const char* what;
};

class RefusedTest : public testing::TestWithParam<RefusedCase> {};

TEST_P(RefusedTest, NamesTheKey) {
  EXPECT_THAT(Error(With(GetParam().keys)), HasSubstr(GetParam().what));
}

INSTANTIATE_TEST_SUITE_P(
    NeoxConfig, RefusedTest,
    testing::Values(
        RefusedCase{"Twice", "\"num_layers\": 3",
                    "n.yml:13:15: error: num_layers: also given as num-layers (line 5); leave one "
                    "out"},
        RefusedCase{"RelativePositions", "\"pos-emb\": \"rpe\"", "pos-emb: also given as pos_emb"},
        RefusedCase{"Sparse", "\"attention_config\": [[[\"global\", \"bigbird\"], 2]]",
                    "attention_config: attention of kind \"bigbird\" is not modelled"},
        RefusedCase{"Gated", "\"activation\": \"geglu\"",
                    "activation: a gated MLP has no width of its own here; add intermediate_size"},
        RefusedCase{"Encoder", "\"model_arch\": \"t5\"", "model_arch: only decoders"},
        RefusedCase{"Experts", "\"moe_num_experts\": 8", "moe_num_experts: mixtures of experts"},
        RefusedCase{"Fp32", "\"fp32_allreduce\": true",
                    "fp32_allreduce: sending gradients in fp32"},
        RefusedCase{"DeepSpeedKey", "\"communication_data_type\": \"fp32\"",
                    "communication_data_type: sending gradients in fp32"},
        RefusedCase{"Offload", "\"optimizer\": {\"type\": \"sm3\"}",
                    "optimizer.type: only Adam's"}),
    [](const auto& test) { return test.param.name; });

TEST(NeoxConfig, RefusesParallelismAtItsPlace) {
  std::string config = kConfig;
  config.replace(config.find("size\": 0"), 8, "size\": 4");
  EXPECT_THAT(Error(config), HasSubstr("n.yml:3:25: error: parallelism.pipeline: DeepSpeed "
                                       "refuses pipeline parallelism with ZeRO stages 2 and 3"));
}

TEST(NeoxConfig, IsNotReadBesideADeepSpeedConfiguration) {
  EXPECT_THAT(ErrorOf(WithNeox("model: {vocabulary: 512}\nzero: {deepspeed_config: ds.json}\n"), {},
                      {{"n.yml", kConfig}, {"ds.json", "{}"}}),
              HasSubstr("zero.deepspeed_config: neox gives the keys of zero too; leave one out"));
}

TEST(NeoxConfig, SaysOnceThatTheFileIsNotThere) {
  EXPECT_EQ(ErrorOf(WithNeox()),
            "s.yaml:5:7: error: neox: n.yml: no such file\n"
            "  neox: n.yml\n"
            "        ^\n");
}

}  // namespace
}  // namespace zerosim
