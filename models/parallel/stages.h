// How the stages of a pipeline divide the layers of a model.
//
// Each stage holds virtual_stages runs of layers. Run k, in the order of the layers, is on stage
// k mod pipeline; the embedding goes with the first run and what follows the layers with the last.
//
// A scenario may give the layers of every run. Without them:
//
// - Runs that divide the layers hold equally many, the one split that Megatron-LM makes by itself.
// - Else the embedding and the head count as a layer each: layers + 2 are divided equally, the
// first
//   runs take one each of what is left over, and then the first and the last run hold one layer
//   less. torchtitan does so by default (distributed/pipeline_parallel.py, input_weight and
//   output_weight of generate_llm_fqn_per_model_part, but where runs divide the layers too), and
//   Megatron-LM if asked (account_for_embedding_in_pipeline_split and
//   account_for_loss_in_pipeline_split). So 126 layers of Llama 3 405B lie on 16 stages, with 8
//   runs a stage too (arXiv 2407.21783, section 3.3.2), and 70 of GLM-130B on 8 (arXiv 2210.02414).
//
// DeepSpeed counts otherwise: partition_uniform gives the first stages one more each of what is
// left over (runtime/utils.py), of all modules or, in GPT-NeoX's default "type:transformer|mlp", of
// layers alone; "parameters" balances weights. Such splits can be given.
#pragma once

#include <vector>

#include "models/parallel/parallel.h"

namespace zerosim {

// Runs that `layers` can be divided over without a scenario's help, at most: the first and the last
// may hold none.
constexpr int MostRuns(int layers) {
  return layers + 2;
}

// Layers of each of the pipeline x virtual_stages runs, in order. Throws std::invalid_argument if
// they are more than MostRuns, or if given ones do not add up or leave a run between the first and
// the last empty.
std::vector<int> LayersOfRuns(int layers, const ParallelSpec& parallel);

// The run of each layer.
std::vector<int> RunOfLayers(int layers, const ParallelSpec& parallel);

}  // namespace zerosim
