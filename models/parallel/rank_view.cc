#include "models/parallel/rank_view.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "models/parallel/stages.h"

namespace zerosim {

TransformerSpec RankModel(const TransformerSpec& model, const ParallelSpec& parallel) {
  const int ranks = parallel.tensor;
  TransformerSpec part = model;
  if (part.mixture && parallel.expert > 1) {
    part.mixture->held = CeilDiv(model.mixture->experts, parallel.expert);
  }
  if (ranks == 1) return part;
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

ModelLayout StageLayout(const ModelLayout& layout, int layers, const ParallelSpec& parallel,
                        int stage) {
  const std::vector<int> run_of = RunOfLayers(layers, parallel);
  bool before_layers = true;
  ModelLayout part;
  std::vector<int> place(layout.weights.size(), -1);
  for (const Module& module : layout.modules) {
    before_layers = before_layers && module.layer < 0;
    const int owner = module.layer >= 0 ? run_of[module.layer] % parallel.pipeline
                      : before_layers   ? 0
                                        : parallel.pipeline - 1;
    if (owner != stage) continue;
    Module own = module;
    for (int& w : own.weights) {
      if (place[w] < 0) {
        place[w] = static_cast<int>(part.weights.size());
        part.weights.push_back(layout.weights[w]);
      }
      w = place[w];
    }
    part.modules.push_back(std::move(own));
  }
  return part;
}

std::int64_t TiedElements(const ModelLayout& layout) {
  std::set<int> before;
  std::set<int> after;
  bool before_layers = true;
  for (const Module& module : layout.modules) {
    before_layers = before_layers && module.layer < 0;
    if (module.layer < 0)
      (before_layers ? before : after).insert(module.weights.begin(), module.weights.end());
  }
  std::int64_t elements = 0;
  for (const int w : before) {
    if (after.contains(w) && layout.weights[w].trainable) elements += layout.weights[w].elements();
  }
  return elements;
}

Scenario RankView(const Scenario& scenario) {
  Scenario view = scenario;
  view.model = RankModel(scenario.model, scenario.parallel);
  return view;
}

}  // namespace zerosim
