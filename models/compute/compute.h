// How long a module's kernels take on an idle GPU, by operation and shape.
//
// Formulas, constants and their sources: models/compute/README.md. Not modelled: wave
// quantisation, power limits beyond GemmSpec::sustained_slowdown, clock ramps, kernel fusion beyond
// ComputeSpec::memory_passes.
#pragma once

#include "models/core/units.h"
#include "models/hardware/hardware.h"
#include "models/scenario/scenario.h"
#include "models/transformer/transformer.h"

namespace zerosim {

// GPU time of one pass through one module, apart by what bounds it.
struct PassTime {
  Seconds gemm;
  Seconds attention;
  Seconds memory_bound;

  Seconds total() const { return gemm + attention + memory_bound; }
};

struct ModuleTime {
  PassTime forward;
  PassTime backward;        // both gradients, without recompute
  PassTime recompute;       // what checkpointing runs again before backward; 0 for the head
  int forward_kernels = 0;  // launches, for the host's time
  int backward_kernels = 0;
};

// C[M,N] = A[M,K] B[K,N] in 16 bit. `fraction` scales the rate (Calibration::gemm_fraction).
// Requires positive sizes.
Seconds GemmTime(std::int64_t m, std::int64_t n, std::int64_t k, const GpuSpec& gpu,
                 double fraction);

// Time of each part for one micro-batch of `scenario` on one GPU. With ComputeSpec::mfu the times
// of all passes, recompute included, add up to the model's FLOP over mfu * peak, and each part
// takes of that by its FLOP.
ModuleTime TimeOf(Part part, const Scenario& scenario);

// FLOP of one optimizer step on one GPU, the average of those that divide a model; a multiply-add
// is two. Takes the whole model, not a rank's view of it.
struct StepFlops {
  Flops model;     // three passes: forward and twice that for backward
  Flops hardware;  // with recompute counted: four passes of the layers under full checkpointing
};

// The counts that publications on Megatron and DeepSpeed use. Hardware, under full checkpointing:
//   96 B s l h^2 (1 + s/6h + V/16lh)    (arXiv 2104.04473, equation 3)
// and model:
//   72 B s l h^2 (1 + s/6h + V/12lh)    (arXiv 2205.05198, equation 7)
// generalised to grouped-query attention and gated MLPs, equal to them without. Attention counts
// the whole square of the sequence.
StepFlops FlopsOfStep(const Scenario& scenario);

// Time of a kernel that reads and writes `traffic` bytes of device memory together; not below
// Calibration::kernel_launch, but 0 for no bytes.
Seconds MemoryTime(Bytes traffic, const ClusterSpec& cluster);

}  // namespace zerosim
