#include <algorithm>
#include <string>
#include <vector>

#include "models/frameworks/huggingface_import.h"

namespace zerosim {
namespace {

std::int64_t IntegerOr(const HuggingFaceConfig& config, std::string_view names,
                       std::int64_t otherwise) {
  return config.Integer(names).value_or(otherwise);
}

// configuration_mixtral.py: 8 experts, 2 a token, each as wide as intermediate_size.
void Mixtral(const HuggingFaceConfig& config, HuggingFaceModel* model) {
  const auto set = [&](std::string_view key, std::string_view name, std::int64_t otherwise) {
    SetInteger(&model->mixture, key, IntegerOr(config, name, otherwise), config.Where(name));
  };
  set("experts", "num_local_experts", 8);
  set("experts_per_token", "num_experts_per_tok", 2);
  set("ffn_hidden", "intermediate_size", model->ffn_hidden);
}

// configuration_qwen2_moe.py and configuration_qwen3_moe.py: layer i (from 0) is sparse if it is
// not in mlp_only_layers and decoder_sparse_step divides i + 1. Qwen2 adds a shared expert and its
// gate.
void QwenMoe(bool shared, const HuggingFaceConfig& config, HuggingFaceModel* model) {
  const auto set = [&](std::string_view key, std::string_view name, std::int64_t otherwise) {
    SetInteger(&model->mixture, key, IntegerOr(config, name, otherwise), config.Where(name));
  };
  set("experts", "num_experts|num_local_experts", shared ? 60 : 128);
  set("experts_per_token", "num_experts_per_tok", shared ? 4 : 8);
  set("ffn_hidden", "moe_intermediate_size", shared ? 1408 : 768);
  if (shared) {
    set("shared_ffn_hidden", "shared_expert_intermediate_size", 5632);
    SetFlag(&model->mixture, "shared_gate", true, config.Where("shared_expert_intermediate_size"));
  }
  const std::int64_t every = IntegerOr(config, "decoder_sparse_step", 1);
  if (every != 1) SetInteger(&model->mixture, "every", every, config.Where("decoder_sparse_step"));
  const Entry* dense = config.Find("mlp_only_layers");
  if (dense == nullptr || dense->value.items.empty()) return;
  std::int64_t leading = 0;
  for (const Node& item : dense->value.items) {
    if (item.text != std::to_string(leading++)) {
      config.Report("mlp_only_layers",
                    "only leading layers 0, 1, ... without experts are modelled");
      return;
    }
  }
  SetInteger(&model->mixture, "dense_layers", leading, config.Where("mlp_only_layers"));
}

// configuration_deepseek_v2.py and configuration_deepseek_v3.py.
void DeepSeek(bool v3, const HuggingFaceConfig& config, HuggingFaceModel* model) {
  Node* const mixture = &model->mixture;
  const auto set = [&](Node* section, std::string_view key, std::string_view name,
                       std::int64_t otherwise) {
    SetInteger(section, key, IntegerOr(config, name, otherwise), config.Where(name));
  };
  set(mixture, "experts", "n_routed_experts", v3 ? 256 : 64);
  if (v3 || config.Find("num_experts_per_tok") != nullptr) {
    set(mixture, "experts_per_token", "num_experts_per_tok", 8);
  } else {
    config.Report("num_experts_per_tok", "missing; expected a whole number");
  }
  set(mixture, "ffn_hidden", "moe_intermediate_size", v3 ? 2048 : 1407);
  set(mixture, "shared_experts", "n_shared_experts", v3 ? 1 : 2);
  set(mixture, "dense_layers", "first_k_dense_replace", v3 ? 3 : 0);
  // e_score_correction_bias, one value an expert.
  if (v3) SetFlag(mixture, "router_bias", true, config.Where("model_type"));
  if (IntegerOr(config, "moe_layer_freq", 1) != 1) {
    config.Report("moe_layer_freq", "layers without experts between others are not modelled");
  }

  Node* const latent = &model->latent_attention;
  // null means that queries have no latent (V2-Lite); the default holds where there is no key.
  if (config.Find("q_lora_rank") != nullptr || !config.Has("q_lora_rank")) {
    set(latent, "query_rank", "q_lora_rank", 1536);
  }
  set(latent, "kv_rank", "kv_lora_rank", 512);
  set(latent, "rope_dimension", "qk_rope_head_dim", 64);
  set(latent, "nope_dimension", "qk_nope_head_dim", 128);
  set(latent, "value_dimension", "v_head_dim", 128);
  model->head_dimension = 0;
  model->kv_heads = model->heads;
}

// configuration_gpt_neo.py: attention_types such as [[["global", "local"], 12]], spelled out in
// attention_layers. Which of two alternating kinds is first does not matter here.
void GptNeo(const HuggingFaceConfig& config, HuggingFaceModel* model) {
  std::vector<std::string> kinds;
  const Entry* layers = config.Find("attention_layers");
  const Entry* types = config.Find("attention_types");
  if (layers != nullptr) {
    for (const Node& item : layers->value.items) kinds.push_back(item.text);
  } else if (types != nullptr) {
    for (const Node& group : types->value.items) {
      if (group.items.empty()) continue;
      for (const Node& item : group.items.front().items) kinds.push_back(item.text);
    }
  } else {
    kinds = {"global", "local"};
  }
  const auto local = std::ranges::count(kinds, "local");
  if (local == 0 && !kinds.empty()) return;
  bool alternate = kinds.size() % 2 == 0;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    alternate = alternate && kinds[i] == (i % 2 == 0 ? "global" : "local");
  }
  if (!alternate) {
    config.Report("attention_types|attention_layers",
                  "expected layers that alternate between global and local");
    return;
  }
  model->window = IntegerOr(config, "window_size", 256);
  model->window_global_every = 2;
}

// configuration_opt.py. The table of positions has two rows more (OPTLearnedPositionalEmbedding).
void Opt(const HuggingFaceConfig& config, HuggingFaceModel* model) {
  if (model->max_positions > 0) model->max_positions += 2;
  if (!config.Flag("do_layer_norm_before").value_or(true)) model->block = "post_norm";
  const std::int64_t width = IntegerOr(config, "word_embed_proj_dim", model->hidden);
  if (width != model->hidden) model->embedding_width = width;
  if (!config.Flag("layer_norm_elementwise_affine").value_or(true)) {
    model->norm = "without_weights";
  }
  if (config.Flag("_remove_final_layer_norm").value_or(false)) {
    config.Report("_remove_final_layer_norm", "a model without its last norm is not modelled");
  }
}

// configuration_falcon.py. The new decoder architecture (40B, 180B) has grouped queries and, beside
// each other, a norm for attention and one for the MLP; the older one (7B) multi-query attention
// and one norm for both.
void Falcon(const HuggingFaceConfig& config, HuggingFaceModel* model) {
  const bool grouped = config.Flag("new_decoder_architecture").value_or(false);
  const bool parallel = config.Flag("parallel_attn").value_or(true);
  if (grouped) {
    model->kv_heads = IntegerOr(config, "num_kv_heads|n_head_kv", model->heads);
    const std::int64_t norms = IntegerOr(config, "num_ln_in_parallel_attn", 2);
    model->block = norms == 2 ? "parallel_two_norms" : "parallel";
  } else {
    model->kv_heads = config.Flag("multi_query").value_or(true) ? 1 : model->heads;
    model->block = parallel ? "parallel" : "pre_norm";
  }
  if (config.Flag("alibi").value_or(false)) model->position = "none";
}

// configuration_mpt.py; attn_config of llm-foundry.
void Mpt(const HuggingFaceConfig& config, HuggingFaceModel* model) {
  static const Node none{
      .kind = Node::Kind::kMap, .text = {}, .where = {}, .entries = {}, .items = {}};
  const Entry* entry = config.Find("attn_config");
  const HuggingFaceConfig attention =
      config.Inside(entry != nullptr && entry->value.is_map() ? entry->value : none);
  const bool no_bias = config.Flag("no_bias").value_or(true);
  model->qkv_biases = model->output_biases = model->mlp_biases = !no_bias;
  if (no_bias) model->norm = "layer_without_bias";
  model->ffn_hidden = IntegerOr(config, "expansion_ratio", 4) * model->hidden;
  const std::string kind = attention.Text("attn_type");
  if (kind == "multiquery_attention") model->kv_heads = 1;
  if (kind == "grouped_query_attention") {
    model->kv_heads = IntegerOr(attention, "kv_n_heads", model->heads);
  }
  if (attention.Flag("qk_ln").value_or(false)) model->query_key_norm = "width";
  if (attention.Flag("rope").value_or(false)) {
    model->position = "rotary";
  } else if (!attention.Flag("alibi").value_or(true) &&
             config.Flag("learned_pos_emb").value_or(true)) {
    model->position = "learned";
  }
}

}  // namespace

