// Hugging Face configurations as models. The inputs hold the numbers of public config.json files,
// cut down to the keys that say something about the shape.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/frameworks/import.h"
#include "models/frameworks/sections_yaml.h"
#include "models/transformer/transformer.h"
#include "tests/scenario/small_scenario.h"

namespace zerosim {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

struct ImportedModel {
  std::string yaml;
  std::int64_t parameters = 0;
  std::int64_t active_parameters = 0;
  std::vector<std::string> warnings;
};

ImportedModel Import(const std::string& json) {
  const Imported imported =
      ImportFile(Framework::kHuggingFace, "config.json", {}, MemoryFiles({{"config.json", json}}));
  return {SectionsYaml(imported.sections), imported.size->parameters,
          imported.size->active_parameters, imported.warnings};
}

// What a user sees of `json`, or "" if it is accepted.
std::string ErrorOfImport(const std::string& json) {
  try {
    Import(json);
    return "";
  } catch (const ScenarioError& e) {
    return e.what();
  }
}

struct PublicModel {
  const char* name;
  const char* json;
  std::int64_t parameters;  // of the model's safetensors or PyTorch files, each tensor once
};

class HuggingFaceModels : public testing::TestWithParam<PublicModel> {};

TEST_P(HuggingFaceModels, HaveTheParametersOfTheirFiles) {
  const ImportedModel model = Import(GetParam().json);

  EXPECT_EQ(model.parameters, GetParam().parameters) << model.yaml;
  EXPECT_THAT(model.warnings, IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(
    Families, HuggingFaceModels,
    testing::Values(
        PublicModel{"Llama31_8B", R"({"model_type": "llama", "hidden_size": 4096,
          "intermediate_size": 14336, "num_attention_heads": 32, "num_hidden_layers": 32,
          "num_key_value_heads": 8, "vocab_size": 128256, "tie_word_embeddings": false})",
                    8'030'261'248},
        PublicModel{"Llama32_1B", R"({"model_type": "llama", "hidden_size": 2048, "head_dim": 64,
          "intermediate_size": 8192, "num_attention_heads": 32, "num_hidden_layers": 16,
          "num_key_value_heads": 8, "vocab_size": 128256, "tie_word_embeddings": true})",
                    1'235'814'400},
        PublicModel{"Mistral7B", R"({"model_type": "mistral", "hidden_size": 4096,
          "intermediate_size": 14336, "num_attention_heads": 32, "num_hidden_layers": 32,
          "num_key_value_heads": 8, "sliding_window": 4096, "vocab_size": 32000})",
                    7'241'732'096},
        PublicModel{"Mixtral8x7B", R"({"model_type": "mixtral", "hidden_size": 4096,
          "intermediate_size": 14336, "num_attention_heads": 32, "num_experts_per_tok": 2,
          "num_hidden_layers": 32, "num_key_value_heads": 8, "num_local_experts": 8,
          "sliding_window": null, "vocab_size": 32000})",
                    46'702'792'704},
        PublicModel{"Qwen25_7B", R"({"model_type": "qwen2", "hidden_size": 3584,
          "intermediate_size": 18944, "max_window_layers": 28, "num_attention_heads": 28,
          "num_hidden_layers": 28, "num_key_value_heads": 4, "sliding_window": 131072,
          "tie_word_embeddings": false, "use_sliding_window": false, "vocab_size": 152064})",
                    7'615'616'512},
        PublicModel{"Qwen3_06B", R"({"model_type": "qwen3", "head_dim": 128, "hidden_size": 1024,
          "intermediate_size": 3072, "num_attention_heads": 16, "num_hidden_layers": 28,
          "num_key_value_heads": 8, "tie_word_embeddings": true, "vocab_size": 151936})",
                    596'049'920},
        PublicModel{"Qwen3_30B_A3B", R"({"model_type": "qwen3_moe", "decoder_sparse_step": 1,
          "head_dim": 128, "hidden_size": 2048, "intermediate_size": 6144, "mlp_only_layers": [],
          "moe_intermediate_size": 768, "num_attention_heads": 32, "num_experts": 128,
          "num_experts_per_tok": 8, "num_hidden_layers": 48, "num_key_value_heads": 4,
          "tie_word_embeddings": false, "vocab_size": 151936})",
                    30'532'122'624},
        PublicModel{"Qwen15_MoE_A27B", R"({"model_type": "qwen2_moe", "decoder_sparse_step": 1,
          "hidden_size": 2048, "intermediate_size": 5632, "moe_intermediate_size": 1408,
          "num_attention_heads": 16, "num_experts": 60, "num_experts_per_tok": 4,
          "num_hidden_layers": 24, "num_key_value_heads": 16,
          "shared_expert_intermediate_size": 5632, "tie_word_embeddings": false,
          "vocab_size": 151936})",
                    14'315'784'192},
        PublicModel{"Gemma2B", R"({"model_type": "gemma", "head_dim": 256, "hidden_size": 2048,
          "intermediate_size": 16384, "num_attention_heads": 8, "num_hidden_layers": 18,
          "num_key_value_heads": 1, "vocab_size": 256000})",
                    2'506'172'416},
        PublicModel{"Gemma2_2B", R"({"model_type": "gemma2", "head_dim": 256, "hidden_size": 2304,
          "intermediate_size": 9216, "num_attention_heads": 8, "num_hidden_layers": 26,
          "num_key_value_heads": 4, "sliding_window": 4096, "vocab_size": 256000})",
                    2'614'341'888},
        PublicModel{"Gemma3_1B", R"({"model_type": "gemma3_text", "head_dim": 256,
          "hidden_size": 1152, "intermediate_size": 6912, "num_attention_heads": 4,
          "num_hidden_layers": 26, "num_key_value_heads": 1, "sliding_window": 512,
          "sliding_window_pattern": 6, "vocab_size": 262144})",
                    999'885'952},
        PublicModel{"Gpt2", R"({"model_type": "gpt2", "n_ctx": 1024, "n_embd": 768, "n_head": 12,
          "n_layer": 12, "n_positions": 1024, "vocab_size": 50257})",
                    124'439'808},
        PublicModel{"GptNeo13B", R"({"model_type": "gpt_neo", "hidden_size": 2048,
          "intermediate_size": null, "num_heads": 16, "num_layers": 24, "window_size": 256,
          "attention_types": [[["global", "local"], 12]], "max_position_embeddings": 2048,
          "vocab_size": 50257})",
                    1'315'575'808},
        PublicModel{"GptJ6B", R"({"model_type": "gptj", "n_embd": 4096, "n_head": 16,
          "n_inner": null, "n_layer": 28, "n_positions": 2048, "rotary_dim": 64,
          "tie_word_embeddings": false, "vocab_size": 50400})",
                    6'050'882'784},
        PublicModel{"Pythia69B", R"({"model_type": "gpt_neox", "hidden_size": 4096,
          "intermediate_size": 16384, "num_attention_heads": 32, "num_hidden_layers": 32,
          "use_parallel_residual": true, "tie_word_embeddings": false, "vocab_size": 50432})",
                    6'857'302'016},
        PublicModel{"Opt125M", R"({"model_type": "opt", "do_layer_norm_before": true,
          "ffn_dim": 3072, "hidden_size": 768, "max_position_embeddings": 2048,
          "num_attention_heads": 12, "num_hidden_layers": 12, "vocab_size": 50272,
          "word_embed_proj_dim": 768})",
                    125'239'296},
        PublicModel{"Opt350M", R"({"model_type": "opt", "do_layer_norm_before": false,
          "ffn_dim": 4096, "hidden_size": 1024, "max_position_embeddings": 2048,
          "num_attention_heads": 16, "num_hidden_layers": 24, "vocab_size": 50272,
          "word_embed_proj_dim": 512})",
                    331'196'416},
        PublicModel{"Bloom560M", R"({"model_type": "bloom", "n_embed": 1024, "n_layer": 24,
          "num_attention_heads": 16, "n_inner": null, "vocab_size": 250880})",
                    559'214'592},
        PublicModel{"Falcon7B", R"({"model_type": "falcon", "alibi": false, "bias": false,
          "hidden_size": 4544, "multi_query": true, "new_decoder_architecture": false,
          "num_attention_heads": 71, "num_hidden_layers": 32, "parallel_attn": true,
          "vocab_size": 65024})",
                    6'921'720'704},
        PublicModel{"Falcon40B", R"({"model_type": "falcon", "alibi": false, "bias": false,
          "hidden_size": 8192, "multi_query": true, "new_decoder_architecture": true,
          "num_attention_heads": 128, "num_hidden_layers": 60, "num_kv_heads": 8,
          "parallel_attn": true, "tie_word_embeddings": false, "vocab_size": 65024})",
                    41'835'970'560},
        PublicModel{"Mpt7B", R"({"model_type": "mpt", "attn_config": {"alibi": true,
          "attn_type": "multihead_attention", "qk_ln": false}, "d_model": 4096,
          "expansion_ratio": 4, "learned_pos_emb": true, "max_seq_len": 2048, "n_heads": 32,
          "n_layers": 32, "no_bias": true, "vocab_size": 50432})",
                    6'649'286'656},
        PublicModel{"Phi2", R"({"model_type": "phi", "hidden_size": 2560,
          "intermediate_size": 10240, "num_attention_heads": 32, "num_hidden_layers": 32,
          "qk_layernorm": false, "tie_word_embeddings": false, "vocab_size": 51200})",
                    2'779'683'840},
        PublicModel{"Phi3Mini", R"({"model_type": "phi3", "hidden_size": 3072,
          "intermediate_size": 8192, "num_attention_heads": 32, "num_hidden_layers": 32,
          "num_key_value_heads": 32, "sliding_window": 2047, "tie_word_embeddings": false,
          "vocab_size": 32064})",
                    3'821'079'552},
        PublicModel{"DeepSeekV2Lite", R"({"model_type": "deepseek_v2", "first_k_dense_replace": 1,
          "hidden_size": 2048, "intermediate_size": 10944, "kv_lora_rank": 512,
          "moe_intermediate_size": 1408, "moe_layer_freq": 1, "n_routed_experts": 64,
          "n_shared_experts": 2, "num_attention_heads": 16, "num_experts_per_tok": 6,
          "num_hidden_layers": 27, "num_key_value_heads": 16, "q_lora_rank": null,
          "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "tie_word_embeddings": false,
          "v_head_dim": 128, "vocab_size": 102400})",
                    15'706'484'224},
        PublicModel{"Starcoder2_3B", R"({"model_type": "starcoder2", "hidden_size": 3072,
          "intermediate_size": 12288, "num_attention_heads": 24, "num_hidden_layers": 30,
          "num_key_value_heads": 2, "sliding_window": 4096, "use_bias": true,
          "vocab_size": 49152})",
                    3'030'371'328},
        PublicModel{"StableLm3B", R"({"model_type": "stablelm", "hidden_size": 2560,
          "intermediate_size": 6912, "num_attention_heads": 32, "num_hidden_layers": 32,
          "num_key_value_heads": 32, "tie_word_embeddings": false, "vocab_size": 50304})",
                    2'795'443'200},
        PublicModel{"CommandR", R"({"model_type": "cohere", "hidden_size": 8192,
          "intermediate_size": 22528, "num_attention_heads": 64, "num_hidden_layers": 40,
          "num_key_value_heads": 64, "use_qk_norm": false, "vocab_size": 256000})",
                    34'980'831'232},
        PublicModel{"Olmo7B", R"({"model_type": "olmo", "hidden_size": 4096,
          "intermediate_size": 11008, "num_attention_heads": 32, "num_hidden_layers": 32,
          "num_key_value_heads": 32, "tie_word_embeddings": false, "vocab_size": 50304})",
                    6'888'095'744},
        PublicModel{"Olmo2_7B", R"({"model_type": "olmo2", "hidden_size": 4096,
          "intermediate_size": 11008, "num_attention_heads": 32, "num_hidden_layers": 32,
          "num_key_value_heads": 32, "tie_word_embeddings": false, "vocab_size": 100352})",
                    7'298'617'344},
        PublicModel{"Granite3_2B", R"({"model_type": "granite", "hidden_size": 2048,
          "intermediate_size": 8192, "num_attention_heads": 32, "num_hidden_layers": 40,
          "num_key_value_heads": 8, "tie_word_embeddings": true, "vocab_size": 49155})",
                    2'533'531'648}),
    [](const auto& model) { return model.param.name; });

