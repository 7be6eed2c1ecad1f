// The state of one import: what huggingface.cc and huggingface_peculiar.cc share.
#pragma once

#include <cstdint>
#include <string>

#include "models/frameworks/huggingface_config.h"
#include "models/frameworks/huggingface_families.h"

namespace zerosim {

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

}  // namespace zerosim
