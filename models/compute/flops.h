// FLOP of each part's forward pass, as publications count them: matrix products only, attention
// over the whole square of the sequence (or the whole of the window for each token).
#pragma once

#include <array>
#include <cstdint>

#include "models/core/units.h"
#include "models/scenario/scenario.h"
#include "models/transformer/transformer.h"

namespace zerosim {

// The product of a part with weights: every token, or each of `copies` copies of it, has `inputs`
// values and gets `outputs`. The copies are spread over `groups` matrices of that shape.
struct LinearShape {
  std::int64_t outputs = 0;  // 0: the part has no such product
  std::int64_t inputs = 0;
  std::int64_t copies = 1;
  std::int64_t groups = 1;
};
LinearShape LinearShapeOf(Part part, const TransformerSpec& model);

// Tokens that a query of kAttention or kLocalAttention is multiplied with when nothing is skipped.
std::int64_t AttendedTokens(Part part, const Scenario& scenario);

// Forward FLOP of one module for one micro-batch on one GPU, adapters included; 0 for parts without
// a product. Backward is twice that, but for frozen weights once: they have no gradient.
Flops ForwardFlops(Part part, const Scenario& scenario);
Flops BackwardFlops(Part part, const Scenario& scenario);

// Whether a part runs before or after all layers: checkpointing never runs it again.
bool OutsideOfLayers(Part part);

// The share of a part's products of the forward pass that checkpointing runs again in a layer that
// it covers.
double RecomputedPasses(Part part, const Scenario& scenario);

// Modules of each part in the model, by its place in the enumeration.
std::array<int, kNumParts> CountParts(const TransformerSpec& model);

}  // namespace zerosim