constexpr char kLlama[] =
    R"({"model_type": "llama", "hidden_size": 64, "intermediate_size": 128,
"num_attention_heads": 4, "num_hidden_layers": 2, "vocab_size": 100})";

// kLlama with `more` keys before its last brace.
std::string Llama(const std::string& more) {
  std::string json = kLlama;
  json.pop_back();
  return json + ", " + more + "}";
}

TEST(HuggingFace, PrintsTheSectionThatItBecomes) {
  EXPECT_EQ(Import(R"({"model_type": "gemma2", "_name_or_path": "google/some-gemma: 2b",
      "hidden_size": 64, "intermediate_size": 128, "num_attention_heads": 2,
      "num_hidden_layers": 2, "num_key_value_heads": 1, "vocab_size": 100})")
                .yaml,
            "model:\n"
            "  name: \"some-gemma: 2b\"\n"
            "  layers: 2\n"
            "  hidden: 64\n"
            "  heads: 2\n"
            "  kv_heads: 1\n"
            "  head_dimension: 256\n"
            "  ffn_hidden: 128\n"
            "  vocabulary: 100\n"
            "  position: rotary\n"
            "  gated_mlp: true\n"
            "  biases: false\n"
            "  tied_embeddings: true\n"
            "  block: sandwich\n"
            "  sliding_window:\n"
            "    length: 4096\n"
            "    global_every: 2\n");
}