void ApplyPeculiarity(const HuggingFaceFamily& family, const HuggingFaceConfig& config,
                      HuggingFaceModel* model) {
  switch (family.peculiarity) {
    case Peculiarity::kNone:
      return;
    case Peculiarity::kMixtral:
      return Mixtral(config, model);
    case Peculiarity::kQwenMoe:
      return QwenMoe(family.type == "qwen2_moe", config, model);
    case Peculiarity::kDeepSeek:
      return DeepSeek(family.type == "deepseek_v3", config, model);
    case Peculiarity::kGptNeo:
      return GptNeo(config, model);
    case Peculiarity::kGptNeoX:
      if (!config.Flag("use_parallel_residual").value_or(true)) model->block = "pre_norm";
      return;
    case Peculiarity::kOpt:
      return Opt(config, model);
    case Peculiarity::kFalcon:
      return Falcon(config, model);
    case Peculiarity::kMpt:
      return Mpt(config, model);
    case Peculiarity::kStableLm:
      // A norm of its own for every head.
      if (config.Flag("qk_layernorm").value_or(false)) model->query_key_norm = "width";
      if (config.Flag("use_parallel_residual").value_or(false)) model->block = "parallel";
      return;
    case Peculiarity::kCohere:
      if (config.Flag("use_qk_norm").value_or(false)) model->query_key_norm = "width";
      return;
    case Peculiarity::kPhi:
      if (config.Flag("qk_layernorm").value_or(false)) {
        config.Report("qk_layernorm", "norms of queries and keys with biases are not modelled");
      }
      return;
  }
}

}  // namespace zerosim
