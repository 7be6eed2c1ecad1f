// The three batch sizes of a DeepSpeed configuration, of which any two give the third.
//
// Source: runtime/config.py at edaa722, _set_batch_related_parameters and _batch_assertion:
// train_batch_size = train_micro_batch_size_per_gpu x gradient_accumulation_steps x ranks of the
// data-parallel world. With one of the first two alone, gradient_accumulation_steps is 1.
#pragma once

#include <cstdint>
#include <optional>

#include "models/scenario/document.h"

namespace zerosim {

// A size, where it was written, and by whom.
struct GivenSize {
  std::int64_t value = 0;
  Location where;
  bool own = false;  // by the scenario, not by the configuration
};

struct BatchSizes {
  std::optional<GivenSize> train;
  std::optional<GivenSize> micro;
  std::optional<GivenSize> steps;
};

// Fills in what follows from the others. What the scenario says wins: a train_batch_size of the
// configuration that does not go with it is dropped with a warning. Sizes that contradict each
// other in the configuration itself, or do not divide, are reported; so are none when `ranks` is
// unknown.
BatchSizes CompleteBatch(BatchSizes sizes, std::optional<std::int64_t> ranks, Problems* problems);

}  // namespace zerosim