TEST(HuggingFace, ReadsAScenariosModelFromTheFileBesideIt) {
  const auto model = [](const std::string& section) {
    return ReadSmall(Small("{layers: 2, hidden: 64, heads: 4, vocabulary: 100}", section), {},
                     {{"hf/config.json", kLlama}})
        .scenario.model;
  };

  const TransformerSpec spec = model("{huggingface: hf/config.json}");
  EXPECT_EQ(spec.name, "hf");
  EXPECT_EQ(spec.hidden, 64);
  EXPECT_EQ(spec.position, Position::kRotary);
  EXPECT_FALSE(spec.tied_embeddings);
  const TransformerSpec wider = model("{huggingface: ./hf/config.json, layers: 5, name: mine}");
  EXPECT_EQ(wider.name, "mine");
  EXPECT_EQ(wider.layers, 5);
  EXPECT_EQ(wider.heads, 4);
}

// The path is relative to the file that has the key, wherever that was included from.
TEST(HuggingFace, IsFoundFromAnIncludedFileAndFromTheCatalog) {
  const ReadResult included = ReadSmall(
      "include: sub/base.yaml\nname: top\n", {},
      {{"sub/base.yaml",
        Small("{layers: 2, hidden: 64, heads: 4, vocabulary: 100}", "{huggingface: c.json}")},
       {"sub/c.json", kLlama},
       {"sub/hardware/x", ""}});
  EXPECT_EQ(included.scenario.model.name, "c");
  const ReadResult named = ReadSmall(SmallScenario(), {{"model", "hf_model"}},
                                     {{"cat/models/hf_model.yaml", "huggingface: raw/c.json\n"},
                                      {"cat/models/raw/c.json", kLlama}});
  EXPECT_EQ(named.scenario.model.layers, 2);
  const ReadResult set = ReadSmall(SmallScenario(), {{"model", "{huggingface: c.json, layers: 7}"}},
                                   {{"c.json", kLlama}});
  EXPECT_EQ(set.scenario.model.layers, 7);
}

