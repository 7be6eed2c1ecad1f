#include <utility>

#include "models/frameworks/huggingface_import.h"

namespace zerosim {
namespace {

// Keys that say more than `biases`, where they have to.
void AddKinds(const HuggingFaceModel& m, const HuggingFaceConfig& config, const Location& family,
              Node* section) {
  const bool biases = m.qkv_biases && m.output_biases && m.mlp_biases;
  SetFlag(section, "biases", biases, family);
  if (m.norm != (biases ? "layer" : "rms")) SetText(section, "norm", m.norm, family);
  if (m.qkv_biases != biases) SetFlag(section, "qkv_biases", m.qkv_biases, family);
  if (m.output_biases != biases) SetFlag(section, "output_biases", m.output_biases, family);
  if (m.mlp_biases != biases) SetFlag(section, "mlp_biases", m.mlp_biases, family);
  if (m.head_bias) SetFlag(section, "head_bias", true, family);
  SetFlag(section, "tied_embeddings", m.tied_embeddings,
          config.Where("tie_word_embeddings|model_type"));
  if (m.embedding_norm) SetFlag(section, "embedding_norm", true, family);
  if (m.embedding_width > 0) {
    SetInteger(section, "embedding_width", m.embedding_width, config.Where("word_embed_proj_dim"));
  }
  if (m.block != "pre_norm") SetText(section, "block", m.block, family);
  if (m.query_key_norm != "none") SetText(section, "query_key_norm", m.query_key_norm, family);
}

void AddSections(HuggingFaceModel model, const HuggingFaceConfig& config, Node* section) {
  if (!model.mixture.entries.empty()) {
    *SetSection(section, "mixture", model.mixture.entries.front().where) = std::move(model.mixture);
  }
  if (!model.latent_attention.entries.empty()) {
    *SetSection(section, "latent_attention", model.latent_attention.entries.front().where) =
        std::move(model.latent_attention);
  }
  if (model.window > 0) {
    const Location where = config.Where("sliding_window|window_size|model_type");
    Node* window = SetSection(section, "sliding_window", where);
    SetInteger(window, "length", model.window, where);
    if (model.window_global_layers > 0) {
      SetInteger(window, "global_layers", model.window_global_layers, where);
    }
    if (model.window_global_every > 0) {
      SetInteger(window, "global_every", model.window_global_every, where);
    }
  }
}

}  // namespace

Node SectionOf(HuggingFaceModel model, const std::string& name, const Location& where,
               const HuggingFaceConfig& config) {
  Node section;
  section.kind = Node::Kind::kMap;
  section.where = where;
  const Location family = config.Where("model_type");
  const HuggingFaceModel& m = model;
  SetText(&section, "name", name, config.Where("name|_name_or_path|model_type"));
  SetInteger(&section, "layers", m.layers, config.Where(kLayers));
  SetInteger(&section, "hidden", m.hidden, config.Where(kHidden));
  SetInteger(&section, "heads", m.heads, config.Where(kHeads));
  const bool latent = !m.latent_attention.entries.empty();
  if (m.kv_heads != m.heads && !latent) {
    SetInteger(&section, "kv_heads", m.kv_heads,
               config.Where("num_key_value_heads|num_kv_heads|n_head_kv|model_type"));
  }
  if (m.head_dimension > 0 && m.head_dimension * m.heads != m.hidden) {
    SetInteger(&section, "head_dimension", m.head_dimension, config.Where("head_dim|model_type"));
  }
  SetInteger(&section, "ffn_hidden", m.ffn_hidden, config.Where(kFfn));
  SetInteger(&section, "vocabulary", m.vocabulary, config.Where("vocab_size|model_type"));
  SetText(&section, "position", m.position, family);
  if (m.position == "learned") {
    SetInteger(&section, "max_positions", m.max_positions, config.Where(kPositions));
  }
  SetFlag(&section, "gated_mlp", m.gated_mlp, family);
  AddKinds(m, config, family, &section);
  AddSections(std::move(model), config, &section);
  return section;
}

}  // namespace zerosim
