#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "models/transformer/transformer.h"

namespace zerosim {
namespace {

void RequirePositive(const char* field, std::int64_t value) {
  if (value <= 0) {
    throw std::invalid_argument(fmt::format("{} must be positive, got {}", field, value));
  }
}

void ValidateMixture(const MixtureSpec& mixture) {
  RequirePositive("experts", mixture.experts);
  RequirePositive("experts_per_token", mixture.experts_per_token);
  RequirePositive("the experts' ffn_hidden", mixture.ffn_hidden);
  RequirePositive("every", mixture.every);
  if (mixture.experts_per_token > mixture.experts) {
    throw std::invalid_argument(
        fmt::format("experts_per_token must be at most the {} experts, got {}", mixture.experts,
                    mixture.experts_per_token));
  }
}

void ValidateLatents(const LatentAttentionSpec& latent) {
  RequirePositive("kv_rank", latent.kv_rank);
  RequirePositive("rope_dimension", latent.rope_dimension);
  RequirePositive("nope_dimension", latent.nope_dimension);
  RequirePositive("value_dimension", latent.value_dimension);
}

void Validate(const TransformerSpec& spec) {
  RequirePositive("layers", spec.layers);
  RequirePositive("hidden", spec.hidden);
  RequirePositive("heads", spec.heads);
  RequirePositive("kv_heads", spec.kv_heads);
  RequirePositive("ffn_hidden", spec.ffn_hidden);
  RequirePositive("vocabulary", spec.vocabulary);
  if (spec.position == Position::kLearned) RequirePositive("max_positions", spec.max_positions);
  if (spec.mixture) ValidateMixture(*spec.mixture);
  if (spec.lora) RequirePositive("the adapters' rank", spec.lora->rank);
  if (spec.sliding_window) RequirePositive("the window's length", spec.sliding_window->length);
  if (spec.latent_attention) {
    ValidateLatents(*spec.latent_attention);
  } else if (spec.own_head_dimension == 0 && spec.hidden % spec.heads != 0) {
    throw std::invalid_argument(
        fmt::format("heads must divide hidden, got {} heads for {}", spec.heads, spec.hidden));
  }
  if (spec.heads % spec.kv_heads != 0) {
    throw std::invalid_argument(fmt::format("kv_heads must divide heads, got {} kv_heads for {}",
                                            spec.kv_heads, spec.heads));
  }
}

constexpr const char* kAdapterA = ".lora_a";
constexpr const char* kAdapterB = ".lora_b";

// Appends weights and modules.
class LayoutBuilder {
 public:
  explicit LayoutBuilder(const TransformerSpec& spec) : spec_(spec) {}

  ModelLayout Build() {
    for (const Part part : PartsBeforeLayers(spec_)) AddOutside(part);
    for (int layer = 0; layer < spec_.layers; ++layer) {
      for (const Part part : PartsOfLayer(spec_, spec_.has_experts(layer), spec_.is_local(layer))) {
        AddInLayer(part, layer);
      }
    }
    for (const Part part : PartsAfterLayers(spec_)) AddOutside(part);
    if (spec_.lora) FreezeAllButAdapters();
    return std::move(layout_);
  }

 private:
  int Add(const std::string& name, std::int64_t rows, std::int64_t columns) {
    layout_.weights.push_back({.name = name, .rows = rows, .columns = columns});
    return static_cast<int>(layout_.weights.size()) - 1;
  }

  void Hook(Part part, int layer, std::vector<int> weights) {
    layout_.modules.push_back({.part = part, .layer = layer, .weights = std::move(weights)});
  }

  // A matrix of `rows` outputs, and its bias.
  void Linear(Part part, int layer, const std::string& name, std::int64_t rows,
              std::int64_t columns, bool bias) {
    std::vector<int> weights = {Add(name, rows, columns)};
    if (bias) weights.push_back(Add(name + ".bias", rows, 0));
    AddAdapters(part, &weights);
    Hook(part, layer, std::move(weights));
  }

  // A and B of the matrix that is the first of `weights`.
  void AddAdapters(Part part, std::vector<int>* weights) {
    const Weight base = layout_.weights[weights->front()];
    const Adapters adapters = AdaptersOf(part, base.rows, spec_);
    if (adapters.matrices == 0) return;
    const std::int64_t rank = spec_.lora->rank;
    weights->push_back(Add(base.name + kAdapterA, adapters.matrices * rank, base.columns));
    weights->push_back(Add(base.name + kAdapterB, adapters.outputs, rank));
  }

  void FreezeAllButAdapters() {
    for (Weight& weight : layout_.weights) {
      weight.trainable = weight.name.ends_with(kAdapterA) || weight.name.ends_with(kAdapterB);
      const bool in_block = weight.name.starts_with("layers.");
      if (weight.trainable || weight.is_vector() || !in_block) continue;
      if (weight.name.ends_with(".router") || weight.name.ends_with(".shared_gate")) continue;
      weight.bits = spec_.lora->frozen_bits;
    }
  }