TEST(HuggingFace, ReportsAtTheKeyAndAtTheFilesOwnPlace) {
  const auto error = [](const std::string& section, const std::string& json) {
    return ErrorOf(Small("{layers: 2, hidden: 64, heads: 4, vocabulary: 100}", section), {},
                   {{"c.json", json}});
  };

  EXPECT_EQ(error("{huggingface: no.json}", kLlama),
            "s.yaml:6:22: error: model.huggingface: no.json: no such file\n"
            "  model: {huggingface: no.json}\n"
            "                       ^\n");
  EXPECT_THAT(error("{huggingface: [c.json]}", kLlama),
              HasSubstr("model.huggingface: expected the name of a file, got a list"));
  EXPECT_THAT(error("{huggingface: c.json, base: tiny_model}", kLlama),
              HasSubstr("expected either base or huggingface, got both"));
  // A number that the scenario refuses is shown where it was written.
  EXPECT_EQ(error("{huggingface: c.json}",
                  "{\"model_type\": \"llama\", \"hidden_size\": 64, \"intermediate_size\": 128,\n"
                  "\t\"num_attention_heads\": 5, \"num_hidden_layers\": 2, \"vocab_size\": 100}"),
            "c.json:2:25: error: model.heads: expected a divisor of hidden 64 (line 1), got 5\n"
            "   \"num_attention_heads\": 5, \"num_hidden_layers\": 2, \"vocab_size\": 100}\n"
            "                          ^\n");
}

