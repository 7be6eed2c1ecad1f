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

// How the ranks that divide a sequence see each other's keys and values.
enum class ContextMethod : std::uint8_t {
  kAllGather,  // all are gathered before attention (Llama 3)
  kRing,  // blocks go round while attention of the block at hand is computed (arXiv 2310.01889)
};

// Whether matrix products run beside the collectives of tensor parallelism.
enum class TensorOverlap : std::uint8_t {
  kNone,   // they wait for each other
  kAsync,  // chunk by chunk beside each other (PyTorch's AsyncTP, Transformer Engine's userbuffers)
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
  ContextMethod context_method = ContextMethod::kAllGather;
  TensorOverlap tensor_overlap = TensorOverlap::kNone;

  // Whether any collective between parts of the model runs beside their kernels.
  bool overlaps_parts() const {
    return (context > 1 && context_method == ContextMethod::kRing) ||
           (tensor > 1 && tensor_overlap == TensorOverlap::kAsync);
  }

  // Ranks that hold one copy of the model and work on the same samples.
  int model_ranks() const { return tensor * context * pipeline; }
};

}  // namespace zerosim
