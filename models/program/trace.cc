#include "models/program/trace.h"

#include <algorithm>
#include <cstddef>

namespace zerosim {
namespace {

Visit MakeVisit(const Module& module, Action action) {
  Visit visit;
  visit.action = action;
  visit.phase = action == Action::kForward ? Phase::kForward : Phase::kBackward;
  visit.part = module.part;
  visit.layer = module.layer;
  visit.weights = module.weights;
  return visit;
}

// Gives each trainable weight's gradient to the last backward visit that uses the weight.
void AssignGradients(const ModelLayout& layout, std::vector<Visit>* trace) {
  const std::vector<Weight>& weights = layout.weights;
  std::vector<bool> seen(weights.size(), false);
  for (std::size_t i = trace->size(); i-- > 0;) {
    Visit& visit = (*trace)[i];
    if (visit.action != Action::kBackward) continue;
    // A linear layer's bias follows its weight in the layout and comes first out of autograd.
    for (std::size_t k = visit.weights.size(); k-- > 0;) {
      const auto w = static_cast<std::size_t>(visit.weights[k]);
      if (seen[w] || !weights[w].trainable) continue;
      seen[w] = true;
      visit.gradients.push_back(visit.weights[k]);
    }
  }
  // Autograd keeps the first part of a shared weight's gradient until the last is there.
  std::fill(seen.begin(), seen.end(), false);
  for (Visit& visit : *trace) {
    if (visit.action != Action::kBackward) continue;
    for (const int w : visit.weights) {
      if (!seen[w] && weights[w].trainable) visit.begun.push_back(w);
      seen[w] = true;
    }
  }
}

}  // namespace

std::vector<Visit> TraceOf(const ModelLayout& layout, Checkpointing checkpointing,
                           int checkpoint_every) {
  const std::vector<Module>& modules = layout.modules;
  std::vector<Visit> trace;
  trace.reserve(3 * modules.size());
  for (const Module& module : modules) trace.push_back(MakeVisit(module, Action::kForward));

  // Backward, one run of modules of the same layer at a time.
  std::size_t end = modules.size();
  while (end > 0) {
    std::size_t begin = end - 1;
    const int layer = modules[begin].layer;
    while (layer >= 0 && begin > 0 && modules[begin - 1].layer == layer) --begin;
    if (layer >= 0 && checkpointing == Checkpointing::kFull && layer % checkpoint_every == 0) {
      for (std::size_t i = begin; i < end; ++i) {
        trace.push_back(MakeVisit(modules[i], Action::kRecompute));
      }
    }
    for (std::size_t i = end; i-- > begin;) {
      trace.push_back(MakeVisit(modules[i], Action::kBackward));
    }
    end = begin;
  }
  AssignGradients(layout, &trace);
  return trace;
}

}  // namespace zerosim
