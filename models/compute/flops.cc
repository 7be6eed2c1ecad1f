#include "models/compute/flops.h"

#include "models/compute/compute.h"

namespace zerosim {

Flops ForwardFlops(Part part, const Scenario& scenario) {
  const TransformerSpec& model = scenario.model;
  const auto tokens = static_cast<double>(scenario.training.tokens_per_micro_batch());
  const auto hidden = static_cast<double>(model.hidden);
  const auto ffn = static_cast<double>(model.ffn_hidden);
  switch (part) {
    case Part::kQkv: {
      const auto kv_hidden = static_cast<double>(model.kv_heads * model.head_dimension());
      return Flops::Count(2 * tokens * hidden * (hidden + 2 * kv_hidden));
    }
    case Part::kAttention:
      return Flops::Count(4 * tokens * hidden *
                          static_cast<double>(scenario.training.sequence_length));
    case Part::kAttentionOutput:
      return Flops::Count(2 * tokens * hidden * hidden);
    case Part::kMlpIn:
      return Flops::Count((model.gated_mlp ? 4 : 2) * tokens * hidden * ffn);
    case Part::kMlpOut:
      return Flops::Count(2 * tokens * hidden * ffn);
    case Part::kHead:
      return Flops::Count(2 * tokens * hidden * static_cast<double>(model.vocabulary));
    case Part::kEmbedding:
    case Part::kInputNorm:
    case Part::kPostNorm:
    case Part::kActivation:
    case Part::kResidual:
    case Part::kFinalNorm:
      return {};
  }
  return {};
}

double RecomputedPasses(Part part, const Scenario& scenario) {
  const TransformerSpec& model = scenario.model;
  if (part == Part::kEmbedding || part == Part::kFinalNorm || part == Part::kHead) return 0;
  switch (scenario.training.checkpointing) {
    case Checkpointing::kNone:
      return 0;
    case Checkpointing::kSelective:
      return part == Part::kAttention ? 1 : 0;
    case Checkpointing::kFull:
      return part == Part::kMlpOut && scenario.compute.recompute_skips_last ? 0 : 1;
    case Checkpointing::kOperators: {
      // Every second product in the order Q, K, V, output, gate, other factor; the last is needed
      // by nobody. Kernels bound by memory all run again.
      if (part == Part::kAttention || part == Part::kMlpOut) return 0;
      if (part == Part::kMlpIn) return model.gated_mlp ? 0.5 : 0;
      if (part != Part::kQkv) return 1;
      const auto kv_hidden = static_cast<double>(model.kv_heads * model.head_dimension());
      return kv_hidden / (static_cast<double>(model.hidden) + 2 * kv_hidden);
    }
  }
  return 0;
}

StepFlops FlopsOfStep(const Scenario& scenario) {
  StepFlops flops;
  ForEachPart(scenario.model, [&](Part part, int count) {
    const Flops forward =
        count * scenario.training.gradient_accumulation_steps * ForwardFlops(part, scenario);
    flops.model += 3 * forward;
    const TrainingSpec& training = scenario.training;
    const double checkpointed =
        static_cast<double>(CeilDiv(scenario.model.layers, training.checkpoint_every)) /
        scenario.model.layers;
    flops.hardware += (3 + checkpointed * RecomputedPasses(part, scenario)) * forward;
  });
  return flops;
}

}  // namespace zerosim
