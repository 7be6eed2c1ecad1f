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

void Validate(const TransformerSpec& spec) {
  RequirePositive("layers", spec.layers);
  RequirePositive("hidden", spec.hidden);
  RequirePositive("heads", spec.heads);
  RequirePositive("kv_heads", spec.kv_heads);
  RequirePositive("ffn_hidden", spec.ffn_hidden);
  RequirePositive("vocabulary", spec.vocabulary);
  if (spec.position == Position::kLearned) RequirePositive("max_positions", spec.max_positions);
  if (spec.hidden % spec.heads != 0) {
    throw std::invalid_argument(
        fmt::format("heads must divide hidden, got {} heads for {}", spec.heads, spec.hidden));
  }
  if (spec.heads % spec.kv_heads != 0) {
    throw std::invalid_argument(fmt::format("kv_heads must divide heads, got {} kv_heads for {}",
                                            spec.kv_heads, spec.heads));
  }
}

// Appends weights and modules; keeps the prefix of names.
class LayoutBuilder {
 public:
  explicit LayoutBuilder(const TransformerSpec& spec) : spec_(spec) {}

  int Add(const std::string& name, std::int64_t rows, std::int64_t columns) {
    layout_.weights.push_back({.name = name, .rows = rows, .columns = columns});
    return static_cast<int>(layout_.weights.size()) - 1;
  }

  void Hook(Part part, int layer, std::vector<int> weights) {
    layout_.modules.push_back({.part = part, .layer = layer, .weights = std::move(weights)});
  }

  // A matrix of `rows` outputs, and its bias if the model has biases.
  void Linear(Part part, int layer, const std::string& name, std::int64_t rows,
              std::int64_t columns) {
    std::vector<int> weights = {Add(name, rows, columns)};
    if (spec_.biases) weights.push_back(Add(name + ".bias", rows, 0));
    Hook(part, layer, std::move(weights));
  }

  // LayerNorm has weight and bias, RMSNorm only a weight.
  void Norm(Part part, int layer, const std::string& name) {
    std::vector<int> weights = {Add(name, spec_.hidden, 0)};
    if (spec_.biases) weights.push_back(Add(name + ".bias", spec_.hidden, 0));
    Hook(part, layer, std::move(weights));
  }

  void Layer(int layer) {
    const std::string prefix = fmt::format("layers.{}.", layer);
    const std::int64_t hidden = spec_.hidden;
    const std::int64_t kv_hidden = spec_.kv_heads * spec_.head_dimension();
    Norm(Part::kInputNorm, layer, prefix + "input_norm");
    Linear(Part::kQkv, layer, prefix + "qkv", hidden + 2 * kv_hidden, hidden);
    Hook(Part::kAttention, layer, {});
    Linear(Part::kAttentionOutput, layer, prefix + "attention_output", hidden, hidden);
    Hook(Part::kResidual, layer, {});
    Norm(Part::kPostNorm, layer, prefix + "post_norm");
    Linear(Part::kMlpIn, layer, prefix + "mlp_in", (spec_.gated_mlp ? 2 : 1) * spec_.ffn_hidden,
           hidden);
    Hook(Part::kActivation, layer, {});
    Linear(Part::kMlpOut, layer, prefix + "mlp_out", hidden, spec_.ffn_hidden);
    Hook(Part::kResidual, layer, {});
  }

  ModelLayout Build() {
    std::vector<int> embedding = {Add("embedding", spec_.vocabulary, spec_.hidden)};
    if (spec_.position == Position::kLearned) {
      embedding.push_back(Add("positions", spec_.max_positions, spec_.hidden));
    }
    const int tokens = embedding.front();
    Hook(Part::kEmbedding, -1, std::move(embedding));
    for (int layer = 0; layer < spec_.layers; ++layer) Layer(layer);
    Norm(Part::kFinalNorm, -1, "final_norm");
    const int head = spec_.tied_embeddings ? tokens : Add("head", spec_.vocabulary, spec_.hidden);
    Hook(Part::kHead, -1, {head});
    return std::move(layout_);
  }

 private:
  const TransformerSpec& spec_;
  ModelLayout layout_;
};

}  // namespace

std::int64_t ModelLayout::parameters() const {
  std::int64_t sum = 0;
  for (const Weight& weight : weights) sum += weight.elements();
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