  void NormOf(Part part, int layer, const std::string& name, std::int64_t width) {
    std::vector<int> weights;
    if (spec_.norm() != Norm::kWithoutWeights) weights.push_back(Add(name, width, 0));
    if (spec_.norm() == Norm::kLayer) weights.push_back(Add(name + ".bias", width, 0));
    Hook(part, layer, std::move(weights));
  }

  // Norms within attention have a weight alone, whatever the block's have.
  void InnerNorm(Part part, int layer, const std::string& name, std::int64_t width) {
    Hook(part, layer, {Add(name, width, 0)});
  }

  // One matrix of every expert, and its bias, as tensors of their own.
  void Experts(Part part, int layer, const std::string& name, std::int64_t rows,
               std::int64_t columns) {
    std::vector<int> weights = {Add(name, rows, columns)};
    if (spec_.mlp_biases()) weights.push_back(Add(name + ".bias", rows, 0));
    AddAdapters(part, &weights);
    for (const int w : weights) {
      layout_.weights[w].count = spec_.mixture->experts_held();
      layout_.weights[w].expert = true;
      layout_.weights[w].active = spec_.mixture->experts_per_token;
    }
    Hook(part, layer, std::move(weights));
  }

  void Router(int layer, const std::string& prefix) {
    const MixtureSpec& mixture = *spec_.mixture;
    std::vector<int> weights = {Add(prefix + "router", mixture.experts, spec_.hidden)};
    if (mixture.router_bias) weights.push_back(Add(prefix + "router.bias", mixture.experts, 0));
    if (mixture.shared_gate) weights.push_back(Add(prefix + "shared_gate", 1, spec_.hidden));
    Hook(Part::kRouter, layer, std::move(weights));
  }

  void AddOutside(Part part) {
    const std::int64_t hidden = spec_.hidden;
    const std::int64_t width = spec_.embedding_width > 0 ? spec_.embedding_width : hidden;
    switch (part) {
      case Part::kEmbedding: {
        tokens_ = Add("embedding", spec_.vocabulary, width);
        std::vector<int> weights = {tokens_};
        if (spec_.position == Position::kLearned) {
          weights.push_back(Add("positions", spec_.max_positions, hidden));
        }
        return Hook(part, -1, std::move(weights));
      }
      case Part::kEmbeddingProjection:
        return Linear(part, -1, "embedding_projection", hidden, width, false);
      case Part::kHeadProjection:
        return Linear(part, -1, "head_projection", width, hidden, false);
      case Part::kEmbeddingNorm:
        return NormOf(part, -1, "embedding_norm", hidden);
      case Part::kFinalNorm:
        return NormOf(part, -1, "final_norm", hidden);
      default: {
        std::vector<int> weights = {spec_.tied_embeddings ? tokens_
                                                          : Add("head", spec_.vocabulary, width)};
        if (spec_.head_bias) weights.push_back(Add("head.bias", spec_.vocabulary, 0));
        return Hook(Part::kHead, -1, std::move(weights));
      }
    }
  }

  void AddInLayer(Part part, int layer) {
    const std::string prefix = fmt::format("layers.{}.", layer);
    const std::int64_t hidden = spec_.hidden;
    const int in = spec_.gated_mlp ? 2 : 1;
    switch (part) {
      case Part::kInputNorm:
        return NormOf(part, layer, prefix + "input_norm", hidden);
      case Part::kPostNorm:
        return NormOf(part, layer, prefix + "post_norm", hidden);
      case Part::kAttentionNorm:
        return NormOf(part, layer, prefix + "attention_norm", hidden);
      case Part::kMlpNorm:
        return NormOf(part, layer, prefix + "mlp_norm", hidden);
      case Part::kQkv:
        return Linear(part, layer, prefix + "qkv", spec_.query_hidden() + 2 * spec_.kv_hidden(),
                      hidden, spec_.qkv_biases());
      case Part::kAttentionOutput:
        return Linear(part, layer, prefix + "attention_output", hidden, spec_.attention_hidden(),
                      spec_.output_biases());
      case Part::kMlpIn:
        return Linear(part, layer, prefix + "mlp_in", in * spec_.ffn_hidden, hidden,
                      spec_.mlp_biases());
      case Part::kMlpOut:
        return Linear(part, layer, prefix + "mlp_out", hidden, spec_.ffn_hidden,
                      spec_.mlp_biases());
      case Part::kRouter:
        return Router(layer, prefix);
      case Part::kExpertsIn:
        return Experts(part, layer, prefix + "experts_in", in * spec_.mixture->ffn_hidden, hidden);
      case Part::kExpertsOut:
        return Experts(part, layer, prefix + "experts_out", hidden, spec_.mixture->ffn_hidden);
      case Part::kSharedIn:
        return Linear(part, layer, prefix + "shared_in", in * spec_.mixture->shared_ffn_hidden,
                      hidden, spec_.mlp_biases());
      case Part::kSharedOut:
        return Linear(part, layer, prefix + "shared_out", hidden, spec_.mixture->shared_ffn_hidden,
                      spec_.mlp_biases());
      case Part::kQueryNorm:
      case Part::kKeyNorm:
      case Part::kQueryDown:
      case Part::kQueryUp:
      case Part::kKvDown:
      case Part::kKvUp:
        return AddToAttention(part, layer, prefix);
      default:
        return Hook(part, layer, {});
    }
  }

