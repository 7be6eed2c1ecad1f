#include "models/transformer/transformer.h"

#include <algorithm>

namespace zerosim {

std::int64_t TransformerSpec::head_dimension() const {
  if (latent_attention) return latent_attention->rope_dimension + latent_attention->nope_dimension;
  return own_head_dimension > 0 ? own_head_dimension : hidden / heads;
}

std::int64_t TransformerSpec::value_dimension() const {
  return latent_attention ? latent_attention->value_dimension : head_dimension();
}

bool TransformerSpec::has_experts(int layer) const {
  return mixture && layer >= mixture->dense_layers && (layer + 1) % mixture->every == 0;
}

bool TransformerSpec::is_local(int layer) const {
  if (!sliding_window || layer < sliding_window->global_layers) return false;
  return sliding_window->global_every == 0 || (layer + 1) % sliding_window->global_every != 0;
}

int TransformerSpec::expert_layers() const {
  if (!mixture) return 0;
  const int dense = std::min(mixture->dense_layers, layers);
  return layers / mixture->every - dense / mixture->every;
}

int TransformerSpec::local_layers() const {
  if (!sliding_window) return 0;
  const int leading = std::min(sliding_window->global_layers, layers);
  const int every = sliding_window->global_every;
  const int global = every == 0 ? 0 : layers / every - leading / every;
  return layers - leading - global;
}

std::vector<Part> PartsBeforeLayers(const TransformerSpec& spec) {
  std::vector<Part> parts = {Part::kEmbedding};
  if (spec.embedding_width > 0) parts.push_back(Part::kEmbeddingProjection);
  if (spec.embedding_norm) parts.push_back(Part::kEmbeddingNorm);
  return parts;
}

std::vector<Part> PartsAfterLayers(const TransformerSpec& spec) {
  std::vector<Part> parts;
  if (spec.block != Block::kPostNorm) parts.push_back(Part::kFinalNorm);
  if (spec.embedding_width > 0) parts.push_back(Part::kHeadProjection);
  parts.push_back(Part::kHead);
  return parts;
}

std::vector<Part> PartsOfLayer(const TransformerSpec& spec, bool experts, bool local) {
  std::vector<Part> parts;
  const auto add = [&](bool there, std::initializer_list<Part> more) {
    if (there) parts.insert(parts.end(), more);
  };
  const Block block = spec.block;
  const bool parallel = block == Block::kParallel || block == Block::kParallelTwoNorms;
  const bool norms_inputs = block != Block::kPostNorm && block != Block::kOutputNorm;
  const bool norms_outputs = block == Block::kOutputNorm || block == Block::kSandwich;
  const bool post_norm = block == Block::kPostNorm;

  add(norms_inputs, {Part::kInputNorm});
  if (spec.latent_attention) {
    add(spec.latent_attention->query_rank > 0, {Part::kQueryDown, Part::kQueryNorm});
    add(true, {Part::kQueryUp, Part::kKvDown, Part::kKeyNorm, Part::kKvUp});
  } else {
    add(true, {Part::kQkv});
    add(spec.query_key_norm != QueryKeyNorm::kNone, {Part::kQueryNorm, Part::kKeyNorm});
  }
  add(true, {local ? Part::kLocalAttention : Part::kAttention, Part::kAttentionOutput});
  add(norms_outputs, {Part::kAttentionNorm});
  add(!parallel, {Part::kResidual});
  add(post_norm, {Part::kAttentionNorm});
  add(norms_inputs && block != Block::kParallel, {Part::kPostNorm});
  if (experts) {
    add(true, {Part::kRouter, Part::kDispatch, Part::kExpertsIn, Part::kExpertsActivation,
               Part::kExpertsOut});
    add(spec.mixture->shared_ffn_hidden > 0,
        {Part::kSharedIn, Part::kSharedActivation, Part::kSharedOut});
    add(true, {Part::kCombine});
  } else {
    add(true, {Part::kMlpIn, Part::kActivation, Part::kMlpOut});
  }
  add(norms_outputs, {Part::kMlpNorm});
  add(parallel, {Part::kResidual});
  add(true, {Part::kResidual});
  add(post_norm, {Part::kMlpNorm});
  return parts;
}

namespace {

// Not fewer than the adapters of a layer have: those of seven products of attention, and of three
// of each MLP with two matrices in.
double MostAdapterParameters(const TransformerSpec& spec) {
  if (!spec.lora) return 0;
  const auto real = [](std::int64_t n) { return static_cast<double>(n); };
  const LatentAttentionSpec latent = spec.latent_attention.value_or(LatentAttentionSpec{});
  const double h = real(spec.hidden);
  const double dimension = std::max(
      {h / spec.heads, real(spec.own_head_dimension),
       real(latent.nope_dimension) + real(latent.rope_dimension) + real(latent.value_dimension)});
  const double attention = h + 3 * spec.heads * dimension + real(latent.query_rank) +
                           real(latent.kv_rank) + real(latent.rope_dimension);
  double mlp = h + 2 * real(spec.ffn_hidden);
  if (spec.mixture) {
    mlp += real(spec.mixture->experts) * (h + 2 * real(spec.mixture->ffn_hidden)) + h +
           2 * real(spec.mixture->shared_ffn_hidden);
  }
  return real(spec.lora->rank) * (7 * 3 * attention + 3 * mlp);
}

}  // namespace

double ApproximateParameters(const TransformerSpec& spec) {
  const auto h = static_cast<double>(spec.hidden);
  const auto real = [](std::int64_t n) { return static_cast<double>(n); };
  const double in_and_out = spec.gated_mlp ? 3 : 2;
  const double heads = spec.heads;
  double attention = 0;
  if (spec.latent_attention) {
    const LatentAttentionSpec& latent = *spec.latent_attention;
    const double queries = heads * real(spec.head_dimension());
    const double query_rank = real(latent.query_rank);
    attention = query_rank > 0 ? query_rank * (h + queries) : h * queries;
    attention +=
        h * real(latent.kv_rank + latent.rope_dimension) +
        real(latent.kv_rank) * heads * real(latent.nope_dimension + latent.value_dimension);
    attention += h * heads * real(latent.value_dimension);
  } else {
    const double dimension =
        spec.own_head_dimension > 0 ? real(spec.own_head_dimension) : h / heads;
    attention = h * dimension * (2 * heads + 2.0 * spec.kv_heads);
  }
  double mlp = in_and_out * h * real(spec.ffn_hidden);
  if (spec.mixture) {
    const MixtureSpec& m = *spec.mixture;
    mlp += h * (real(m.experts) * (in_and_out * real(m.ffn_hidden) + 1) +
                in_and_out * real(m.shared_ffn_hidden));
  }
  const double width = spec.embedding_width > 0 ? real(spec.embedding_width) : h;
  return spec.layers * (attention + mlp + MostAdapterParameters(spec)) +
         2 * width * (real(spec.vocabulary) + h) + h * real(spec.max_positions);
}

}  // namespace zerosim
