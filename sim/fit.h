// What would make a scenario fit that does not.
#pragma once

#include <optional>
#include <string>

#include "models/core/units.h"
#include "models/scenario/scenario.h"

namespace zerosim {

struct FittingChange {
  std::string setting;  // as after --set: "training.micro_batch_size=2"
  Bytes peak;           // with it
};

// The first change of one key that makes `scenario` fit its GPUs, in the order of what it costs in
// throughput: DeepSpeed's defaults of what keeps weights gathered, fewer live parameters, smaller
// gradient buckets, no hpZ, a smaller micro-batch, more checkpointing, a higher stage, offload to
// the host, more nodes (to 64 times as many). A fixed global batch is kept, so a change of the
// micro-batch or the nodes may come with the accumulation steps that it needs. Nothing if none of
// them is enough; other keys are not tried.
std::optional<FittingChange> SmallestFittingChange(const Scenario& scenario);

}  // namespace zerosim