  // Norms of queries and keys, and what latents add.
  void AddToAttention(Part part, int layer, const std::string& prefix) {
    const LatentAttentionSpec latent = spec_.latent_attention.value_or(LatentAttentionSpec{});
    const std::int64_t hidden = spec_.hidden;
    const bool per_head = spec_.query_key_norm == QueryKeyNorm::kHead;
    switch (part) {
      case Part::kQueryNorm:
        return InnerNorm(part, layer, prefix + "query_norm",
                         spec_.latent_attention ? latent.query_rank
                         : per_head             ? spec_.head_dimension()
                                                : spec_.query_hidden());
      case Part::kKeyNorm:
        return InnerNorm(part, layer, prefix + "key_norm",
                         spec_.latent_attention ? latent.kv_rank
                         : per_head             ? spec_.head_dimension()
                                                : spec_.kv_hidden());
      case Part::kQueryDown:
        return Linear(part, layer, prefix + "query_down", latent.query_rank, hidden,
                      spec_.qkv_biases());
      case Part::kQueryUp:
        return Linear(part, layer, prefix + "query_up", spec_.query_hidden(),
                      latent.query_rank > 0 ? latent.query_rank : hidden, false);
      case Part::kKvDown:
        return Linear(part, layer, prefix + "kv_down", latent.kv_rank + latent.rope_dimension,
                      hidden, spec_.qkv_biases());
      default:
        return Linear(part, layer, prefix + "kv_up",
                      spec_.heads * (latent.nope_dimension + latent.value_dimension),
                      latent.kv_rank, false);
    }
  }

  const TransformerSpec& spec_;
  int tokens_ = 0;  // the embedding's place
  ModelLayout layout_;
};

}  // namespace

std::int64_t ModelLayout::parameters() const {
  std::int64_t sum = 0;
  for (const Weight& weight : weights) sum += weight.elements();
  return sum;
}

std::int64_t ModelLayout::trainable_parameters() const {
  std::int64_t sum = 0;
  for (const Weight& weight : weights) {
    if (weight.trainable) sum += weight.elements();
  }
  return sum;
}

std::int64_t ModelLayout::trainable_expert_parameters() const {
  std::int64_t sum = 0;
  for (const Weight& weight : weights) {
    if (weight.expert && weight.trainable) sum += weight.elements();
  }
  return sum;
}

Adapters AdaptersOf(Part part, std::int64_t outputs, const TransformerSpec& spec) {
  if (!spec.lora) return {};
  const LoraTargets targets = spec.lora->targets;
  const bool attention = targets == LoraTargets::kAll || targets == LoraTargets::kAttention;
  const bool mlp = targets == LoraTargets::kAll || targets == LoraTargets::kMlp;
  switch (part) {
    case Part::kQkv:
      if (targets == LoraTargets::kQueryValue) {
        return {.matrices = 2, .outputs = outputs - spec.kv_hidden()};
      }
      return attention ? Adapters{.matrices = 3, .outputs = outputs} : Adapters{};
    case Part::kAttentionOutput:
    case Part::kQueryDown:
    case Part::kQueryUp:
    case Part::kKvDown:
    case Part::kKvUp:
      return attention ? Adapters{.matrices = 1, .outputs = outputs} : Adapters{};
    case Part::kMlpIn:
    case Part::kExpertsIn:
    case Part::kSharedIn:
      return mlp ? Adapters{.matrices = spec.gated_mlp ? 2 : 1, .outputs = outputs} : Adapters{};
    case Part::kMlpOut:
    case Part::kExpertsOut:
    case Part::kSharedOut:
      return mlp ? Adapters{.matrices = 1, .outputs = outputs} : Adapters{};
    default:
      return {};
  }
}

std::int64_t ModelLayout::active_parameters() const {
  std::int64_t sum = 0;
  for (const Weight& weight : weights) sum += weight.active * weight.tensor_elements();
  return sum;
}

std::int64_t ModelLayout::layer_parameters() const {
  std::int64_t largest = 0;
  std::int64_t sum = 0;
  int layer = -1;
  for (const Module& module : modules) {
    if (module.layer != layer) sum = 0;
    layer = module.layer;
    if (layer < 0) continue;
    for (const int weight : module.weights) sum += weights.at(weight).elements();
    largest = std::max(largest, sum);
  }
  return largest;
}

ModelLayout Layout(const TransformerSpec& spec) {
  Validate(spec);
  return LayoutBuilder(spec).Build();
}

}  // namespace zerosim
