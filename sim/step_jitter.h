// What jitter (models/hardware/jitter.h) makes of the kernels of a step.
//
// A synchronous step waits for the slowest of its GPUs (node_speeds.h says why), so the kernels of
// a step take the greatest factor that its GPUs draw. Of N alike that maximum is below f with the
// probability F(f)^N, F being the distribution of one: it is drawn in one piece as the quantile of
// F at U^(1/N), U uniform in (0, 1), so that a step costs the same for any number of GPUs. Nodes
// with other speeds (exceptions.h) make a product of such powers, one for each speed, which is
// inverted.
//
// Held against the message engine with a draw for every node (tests/sim/jitter_test.cc): at a
// deviation of 3 % steps of ranks that work alike differ by up to 0.3 %, at 10 % by up to 1.4 %.
//
// Not modelled: stages of a pipeline by themselves. One factor is drawn for the GPUs of all of
// them, which is right where the stage of the slowest GPU paces the pipeline. In random small
// pipelines steps came out up to 2 % short and 5 % long at 3 %, 7 % short and 16 % long at 10 %.
// Beside a stage of slow nodes the factor may be too low for what the sound stages do.
#pragma once

#include <cstdint>
#include <vector>

#include "models/hardware/hardware.h"

namespace zerosim {

// GPUs that are alike.
struct AlikeGpus {
  double count = 0;
  double kernel_time = 1;  // of their kernels without jitter, over that of the slowest: up to 1
};

// By speed, the slowest first.
std::vector<AlikeGpus> AlikeGpusOf(const ClusterSpec& cluster);

// The distribution of the greatest of the GPUs' kernel times in a step, over that of the slowest
// without jitter. `deviation` (JitterSpec::compute) is above 0.
class SlowestKernels {
 public:
  SlowestKernels(double deviation, std::vector<AlikeGpus> gpus);

  // The value that a step is below with the probability e^`log_probability`, which is below 0.
  double Quantile(double log_probability) const;
  // The logarithm of the probability that a step is below `kernel_time`, which is above 0.
  double LogProbability(double kernel_time) const;

 private:
  double LogProbabilityOfNormal(double z) const;

  double log_deviation_ = 0;  // of the logarithm of 1 + x
  double log_mean_ = 0;
  std::vector<AlikeGpus> gpus_;
};

// The factors of the kernels of each step, in the order of the steps; the same for the same seed.
// Empty without jitter.
std::vector<double> DrawSteps(const JitterSpec& jitter, const std::vector<AlikeGpus>& gpus);

}  // namespace zerosim
