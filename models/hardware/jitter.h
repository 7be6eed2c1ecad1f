// GPUs that are not the same from step to step.
//
// In every step the kernels of each GPU take 1 + x of their time, x drawn anew for each step and
// GPU, all draws independent. 1 + x is lognormal with mean 1 and standard deviation `compute`: many
// small causes (clock, temperature, power, data) multiply, a time is never negative, and the tail
// is to the right. The mean is 1 because the rates of a calibration are means over GPUs and steps.
//
// Not modelled: jitter of links and of the host; causes that last over steps, or that GPUs of a
// node share (a slow node is an item of exceptions.h); kernels that differ within a step.
#pragma once

#include <cstdint>

namespace zerosim {

struct JitterSpec {
  double compute = 0;  // relative standard deviation of a GPU's kernel times; 0: none
  std::int64_t seed = 1;
  int steps = 200;  // that are drawn

  bool on() const { return compute > 0; }
};

}  // namespace zerosim
