#include "models/program/fsdp_spans.h"

#include <algorithm>
#include <cstdlib>
#include <map>

namespace zerosim {

FsdpSpans::FsdpSpans(const Scenario& scenario, const ModelLayout& layout,
                     const std::vector<Visit>& trace)
    : trace_(&trace) {
  FindUnits(scenario, layout);
  FindSpans();
}

// Units in the order of forward: blocks in runs of blocks_per_unit, and what lies outside of them,
// either all in the root or as embedding and head. A head that is tied to the embedding shares its
// weight, so both are then in the root.
void FsdpSpans::FindUnits(const Scenario& scenario, const ModelLayout& layout) {
  const FsdpConfig& fsdp = *scenario.fsdp;
  const bool tied = scenario.model.tied_embeddings;
  const bool apart = fsdp.separate_embeddings && !tied;
  std::vector<bool> counted(layout.weights.size(), false);
  int embedding = -1;
  int head = -1;
  std::map<int, int> unit_of_layers;  // by their number over blocks_per_unit
  for (const Visit& visit : *trace_) {
    int unit = 0;
    if (visit.layer >= 0) {
      // Layers of a pipeline's stage need not start at 0 or follow each other.
      const auto [place, is_new] = unit_of_layers.try_emplace(visit.layer / fsdp.blocks_per_unit,
                                                              static_cast<int>(units_.size()));
      if (is_new) units_.push_back({});
      unit = place->second;
    } else {
      int& outside = apart && visit.part != Part::kEmbedding ? head : embedding;
      if (outside < 0) {
        outside = static_cast<int>(units_.size());
        units_.push_back({});
        units_.back().root = !apart;
      }
      unit = outside;
    }
    unit_of_visit_.push_back(unit);
    for (const int w : visit.weights) {
      const Weight& weight = layout.weights[w];
      FsdpUnit& u = units_[unit];
      if (!counted[w]) {
        FsdpPiece& piece = weight.expert && scenario.parallel.expert > 1 ? u.experts : u.dense;
        piece.elements += weight.elements();
        if (weight.trainable) piece.trainable += weight.elements();
        if (weight.bits < 16) {
          piece.quantized += weight.elements();
          u.bits = weight.bits;
        }
      }
      counted[w] = true;
    }
  }
}

// Forward and backward of a unit; under checkpointing a block's recomputation is part of its
// backward, which is when its weights are needed again.
void FsdpSpans::FindSpans() {
  const int visits = static_cast<int>(trace_->size());
  for (int v = 0; v < visits; ++v) {
    const bool backward = (*trace_)[v].phase == Phase::kBackward;
    if (spans_.empty() || spans_.back().unit != unit_of_visit_[v] ||
        spans_.back().backward != backward) {
      spans_.push_back({unit_of_visit_[v], v, v, backward});
    }
    spans_.back().last = v;
  }
}

int FsdpSpans::From(int visit) const {
  const auto span = std::ranges::find(spans_, visit, &FsdpSpan::first);
  return span == spans_.end() ? -1 : static_cast<int>(span - spans_.begin());
}

int FsdpSpans::To(int visit) const {
  const auto span = std::ranges::find(spans_, visit, &FsdpSpan::last);
  return span == spans_.end() ? -1 : static_cast<int>(span - spans_.begin());
}

bool FsdpSpans::Follows(int span) const {
  if (span + 1 == static_cast<int>(spans_.size())) return false;
  const FsdpSpan& here = spans_[span];
  const FsdpSpan& next = spans_[span + 1];
  if (here.backward != next.backward) return false;
  const int from = (*trace_)[here.last].layer;
  const int to = (*trace_)[next.first].layer;
  return from < 0 || to < 0 || std::abs(to - from) <= 1;
}

bool FsdpSpans::Again(int span) const {
  return std::any_of(spans_.begin() + span + 1, spans_.end(),
                     [&](const FsdpSpan& later) { return later.unit == spans_[span].unit; });
}

}  // namespace zerosim
