#include "sim/step_jitter.h"

#include <cmath>
#include <cstddef>
#include <map>
#include <numbers>
#include <numeric>
#include <random>
#include <utility>

namespace zerosim {
namespace {

// log of the standard normal distribution function, exact in both tails.
double LogNormalCdf(double z) {
  const double tail = 0.5 * std::erfc(std::abs(z) / std::numbers::sqrt2);
  return z > 0 ? std::log1p(-tail) : std::log(tail);
}

// In (0, 1), both excluded. The values of mt19937_64 are standardised, those of the standard
// distributions are not.
double Uniform(std::mt19937_64* next) {
  return (static_cast<double>((*next)() >> 12) + 0.5) * 0x1p-52;
}

}  // namespace

std::vector<AlikeGpus> AlikeGpusOf(const ClusterSpec& cluster) {
  std::map<double, double> nodes;  // by speed, their number
  double sound = cluster.nodes;
  for (const NodeException& exception : cluster.exceptions) {
    nodes[exception.speeds.compute] += static_cast<double>(exception.nodes.size());
    sound -= static_cast<double>(exception.nodes.size());
  }
  if (sound > 0) nodes[1.0] += sound;
  std::vector<AlikeGpus> gpus;
  gpus.reserve(nodes.size());
  for (const auto& [speed, count] : nodes) {
    gpus.push_back({count * cluster.node.gpus, nodes.begin()->first / speed});
  }
  return gpus;
}

// A lognormal of mean 1 and standard deviation c is the exponential of a normal with variance
// s^2 = log(1 + c^2) and mean -s^2/2 (Johnson, Kotz and Balakrishnan, Continuous Univariate
// Distributions 1, chapter 14).
SlowestKernels::SlowestKernels(double deviation, std::vector<AlikeGpus> gpus)
    : log_deviation_(std::sqrt(std::log1p(deviation * deviation))),
      log_mean_(-0.5 * log_deviation_ * log_deviation_),
      gpus_(std::move(gpus)) {}

// `z` is the place in the standard normal of a GPU with kernel_time 1.
double SlowestKernels::LogProbabilityOfNormal(double z) const {
  double log_probability = 0;
  for (const AlikeGpus& alike : gpus_) {
    log_probability += alike.count * LogNormalCdf(z - std::log(alike.kernel_time) / log_deviation_);
  }
  return log_probability;
}

double SlowestKernels::LogProbability(double kernel_time) const {
  return LogProbabilityOfNormal((std::log(kernel_time) - log_mean_) / log_deviation_);
}

double SlowestKernels::Quantile(double log_probability) const {
  // Bisection: a step beyond these has the probability 1e-300.
  double low = -37;
  double high = 37;
  for (double z = 0; low < z && z < high; z = std::midpoint(low, high)) {
    (LogProbabilityOfNormal(z) < log_probability ? low : high) = z;
  }
  return std::exp(log_mean_ + log_deviation_ * high);
}

std::vector<double> DrawSteps(const JitterSpec& jitter, const std::vector<AlikeGpus>& gpus) {
  std::vector<double> steps;
  if (!jitter.on()) return steps;
  const SlowestKernels slowest(jitter.compute, gpus);
  std::mt19937_64 next(static_cast<std::uint64_t>(jitter.seed));
  steps.reserve(static_cast<std::size_t>(jitter.steps));
  for (int i = 0; i < jitter.steps; ++i) {
    steps.push_back(slowest.Quantile(std::log(Uniform(&next))));
  }
  return steps;
}

}  // namespace zerosim
