#include "models/compute/flops.h"

#include <algorithm>
#include <array>
#include <vector>

#include "models/compute/compute.h"

namespace zerosim {
namespace {

// Whether nothing of the block's backward needs what `part` made: it is added to the residual
// stream as it is. A norm or the weights of experts need it.
bool IsLastOfBlock(Part part, const TransformerSpec& model) {
  return part == Part::kMlpOut && model.block != Block::kPostNorm &&
         model.block != Block::kOutputNorm && model.block != Block::kSandwich;
}

}  // namespace

bool OutsideOfLayers(Part part) {
  switch (part) {
    case Part::kEmbedding:
    case Part::kEmbeddingProjection:
    case Part::kEmbeddingNorm:
    case Part::kFinalNorm:
    case Part::kHeadProjection:
    case Part::kHead:
      return true;
    default:
      return false;
  }
}

namespace {

// Without adapters.
Flops BaseFlops(Part part, const Scenario& scenario) {
  const TransformerSpec& model = scenario.model;
  const auto tokens = static_cast<double>(scenario.tokens_per_micro_batch());
  switch (part) {
    case Part::kAttention:
    case Part::kLocalAttention: {
      const auto widths = static_cast<double>(model.query_hidden() + model.attention_hidden());
      return Flops::Count(2 * tokens * widths *
                          static_cast<double>(AttendedTokens(part, scenario)));
    }
    default: {
      // A product a token for each of its experts, and one for everything else.
      const LinearShape shape = LinearShapeOf(part, model);
      return Flops::Count(2 * tokens * static_cast<double>(shape.copies) *
                          static_cast<double>(shape.inputs) * static_cast<double>(shape.outputs));
    }
  }
}

// Of x A and of (x A) B.
Flops AdapterFlops(Part part, const Scenario& scenario) {
  const TransformerSpec& model = scenario.model;
  const LinearShape shape = LinearShapeOf(part, model);
  const Adapters adapters = AdaptersOf(part, shape.outputs, model);
  if (adapters.matrices == 0) return {};
  const std::int64_t values =
      model.lora->rank * (adapters.matrices * shape.inputs + adapters.outputs);
  return Flops::Count(2 * static_cast<double>(scenario.tokens_per_micro_batch()) *
                      static_cast<double>(shape.copies) * static_cast<double>(values));
}

}  // namespace

Flops ForwardFlops(Part part, const Scenario& scenario) {
  return BaseFlops(part, scenario) + AdapterFlops(part, scenario);
}

Flops BackwardFlops(Part part, const Scenario& scenario) {
  const bool frozen = scenario.model.lora && LinearShapeOf(part, scenario.model).outputs > 0;
  return (frozen ? 1 : 2) * BaseFlops(part, scenario) + 2 * AdapterFlops(part, scenario);
}

std::int64_t AttendedTokens(Part part, const Scenario& scenario) {
  const std::int64_t sequence = scenario.training.sequence_length;
  if (part != Part::kLocalAttention) return sequence;
  return std::min(sequence, scenario.model.sliding_window->length);
}

LinearShape LinearShapeOf(Part part, const TransformerSpec& model) {
  const std::int64_t hidden = model.hidden;
  const std::int64_t width = model.embedding_width > 0 ? model.embedding_width : hidden;
  const std::int64_t in = model.gated_mlp ? 2 : 1;
  const MixtureSpec mixture = model.mixture.value_or(MixtureSpec{});
  const LatentAttentionSpec latent = model.latent_attention.value_or(LatentAttentionSpec{});
  const std::int64_t copies = mixture.experts_per_token;
  switch (part) {
    case Part::kQkv:
      return {.outputs = model.query_hidden() + 2 * model.kv_hidden(), .inputs = hidden};
    case Part::kAttentionOutput:
      return {.outputs = hidden, .inputs = model.attention_hidden()};
    case Part::kMlpIn:
      return {.outputs = in * model.ffn_hidden, .inputs = hidden};
    case Part::kMlpOut:
      return {.outputs = hidden, .inputs = model.ffn_hidden};
    case Part::kHead:
      return {.outputs = model.vocabulary, .inputs = width};
    case Part::kQueryDown:
      return {.outputs = latent.query_rank, .inputs = hidden};
    case Part::kQueryUp:
      return {.outputs = model.query_hidden(),
              .inputs = latent.query_rank > 0 ? latent.query_rank : hidden};
    case Part::kKvDown:
      return {.outputs = latent.kv_rank + latent.rope_dimension, .inputs = hidden};
    case Part::kKvUp:
      return {.outputs = model.heads * (latent.nope_dimension + latent.value_dimension),
              .inputs = latent.kv_rank};
    case Part::kRouter:
      return {.outputs = mixture.experts + (mixture.shared_gate ? 1 : 0), .inputs = hidden};
    case Part::kExpertsIn:
      return {.outputs = in * mixture.ffn_hidden,
              .inputs = hidden,
              .copies = copies,
              .groups = std::max<std::int64_t>(1, mixture.experts_held())};
    case Part::kExpertsOut:
      return {.outputs = hidden,
              .inputs = mixture.ffn_hidden,
              .copies = copies,
              .groups = std::max<std::int64_t>(1, mixture.experts_held())};
    case Part::kSharedIn:
      return {.outputs = in * mixture.shared_ffn_hidden, .inputs = hidden};
    case Part::kSharedOut:
      return {.outputs = hidden, .inputs = mixture.shared_ffn_hidden};
    case Part::kEmbeddingProjection:
      return {.outputs = hidden, .inputs = width};
    case Part::kHeadProjection:
      return {.outputs = width, .inputs = hidden};
    default:
      return {};
  }
}

std::array<int, kNumParts> CountParts(const TransformerSpec& model) {
  std::array<int, kNumParts> counts{};
  const auto add = [&](int times, const std::vector<Part>& parts) {
    for (const Part part : parts) counts[static_cast<std::size_t>(part)] += times;
  };
  // What experts and windows change does not depend on each other: all layers as if they had
  // neither, and the difference where they have. No loop over layers, because every module asks.
  const std::vector<Part> plain = PartsOfLayer(model, false, false);
  const int experts = model.expert_layers();
  const int local = model.local_layers();
  add(1, PartsBeforeLayers(model));
  add(model.layers - experts - local, plain);
  if (experts > 0) add(experts, PartsOfLayer(model, true, false));
  add(local, PartsOfLayer(model, false, true));
  add(1, PartsAfterLayers(model));
  return counts;
}

double RecomputedPasses(Part part, const Scenario& scenario) {
  const TransformerSpec& model = scenario.model;
  if (OutsideOfLayers(part)) return 0;
  switch (scenario.training.checkpointing) {
    case Checkpointing::kNone:
      return 0;
    case Checkpointing::kSelective:
      return IsAttention(part) ? 1 : 0;
    case Checkpointing::kFull:
      return IsLastOfBlock(part, model) && scenario.compute.recompute_skips_last ? 0 : 1;
    case Checkpointing::kOperators:
      // Every second product in the order Q, K, V, output, gate, other factor; the last is needed
      // by nobody. Kernels bound by memory all run again.
      if (IsAttention(part)) return 0;
      if (IsLastOfBlock(part, model)) return 0;
      if (part == Part::kMlpIn) return model.gated_mlp ? 0.5 : 0;
      if (part == Part::kAttentionOutput) return 1;
      if (part == Part::kQkv) {
        return static_cast<double>(model.kv_hidden()) /
               static_cast<double>(model.query_hidden() + 2 * model.kv_hidden());
      }
      return 0.5;
  }
  return 0;
}

StepFlops FlopsOfStep(const Scenario& scenario) {
  StepFlops flops;
  const std::array<int, kNumParts> counts = CountParts(scenario.model);
  for (int i = 0; i < kNumParts; ++i) {
    if (counts[i] == 0) continue;
    const auto part = static_cast<Part>(i);
    const Flops forward =
        counts[i] * scenario.training.gradient_accumulation_steps * ForwardFlops(part, scenario);
    if (forward == Flops()) continue;
    // Three, or two with frozen weights.
    const double passes = 1 + Ratio(BackwardFlops(part, scenario), ForwardFlops(part, scenario));
    flops.model += passes * forward;
    const auto checkpointed =
        static_cast<double>(CeilDiv(scenario.model.layers, scenario.training.checkpoint_every));
    flops.hardware +=
        (passes + checkpointed * RecomputedPasses(part, scenario) / scenario.model.layers) *
        forward;
  }
  const double ranks = scenario.parallel.tensor * scenario.parallel.pipeline;
  flops.model = 1 / ranks * flops.model;
  flops.hardware = 1 / ranks * flops.hardware;
  return flops;
}

}  // namespace zerosim
