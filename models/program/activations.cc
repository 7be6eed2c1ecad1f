#include "models/program/activations.h"

namespace zerosim {

ActivationTracker::ActivationTracker(const Scenario& view, const std::vector<Visit>& trace,
                                     ProgramWriter* writer)
    : view_(&view), trace_(&trace), writer_(writer) {
  for (const bool experts : {false, true}) {
    if (experts && !view.model.mixture) continue;
    for (const bool checkpointed : {false, true}) {
      layers_[experts][checkpointed] = ActivationMemoryOf(view, experts, checkpointed);
    }
  }
}

void ActivationTracker::TrackOutside(const Visit& visit, bool before) {
  const bool begins = visit.action == Action::kForward && before;
  const bool ends = visit.action == Action::kBackward && !before;
  if (!begins && !ends) return;
  const int sign = begins ? 1 : -1;
  const ActivationMemory& memory = layers_[false][true];
  if (visit.part == Part::kEmbedding) {
    writer_->Memory(MemoryTerm::kActivations, sign * memory.embedding);
  }
  if (visit.part == Part::kHead) writer_->Memory(MemoryTerm::kLogits, sign * memory.logits);
}

void ActivationTracker::Track(int v, bool before) {
  const Visit& visit = (*trace_)[v];
  if (visit.layer < 0) return TrackOutside(visit, before);
  const bool checkpointed = view_->training.checkpoints(visit.layer);
  const ActivationMemory& memory = layers_[view_->model.has_experts(visit.layer)][checkpointed];
  const int visits = static_cast<int>(trace_->size());
  const auto same = [&](int other) {
    return other >= 0 && other < visits && (*trace_)[other].layer == visit.layer &&
           (*trace_)[other].action == visit.action;
  };
  const bool starts = before && !same(v - 1);
  const bool ends = !before && !same(v + 1);
  const auto add = [&](Bytes delta) { writer_->Memory(MemoryTerm::kActivations, delta); };
  switch (visit.action) {
    case Action::kForward:
      if (starts) add(memory.working_per_layer);
      if (ends) add(memory.saved_per_layer - memory.working_per_layer);
      break;
    case Action::kRecompute:
      if (starts) add(memory.working_per_layer);
      break;
    default: {
      Bytes extra = memory.gradient_per_layer;
      const bool recomputed = checkpointed && view_->training.checkpointing == Checkpointing::kFull;
      if (!recomputed) extra += memory.working_per_layer;
      if (starts) add(extra);
      if (ends) {
        add(-1 * (memory.gradient_per_layer + memory.working_per_layer + memory.saved_per_layer));
      }
    }
  }
}

}  // namespace zerosim
