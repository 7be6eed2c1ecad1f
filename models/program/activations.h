// When activations take memory: a layer's working set lives while it runs, what it saves from
// forward to the end of its backward.
#pragma once

#include <array>
#include <vector>

#include "models/memory/memory.h"
#include "models/program/program_writer.h"
#include "models/program/trace.h"
#include "models/scenario/scenario.h"

namespace zerosim {

class ActivationTracker {
 public:
  // `view` is what one rank sees (rank_view.h). All arguments must outlive it.
  ActivationTracker(const Scenario& view, const std::vector<Visit>& trace, ProgramWriter* writer);

  // Before and after the kernels of visit `v`.
  void Before(int v) { Track(v, true); }
  void After(int v) { Track(v, false); }

 private:
  void Track(int v, bool before);
  void TrackOutside(const Visit& visit, bool before);

  const Scenario* view_;
  const std::vector<Visit>* trace_;
  ProgramWriter* writer_;
  // Of layers with a plain MLP and with experts; of those left out of checkpointing first.
  std::array<std::array<ActivationMemory, 2>, 2> layers_{};
};

}  // namespace zerosim
