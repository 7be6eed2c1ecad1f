// FLOP of each part's forward pass, as publications count them: matrix products only, attention
// over the whole square of the sequence.
#pragma once

#include "models/core/units.h"
#include "models/scenario/scenario.h"
#include "models/transformer/transformer.h"

namespace zerosim {

// Forward FLOP of one module for one micro-batch on one GPU; 0 for parts without a product.
// Backward is twice that.
Flops ForwardFlops(Part part, const Scenario& scenario);

// The share of a part's products of the forward pass that checkpointing runs again in a layer that
// it covers.
double RecomputedPasses(Part part, const Scenario& scenario);

// Calls f(part, count) for every part of the model with the number of modules of that kind.
template <typename F>
void ForEachPart(const TransformerSpec& model, F f) {
  f(Part::kEmbedding, 1);
  for (const Part part : {Part::kInputNorm, Part::kQkv, Part::kAttention, Part::kAttentionOutput,
                          Part::kPostNorm, Part::kMlpIn, Part::kActivation, Part::kMlpOut}) {
    f(part, model.layers);
  }
  f(Part::kResidual, 2 * model.layers);
  f(Part::kFinalNorm, 1);
  f(Part::kHead, 1);
}

}  // namespace zerosim