TEST(HuggingFace, TakesNumbersAsJsonWritesThem) {
  EXPECT_THAT(Import(R"({"model_type":"llama","hidden_size":6.4e1,"intermediate_size":128.0,
	"num_attention_heads":4,"num_hidden_layers":2,"num_key_value_heads":null,"vocab_size":1e2})")
                  .yaml,
              AllOf(HasSubstr("hidden: 64\n"), HasSubstr("ffn_hidden: 128\n"),
                    HasSubstr("vocabulary: 100\n"), Not(HasSubstr("kv_heads"))));
}

struct BadConfig {
  const char* name;
  std::string json;
  const char* error;  // its first line
};

class HuggingFaceRefuses : public testing::TestWithParam<BadConfig> {};

TEST_P(HuggingFaceRefuses, AndSaysWhereAndWhy) {
  const std::string error = ErrorOfImport(GetParam().json);

  EXPECT_EQ(error.substr(0, error.find('\n')), GetParam().error);
}

INSTANTIATE_TEST_SUITE_P(
    Configs, HuggingFaceRefuses,
    testing::Values(
        BadConfig{
            "ByteOrderMark", "\xEF\xBB\xBF{}",
            "config.json:1:1: error: expected JSON, got a byte order mark, which JSON parsers "
            "refuse; save the file without one"},
        BadConfig{"Empty", "", "config.json:1:1: error: expected a JSON object, got an empty file"},
        BadConfig{"NoObject", "[1, 2]",
                  "config.json:1:1: error: expected a JSON object, which starts with \"{\", got "
                  "\"[\""},
        BadConfig{"Truncated", "{\"model_type\": \"llama\",\n \"hidden_size\": 64",
                  "config.json:1:1: error: expected JSON; this \"{\" is never closed"},
        BadConfig{"Binary", std::string("{\"a\": \"\x01\"}"),
                  "config.json:1:8: error: expected text, got the control character 0x01"},
        BadConfig{"NotUtf8", "{\"a\": \"\xFF\"}",
                  "config.json:1:8: error: expected UTF-8 text, got the byte 0xFF"},
        BadConfig{"Deep", "{\"a\": " + std::string(100, '[') + std::string(100, ']') + "}",
                  "config.json:1:70: error: nested deeper than 64 levels"},
        BadConfig{"Twice", Llama("\"hidden_size\": 32"),
                  "config.json:2:70: error: hidden_size: given twice in this section"},
        BadConfig{"NoType", "{\"hidden_size\": 64}",
                  "config.json:1:1: error: model_type: missing; the architectures that are known "
                  "are bloom, cohere, deepseek_v2, deepseek_v3, falcon, gemma, gemma2, "
                  "gemma3_text, gpt2, gpt_neo, gpt_neox, gptj, granite, llama, mistral, mixtral, "
                  "mpt, olmo, olmo2, opt, phi, phi3, qwen2, qwen2_moe, qwen3, qwen3_moe, stablelm, "
                  "starcoder2"},
        BadConfig{"MissingKey",
                  "{\"model_type\": \"gpt2\", \"n_embd\": 64, \"n_head\": 4, "
                  "\"vocab_size\": 9, \"n_positions\": 8}",
                  "config.json:1:1: error: num_hidden_layers: missing; expected a whole number"},
        BadConfig{"Text", Llama("\"num_key_value_heads\": \"two\""),
                  "config.json:2:93: error: num_key_value_heads: expected a whole number, got "
                  "\"two\""},
        BadConfig{"Fraction", Llama("\"num_key_value_heads\": 2.5"),
                  "config.json:2:93: error: num_key_value_heads: expected a whole number, got "
                  "\"2.5\""},
        BadConfig{"Flag", Llama("\"attention_bias\": 1"),
                  "config.json:2:88: error: attention_bias: expected true or false, got \"1\""},
        BadConfig{"LinearAttention",
                  Llama("\"layer_types\": [\"full_attention\", \"linear_attention\"]"),
                  "config.json:2:104: error: layer_types: layers of kind \"linear_attention\" are "
                  "not modelled; expected full_attention or sliding_attention"},
        BadConfig{"SharedKeysAndValues", Llama("\"num_kv_shared_layers\": 1"),
                  "config.json:2:94: error: num_kv_shared_layers: layers that share keys and "
                  "values are not modelled"},
        BadConfig{
            "TooLarge",
            Llama("\"num_hidden_layers\": 100001")
                .replace(std::string(kLlama).find("\"num_hidden_layers\": 2"), 22, "\"x\": 1"),
            "config.json:2:75: error: model.layers: expected a whole number from 1 to "
            "100000, got \"100001\""}),
    [](const auto& config) { return config.param.name; });

