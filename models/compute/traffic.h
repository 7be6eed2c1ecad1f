// Bytes of device memory that a part's kernels move beside its matrix products: norms, activations,
// residuals, embedding and loss, and attention's own where it is not fused.
//
// Bytes a token and their sources: models/compute/README.md.
#pragma once

#include "models/scenario/scenario.h"
#include "models/transformer/transformer.h"

namespace zerosim {

// A part's kernels that are bound by memory, in one pass of one micro-batch.
struct Traffic {
  double bytes = 0;
  int kernels = 0;
};

struct PartTraffic {
  Traffic forward;
  Traffic backward;
};

PartTraffic TrafficOf(Part part, const Scenario& scenario);

// `kernels` that move so many bytes for each token of a micro-batch, fused as the scenario's
// memory_passes says.
Traffic TokenPasses(double bytes_per_token, int kernels, const Scenario& scenario);

}  // namespace zerosim
