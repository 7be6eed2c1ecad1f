#include "models/scenario/key_sections.h"

namespace zerosim {
namespace {

using enum KeyType;

constexpr KeySpec kKeys[] = {
    {.path = "cluster.jitter",
     .otherwise = "every step is as the others",
     .meaning =
         "Kernels that take longer on one GPU than on another, and in one step than in another. "
         "Every step waits for the slowest of all GPUs, and the report gives percentiles of the "
         "step over many steps. Acts in zerosim run."},
    {.path = "cluster.jitter.compute",
     .type = kNumber,
     .low = 0,
     .high = 1,
     .meaning = "Standard deviation of a GPU's kernel times from step to step over their mean: "
                "0.03 for 3 %. Lognormal, drawn for each GPU and step by itself. Not for nodes "
                "that stay slow: those are exceptions."},
    {.path = "cluster.jitter.seed",
     .type = kInteger,
     .fallback = "1",
     .low = 0,
     .high = 9e15,
     .meaning = "Of the draws: the same seed gives the same steps."},
    {.path = "cluster.jitter.steps",
     .type = kInteger,
     .fallback = "200",
     .low = 1,
     .high = 100'000,
     .meaning = "Number of steps that are drawn."},
};

}  // namespace

std::span<const KeySpec> JitterKeys() {
  return kKeys;
}

}  // namespace zerosim
