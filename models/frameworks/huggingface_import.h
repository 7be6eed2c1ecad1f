// The state of one import: what huggingface.cc, huggingface_peculiar.cc and huggingface_section.cc
// share.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "models/frameworks/huggingface_config.h"
#include "models/frameworks/huggingface_families.h"

namespace zerosim {

// Names of keys that say the same, as HuggingFaceConfig takes them.
constexpr std::string_view kLayers = "num_hidden_layers|n_layer|n_layers|num_layers";
constexpr std::string_view kHidden = "hidden_size|n_embd|n_embed|d_model|hidden_dim";
constexpr std::string_view kHeads = "num_attention_heads|n_head|n_heads|num_heads";
constexpr std::string_view kFfn = "intermediate_size|ffn_dim|n_inner|ffn_hidden_size|ffn_embed_dim";
constexpr std::string_view kPositions = "max_position_embeddings|n_positions|max_seq_len";

// A model as it is put together: the family's defaults, the config's values over them.
struct HuggingFaceModel {
  std::int64_t layers = 0;
  std::int64_t hidden = 0;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t ffn_hidden = 0;
  std::int64_t vocabulary = 0;
  std::int64_t max_positions = 0;
  std::int64_t head_dimension = 0;   // 0: hidden / heads
  std::int64_t embedding_width = 0;  // 0: hidden
  std::string norm;
  std::string block;
  std::string position;
  std::string query_key_norm;
  bool gated_mlp = false;
  bool qkv_biases = false;
  bool output_biases = false;
  bool mlp_biases = false;
  bool head_bias = false;
  bool embedding_norm = false;
  bool tied_embeddings = false;
  std::int64_t window = 0;  // 0: none
  std::int64_t window_global_layers = 0;
  std::int64_t window_global_every = 0;
  // Sections of the scenario; empty maps where the model has none.
  Node mixture = {.kind = Node::Kind::kMap, .text = {}, .where = {}, .entries = {}, .items = {}};
  Node latent_attention = mixture;
};

// What the table of families does not say of an architecture. `model` holds what it does.
void ApplyPeculiarity(const HuggingFaceFamily& family, const HuggingFaceConfig& config,
                      HuggingFaceModel* model);

// The section `model:` of a scenario. Values have the places of the keys that they come from.
Node SectionOf(HuggingFaceModel model, const std::string& name, const Location& where,
               const HuggingFaceConfig& config);

}  // namespace zerosim
