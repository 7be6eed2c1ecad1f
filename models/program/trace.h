// The order in which a micro-step visits a model's modules, as DeepSpeed's coordinator records it.
#pragma once

#include <cstdint>
#include <vector>

#include "models/program/step_program.h"
#include "models/scenario/scenario.h"
#include "models/transformer/transformer.h"

namespace zerosim {

// One module hook: forward, its repetition under checkpointing, or backward.
struct Visit {
  Action action = Action::kForward;  // kForward, kRecompute or kBackward
  Phase phase = Phase::kForward;
  Part part = Part::kEmbedding;
  int layer = -1;
  std::vector<int> weights;    // used here, places in ModelLayout::weights
  std::vector<int> gradients;  // of weights whose gradient is complete after this visit
  std::vector<int> begun;      // of weights whose gradient appears here: complete, or a first part
};

// Forward through all modules; then backward from the head to the embedding. Under full
// checkpointing each layer runs forward again before its backward. The gradient of a weight that
// several modules use (a tied embedding) is complete at the last of them.
std::vector<Visit> TraceOf(const ModelLayout& layout, Checkpointing checkpointing,
                           int checkpoint_every = 1);

}  // namespace zerosim
