// What a model_type stands for beside the numbers that every config.json gives.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace zerosim {

// Architectures whose keys or weights need more than the table says.
enum class Peculiarity : std::uint8_t {
  kNone,
  kMixtral,
  kQwenMoe,
  kDeepSeek,
  kGptNeo,
  kGptNeoX,
  kOpt,
  kFalcon,
  kMpt,
  kStableLm,
  kCohere,
  kPhi
};

// One model_type of transformers. Texts are values of the scenario's keys; what they say holds
// where the config.json has no key for it.
struct HuggingFaceFamily {
  std::string_view type = {};
  std::string_view norm = "rms";
  std::string_view block = "pre_norm";
  std::string_view position = "rotary";
  std::string_view query_key_norm = "none";
  bool gated_mlp = true;
  bool qkv_biases = false;
  bool output_biases = false;
  bool mlp_biases = false;
  bool head_bias = false;
  bool embedding_norm = false;
  bool tied_embeddings = false;          // default of tie_word_embeddings
  std::string_view attention_bias = {};  // key that switches qkv_biases and output_biases
  std::string_view qkv_bias = {};        // key that switches qkv_biases alone
  std::string_view mlp_bias = {};        // key that switches mlp_biases
  bool ffn_is_four_hidden = false;       // without a width of the MLP; else that is required
  std::int64_t heads = 0;                // default of num_attention_heads; 0: required
  std::int64_t vocabulary = 0;           // default of vocab_size; 0: required
  std::int64_t head_dimension = 0;       // default of head_dim; 0: hidden / heads
  std::int64_t kv_heads = 0;             // default of num_key_value_heads; 0: as many as heads
  std::int64_t window = 0;               // default of sliding_window; 0: none
  std::int64_t window_global_every = 0;  // layers of the whole sequence among those of the window
  std::string_view window_switch = {};   // key without which sliding_window has no effect
  Peculiarity peculiarity = Peculiarity::kNone;
};

std::span<const HuggingFaceFamily> HuggingFaceFamilies();

}  // namespace zerosim
