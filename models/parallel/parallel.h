// How the ranks of a job divide the model and the samples among them.
#pragma once

#include <cstdint>
#include <vector>

namespace zerosim {

// Which ranks are neighbours: the dimensions in the order in which ranks count through them, the
// first one fastest. Data parallelism includes context parallelism, whose ranks come first in it.
enum class RankOrder : std::uint8_t {
  kTensorDataPipeline,  // tp-dp-pp, Megatron's and torchtitan's: stages are far apart
  kTensorPipelineData,  // tp-pp-dp: stages are near, replicas far apart
};

struct ParallelSpec {
  int tensor = 1;                  // TP: ranks that divide every matrix
  bool sequence_parallel = false;  // norms and residuals divide the sequence over the TP ranks
  int context = 1;                 // CP: ranks that divide the sequence
  int pipeline = 1;                // PP: stages that divide the layers
  int virtual_stages = 1;          // stages that a rank holds, interleaved
  // Layers of each of the pipeline x virtual_stages runs, in order; empty: see stages.h.
  std::vector<int> layers_per_stage;
  int expert = 1;  // EP: ranks that divide the experts
  RankOrder order = RankOrder::kTensorDataPipeline;

  // Ranks that hold one copy of the model and work on the same samples.
  int model_ranks() const { return tensor * context * pipeline; }
};

}  // namespace zerosim