TEST(HuggingFace, ReadsTheTextOfAMultimodalModel) {
  const ImportedModel model = Import(R"({"model_type": "gemma3", "vision_config": {"layers": 27},
      "text_config": {"model_type": "gemma3_text", "hidden_size": 2560,
      "intermediate_size": 10240, "num_hidden_layers": 34, "sliding_window": 1024}})");

  // gemma-3-4b without its vision tower; heads, head_dim and vocab_size are defaults.
  EXPECT_EQ(model.parameters, 3'880'263'168);
  EXPECT_THAT(model.warnings, ElementsAre("config.json:1:26: warning: vision_config: left out; the "
                                          "model is what text_config describes"));
}

TEST(HuggingFace, LeavesMultiTokenPredictionOut) {
  const ImportedModel model = Import(R"({"model_type": "deepseek_v3", "first_k_dense_replace": 3,
      "hidden_size": 7168, "intermediate_size": 18432, "kv_lora_rank": 512,
      "moe_intermediate_size": 2048, "moe_layer_freq": 1, "n_routed_experts": 256,
      "n_shared_experts": 1, "num_attention_heads": 128, "num_experts_per_tok": 8,
      "num_hidden_layers": 61, "num_key_value_heads": 128, "num_nextn_predict_layers": 1,
      "q_lora_rank": 1536, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128,
      "vocab_size": 129280})");

  EXPECT_EQ(model.parameters, 671'026'419'200);
  EXPECT_THAT(model.warnings, ElementsAre(HasSubstr("multi-token prediction are not modelled")));
}

TEST(HuggingFace, FindsThePatternOfLayerTypes) {
  const auto window = [](const std::string& types) {
    std::string json = Llama(fmt::format(
        "\"num_key_value_heads\": 4, \"sliding_window\": 16, \"layer_types\": [{}]", types));
    json.replace(json.find("llama"), 5, "mistral");
    json.replace(json.find("\"num_hidden_layers\": 2"), 22, "\"num_hidden_layers\": 4");
    const std::string yaml = Import(json + " ").yaml;
    const std::size_t at = yaml.find("  sliding_window:\n");
    return at == std::string::npos ? "" : yaml.substr(at + 18);
  };
  const std::string full = "\"full_attention\"";
  const std::string local = "\"sliding_attention\"";
  const auto four = [](const std::string& a, const std::string& b, const std::string& c,
                       const std::string& d) { return fmt::format("{}, {}, {}, {}", a, b, c, d); };

  EXPECT_EQ(window(four(full, full, full, full)), "");
  EXPECT_EQ(window(four(local, local, local, local)), "    length: 16\n");
  EXPECT_EQ(window(four(local, full, local, full)), "    length: 16\n    global_every: 2\n");
  EXPECT_EQ(window(four(full, full, local, local)), "    length: 16\n    global_layers: 2\n");
  EXPECT_EQ(window(four(full, local, full, local)),
            "    length: 16\n    global_layers: 1\n    global_every: 3\n");
}

