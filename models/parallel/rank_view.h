// What one rank sees of a scenario whose model is divided over several.
#pragma once

#include "models/parallel/parallel.h"
#include "models/scenario/scenario.h"
#include "models/transformer/transformer.h"

namespace zerosim {

// The part of `model` that one tensor-parallel rank holds and computes: its share of the heads, of
// the width of every MLP and of the vocabulary, rounded up; norms, biases of outputs and positions
// in full (Megatron-LM, arXiv 1909.08053, section 3). With fewer key-value heads than ranks each
// rank holds one of them. Expert parallelism leaves it its share of the experts. So a rank's
// weights, products and activations are those of a smaller model, and only the collectives between
// the parts are new.
TransformerSpec RankModel(const TransformerSpec& model, const ParallelSpec& parallel);

// The part of a model's layout that stage `stage` of a pipeline holds: its runs of layers
// (stages.h), with the embedding on the first stage and what follows the layers on the last. A head
// that is tied to the embedding is there twice.
ModelLayout StageLayout(const ModelLayout& layout, int layers, const ParallelSpec& parallel,
                        int stage);

// Elements of the trained weights that the first and the last stage of a pipeline both hold: of a
// head that is tied to the embedding, in `layout` of all stages.
std::int64_t TiedElements(const ModelLayout& layout);

// `scenario` with the model of one rank.
Scenario RankView(const Scenario& scenario);

}  // namespace zerosim
