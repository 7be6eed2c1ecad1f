#include "models/parallel/rank_view.h"

#include <algorithm>

namespace zerosim {

TransformerSpec RankModel(const TransformerSpec& model, const ParallelSpec& parallel) {
  const int ranks = parallel.tensor;
  if (ranks == 1) return model;
  TransformerSpec part = model;
  if (!model.latent_attention) part.own_head_dimension = model.head_dimension();
  part.heads = static_cast<int>(CeilDiv(model.heads, ranks));
  part.kv_heads = std::max(1, model.kv_heads / ranks);
  part.ffn_hidden = CeilDiv(model.ffn_hidden, ranks);
  part.vocabulary = CeilDiv(model.vocabulary, ranks);
  if (part.mixture) {
    part.mixture->ffn_hidden = CeilDiv(model.mixture->ffn_hidden, ranks);
    part.mixture->shared_ffn_hidden = CeilDiv(model.mixture->shared_ffn_hidden, ranks);
  }
  return part;
}

Scenario RankView(const Scenario& scenario) {
  Scenario view = scenario;
  view.model = RankModel(scenario.model, scenario.parallel);
  return view;
}

}  // namespace zerosim
