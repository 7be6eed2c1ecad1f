// In which order the stages of a pipeline run their passes: 1F1B, plain or interleaved.
#pragma once

#include <vector>

namespace zerosim {

// One pass of a micro-batch through one chunk of a stage's layers.
struct Pass {
  bool backward = false;
  int micro_batch = 0;
  int chunk = 0;  // of the stage's virtual_stages
  friend bool operator==(const Pass&, const Pass&) = default;
};

// Passes of stage `stage` of `stages` in order. With one chunk a stage: stages - stage - 1 forward
// passes, then a forward and a backward pass in turn, then the backward passes left
// (PipeDream-Flush, arXiv 2006.09503). With more chunks the stages go round the layers
// virtual_stages times (arXiv 2104.04473, section 2.2), in runs of `stages` micro-batches. Requires
// that `stages` divides `micro_batches` if there is more than one chunk.
std::vector<Pass> PassesOfStage(int stage, int stages, int micro_batches, int virtual_stages);

}  // namespace zerosim