// llm-analysis d841e40a gives Llama-2-7B the width of an MLP without gate, which has nearly as many
// parameters: 8 h^2 a layer in place of 3 * 11008 h = 8.06 h^2.
TEST(HuggingFace, ReadsTheShortFormAsItStands) {
  const ImportedModel model = Import(R"({"name": "Llama-2-7b", "num_layers": 32, "n_head": 32,
      "hidden_dim": 4096, "vocab_size": 32000, "max_seq_len": 4096, "num_key_value_heads": 32,
      "ffn_embed_dim": 16384, "model_type": "llama"})");

  EXPECT_NEAR(static_cast<double>(model.parameters) / 6'738'415'616, 1, 0.01);
  EXPECT_THAT(model.yaml, HasSubstr("gated_mlp: false\n"));
  EXPECT_THAT(model.warnings,
              ElementsAre(HasSubstr("3:24: warning: ffn_embed_dim: 16384 is 4 hidden_dim without "
                                    "mlp_gated_linear_units")));
  const ImportedModel gated = Import(R"({"name": "Llama-2-70b", "num_layers": 80, "n_head": 64,
      "hidden_dim": 8192, "vocab_size": 32000, "num_key_value_heads": 8, "ffn_embed_dim": 28672,
      "model_type": "llama", "mlp_gated_linear_units": true})");
  EXPECT_EQ(gated.parameters, 68'976'648'192);
  EXPECT_THAT(gated.warnings, IsEmpty());
}

TEST(HuggingFace, ReadsTheShortFormWithoutAnArchitectureAsAGpt) {
  const ImportedModel model = Import(R"({"name": "opt-175b", "max_seq_len": 2048, "num_layers": 96,
      "n_head": 96, "hidden_dim": 12288, "vocab_size": 50272, "ffn_embed_dim": 49152})");

  EXPECT_EQ(model.parameters, 174'604'443'648);
  EXPECT_THAT(model.warnings, ElementsAre(HasSubstr("model_type: missing; taken as a GPT")));
}

// Files collected from public repositories, where a checkout of them lies beside this one.
struct CollectedFile {
  const char* name;
  std::int64_t parameters;    // 0: refused
  const char* expected = "";  // in the error or a warning
};

class CollectedConfigs : public testing::TestWithParam<CollectedFile> {};

TEST_P(CollectedConfigs, AreReadOrRefusedByTheNameOfAKey) {
  const std::filesystem::path path = std::filesystem::path(ZEROSIM_SOURCE_DIR) /
                                     "../shared/data/files/hf_config" / GetParam().name;
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "no collection of files beside the checkout";
  std::ifstream in(path);
  const std::string text((std::istreambuf_iterator<char>(in)), {});

  if (GetParam().parameters == 0) {
    EXPECT_THAT(ErrorOfImport(text), HasSubstr(GetParam().expected));
    return;
  }
  const ImportedModel model = Import(text);
  EXPECT_EQ(model.parameters, GetParam().parameters);
  EXPECT_THAT(fmt::format("{}", fmt::join(model.warnings, "\n")), HasSubstr(GetParam().expected));
}

INSTANTIATE_TEST_SUITE_P(
    Files, CollectedConfigs,
    testing::Values(
        CollectedFile{"meta-llama--Meta-Llama-3.1-8B.json", 8'030'261'248},
        CollectedFile{"meta-llama--Meta-Llama-3.1-405B.json", 405'853'388'800},
        CollectedFile{"mistralai--Mixtral-8x7B-v0.1.json", 46'702'792'704},
        CollectedFile{"Qwen--Qwen3-32B.json", 32'762'123'264},
        CollectedFile{"Qwen--Qwen3.5-27B.json", 0, "layer_types: layers of kind"},
        CollectedFile{"google--gemma-4-26B-A4B.json", 0, "global_head_dim: heads of several"},
        CollectedFile{"NousResearch_Llama-2-7b-hf.json", 6'704'861'184, "ffn_embed_dim"},
        CollectedFile{"upstage_Llama-2-70b-instruct-v2.json", 68'976'648'192},
        CollectedFile{"decapoda-research_llama-65b-hf.json", 64'950'116'352, "ffn_embed_dim"},
        CollectedFile{"facebook_opt-1.3b.json", 1'315'758'080},
        CollectedFile{"facebook_opt-175b.json", 174'604'443'648, "model_type: missing"},
        CollectedFile{"bloom-175b.json", 177'044'348'928, "model_type: missing"},
        CollectedFile{"EleutherAI_gpt-j-6b.json", 6'050'882'784}),
    [](const auto& file) {
      std::string name;
      for (const char c : std::string(file.param.name)) {
        if (std::isalnum(static_cast<unsigned char>(c)) != 0) name += c;
      }
      return name;
    });

}  // namespace
}  // namespace zerosim
