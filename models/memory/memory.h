// What a rank keeps in its GPU's memory, by term, in bytes.
//
// Static terms hold through the step; dynamic sizes are put on a timeline by the step program
// (models/program/), whose walk finds the peak and its instant. Formulas and sources:
// models/memory/README.md. Not modelled: allocator fragmentation beyond `context`, NVMe;
// of the host's memory anything but offloaded states (processes, page cache, data loaders).
#pragma once

#include "models/core/units.h"
#include "models/scenario/scenario.h"
#include "models/transformer/transformer.h"

namespace zerosim {

// What is there before the first operation of a step and after its last.
struct StaticMemory {
  Bytes parameters;  // this rank's 16-bit weights: full (stages 0-2) or shard plus persistent ones
  Bytes gradients;   // full or shard, as the stage keeps them
  Bytes optimizer;   // fp32 master and Adam's two moments
  Bytes buffers;     // gradient buckets of contiguous_gradients and overlap_comm; placeholders
  Bytes host;        // in the host's memory, by offload; not part of the GPU's
  Bytes context;     // CUDA context and NCCL: outside of the framework's allocator

  Bytes allocated() const { return parameters + gradients + optimizer; }
};

StaticMemory StaticMemoryOf(const Scenario& scenario, const ModelLayout& layout);

// Sizes of one micro-batch on one GPU, for a layer with a plain MLP or one with experts.
struct ActivationMemory {
  Bytes saved_per_layer;     // kept from forward to backward for one layer
  Bytes working_per_layer;   // in addition while a layer runs forward (or is recomputed)
  Bytes gradient_per_layer;  // in addition while a layer runs backward
  Bytes embedding;           // output of the embedding, kept
  Bytes logits;              // at the loss, with their gradients
};

// Of a layer with experts or with a plain MLP; without `checkpointed`, of one that the scenario's
// checkpointing leaves out.
ActivationMemory ActivationMemoryOf(const Scenario& scenario, bool experts = false,
                                    bool checkpointed = true);

}  // namespace zerosim
