// Jitter: the drawn maxima against their exact distribution and against a draw for every GPU, and
// the step that they make against the message engine, in which every rank has its own. A failure
// names its seed.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "sim/simulate.h"
#include "sim/step_jitter.h"
#include "tests/sim/child.h"
#include "tests/sim/random_scenario.h"
#include "tests/sim/scenarios.h"

namespace zerosim {
namespace {

constexpr double kCompute = 0.03;

// Standard deviation of the logarithm of a lognormal of mean 1 and standard deviation kCompute.
double LogDeviation() {
  return std::sqrt(std::log(1 + kCompute * kCompute));
}

double Phi(double z) {
  return 0.5 * std::erfc(-z / std::numbers::sqrt2);
}

// The distribution of 1 + x, written down apart from the tested one.
double Lognormal(double f) {
  const double s = LogDeviation();
  return Phi(std::log(f) / s + s / 2);
}

std::vector<double> Drawn(std::int64_t seed, int steps, const std::vector<AlikeGpus>& gpus) {
  std::vector<double> drawn = DrawSteps({kCompute, seed, steps}, gpus);
  std::ranges::sort(drawn);
  return drawn;
}

// Each GPU by itself, from seeds of its own; the greatest of each step.
std::vector<double> GreatestOfEach(std::int64_t seed, int steps, const std::vector<double>& gpus) {
  std::vector<double> greatest(static_cast<std::size_t>(steps), 0.0);
  for (std::size_t g = 0; g < gpus.size(); ++g) {
    const std::vector<double> own =
        DrawSteps({kCompute, seed + 1000 + static_cast<std::int64_t>(g), steps}, {{1, 1}});
    for (std::size_t i = 0; i < own.size(); ++i) {
      greatest[i] = std::max(greatest[i], gpus[g] * own[i]);
    }
  }
  std::ranges::sort(greatest);
  return greatest;
}

// Kolmogorov and Smirnov: how far the two apart may lie in one of 10,000 samples, n the size of
// one, or its half of two equal ones: sqrt(log(2 / 1e-4) / 2n).
double Bound(double n) {
  return std::sqrt(std::log(2 / 1e-4) / (2 * n));
}

TEST(Jitter, MaximaFollowTheExactDistribution) {
  constexpr int kSteps = 5000;
  for (const double gpus : {1.0, 2.0, 64.0, 16'384.0, 131'072.0}) {
    for (const std::int64_t seed : {1, 2, 3}) {
      const std::vector<double> drawn = Drawn(seed, kSteps, {{gpus, 1}});
      double distance = 0;
      for (int i = 0; i < kSteps; ++i) {
        const double exact = std::pow(Lognormal(drawn[i]), gpus);
        distance = std::max({distance, exact - i * 1.0 / kSteps, (i + 1.0) / kSteps - exact});
      }
      std::printf("  %.0f GPUs, seed %d: KS distance %.4f of %.4f\n", gpus, static_cast<int>(seed),
                  distance, Bound(kSteps));
      EXPECT_LT(distance, Bound(kSteps));
    }
  }
}

double DistanceOfSamples(const std::vector<double>& a, const std::vector<double>& b) {
  double distance = 0;
  for (const double at : a) {
    const auto share = [&](const std::vector<double>& of) {
      const auto below = std::ranges::upper_bound(of, at) - of.begin();
      return static_cast<double>(below) / static_cast<double>(of.size());
    };
    distance = std::max(distance, std::abs(share(a) - share(b)));
  }
  return distance;
}

TEST(Jitter, MaximaAreThoseOfADrawForEveryGpu) {
  constexpr int kSteps = 2000;
  for (const std::int64_t seed : {1, 2, 3}) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    EXPECT_LT(DistanceOfSamples(Drawn(seed, kSteps, {{24, 1}}),
                                GreatestOfEach(seed, kSteps, std::vector<double>(24, 1.0))),
              Bound(kSteps / 2.0));
    // Four at 0.95 of the speed of the others, which now and then are the slowest all the same.
    std::vector<double> unlike(4, 1.0);
    unlike.resize(24, 0.95);
    EXPECT_LT(DistanceOfSamples(Drawn(seed, kSteps, {{4, 1}, {20, 0.95}}),
                                GreatestOfEach(seed, kSteps, unlike)),
              Bound(kSteps / 2.0));
  }
}

// Over quantiles at the middles of equal parts of the probability.
double Expectation(double gpus) {
  const SlowestKernels slowest(kCompute, {{gpus, 1}});
  constexpr int kParts = 50'000;
  double sum = 0;
  for (int i = 0; i < kParts; ++i) sum += slowest.Quantile(std::log((i + 0.5) / kParts));
  return sum / kParts;
}

TEST(Jitter, ExpectationsAreThoseOfOrderStatistics) {
  EXPECT_NEAR(Expectation(1), 1, 1e-6);
  // E max(X, Y) = 2 Phi(s / sqrt 2) of two lognormals of mean 1.
  EXPECT_NEAR(Expectation(2), 2 * Phi(LogDeviation() / std::numbers::sqrt2), 1e-6);
  // Of N the integral of 1 - F(f)^N over f, here from 0 to 2.
  for (const double gpus : {64.0, 16'384.0}) {
    constexpr int kParts = 50'000;
    double integral = 0;
    for (int i = 0; i < kParts; ++i) {
      integral += (1 - std::pow(Lognormal((i + 0.5) * 2 / kParts), gpus)) * 2 / kParts;
    }
    std::printf("  %.0f GPUs: %.5f\n", gpus, integral);
    EXPECT_NEAR(Expectation(gpus), integral, 1e-6);
  }
}

TEST(Jitter, OneGpuDeviatesAsAsked) {
  const std::vector<double> drawn = Drawn(1, 100'000, {{1, 1}});
  double variance = 0;
  for (const double f : drawn) variance += (f - 1) * (f - 1) / 100'000;
  EXPECT_NEAR(std::sqrt(variance), kCompute, 0.01 * kCompute);
}

TEST(Jitter, AProbabilityIsThatOfItsQuantile) {
  const SlowestKernels slowest(0.1, {{16, 1}, {16'368, 0.7}});
  for (const double p : {1e-300, 1e-9, 0.05, 0.5, 0.99, 1 - 1e-12}) {
    EXPECT_NEAR(slowest.LogProbability(slowest.Quantile(std::log(p))) / std::log(p), 1, 1e-3) << p;
  }
}

TEST(Jitter, OneSeedMakesOneSequence) {
  const std::vector<AlikeGpus> gpus{{64, 1}};
  EXPECT_EQ(DrawSteps({0.03, 7, 20}, gpus), DrawSteps({0.03, 7, 20}, gpus));
  EXPECT_NE(DrawSteps({0.03, 7, 20}, gpus), DrawSteps({0.03, 8, 20}, gpus));
  // Steps are independent: fewer of them are the first.
  const std::vector<double> more = DrawSteps({0.03, 7, 40}, gpus);
  EXPECT_EQ(DrawSteps({0.03, 7, 20}, gpus), std::vector(more.begin(), more.begin() + 20));
}

TEST(Jitter, WithoutItNothingIsDrawn) {
  EXPECT_TRUE(DrawSteps({0, 1, 200}, {{64, 1}}).empty());
}

TEST(Jitter, MoreGpusAreNeverFaster) {
  std::vector<double> fewer = DrawSteps({kCompute, 1, 1000}, {{1, 1}});
  for (const double gpus : {2.0, 3.0, 8.0, 64.0, 1e4, 1e7}) {
    std::vector<double> more = DrawSteps({kCompute, 1, 1000}, {{gpus, 1}});
    for (std::size_t i = 0; i < more.size(); ++i) EXPECT_GT(more[i], fewer[i]) << gpus;
    fewer = std::move(more);
  }
}

TEST(Jitter, GpusAreAlikeBySpeed) {
  ClusterSpec cluster = SmallScenario(10, 4).cluster;
  const auto item = [](std::vector<int> nodes, double speed) {
    NodeException exception;
    exception.nodes = std::move(nodes);
    exception.speeds.compute = speed;
    return exception;
  };
  cluster.exceptions = {item({0, 1}, 0.8), item({2}, 0.4), item({5}, 0.8), item({3}, 1)};
  const std::vector<AlikeGpus> gpus = AlikeGpusOf(cluster);
  ASSERT_EQ(gpus.size(), 3U);
  EXPECT_EQ(gpus[0].count, 4);
  EXPECT_EQ(gpus[0].kernel_time, 1);
  EXPECT_EQ(gpus[1].count, 12);
  EXPECT_EQ(gpus[1].kernel_time, 0.5);
  EXPECT_EQ(gpus[2].count, 24);
  EXPECT_EQ(gpus[2].kernel_time, 0.4);
}

double StepOf(const Scenario& s, Engine engine = Engine::kFluid) {
  const std::vector<double> step =
      InChild([&] { return std::vector{Simulate(s, engine).report.step.seconds()}; });
  return step.empty() ? 0 : step[0];
}

TEST(Jitter, StepsGrowWithTheirKernels) {
  for (unsigned seed = 1; seed <= 30; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Scenario s = RandomScenario(seed);
    const double still = StepOf(s);
    double before = still;
    for (const double kernel_time : {1.01, 1.05, 1.1, 1.2, 2.0}) {
      s.cluster.kernel_time = kernel_time;
      const double step = StepOf(s);
      EXPECT_GE(step, before);
      before = step;
    }
    EXPECT_GT(before, still);
  }
}

// The fluid engine's step with the greatest of the factors that every node draws, over the message
// engine's with each node's own.
double FluidOverMessage(Scenario s, unsigned seed, double compute) {
  Scenario own = s;
  double greatest = 0;
  for (int node = 0; node < s.cluster.nodes; ++node) {
    const double drawn =
        DrawSteps({compute, 1000 * std::int64_t{seed} + node, 1}, {{1, 1}}).front();
    greatest = std::max(greatest, drawn);
    NodeException exception;
    exception.nodes = {node};
    exception.speeds.compute = 1 / drawn;
    own.cluster.exceptions.push_back(exception);
  }
  s.cluster.kernel_time = greatest;
  return StepOf(s) / StepOf(own, Engine::kMessage);
}

// Least and most of 50 seeds.
std::pair<double, double> Ratios(Scenario (*random)(unsigned), double compute, unsigned first) {
  std::pair<double, double> range{2, 0};
  for (unsigned seed = first; seed < first + 50; ++seed) {
    const double ratio = FluidOverMessage(random(seed), seed, compute);
    range = {std::min(range.first, ratio), std::max(range.second, ratio)};
  }
  std::printf("  jitter %g, 50 seeds from %u: fluid over message %.4f to %.4f\n", compute, first,
              range.first, range.second);
  return range;
}

TEST(Jitter, MessagesOfRanksThatEachDrawMakeTheStepOfTheSlowest) {
  const auto [least, most] = Ratios(RandomAlike, kCompute, 1);
  EXPECT_GE(least, 0.99);
  EXPECT_LE(most, 1.01);
}

TEST(Jitter, MessagesOfRanksThatDrawFarApartDoNearlySo) {
  const auto [least, most] = Ratios(RandomAlike, 0.1, 1);
  EXPECT_GE(least, 0.98);
  EXPECT_LE(most, 1.01);
}

TEST(Jitter, MessagesOfPipelinesMakeAboutTheStepOfTheSlowest) {
  const auto [least, most] = Ratios(RandomPipeline, kCompute, 61);
  EXPECT_GE(least, 0.975);
  EXPECT_LE(most, 1.05);
  EXPECT_GT(most, 1.02);  // the bound is needed
}

// In which no two ranks share a node, so that each draws.
TEST(Jitter, MessagesOfRanksOfTheirOwnNodesMakeTheStepOfTheSlowest) {
  for (unsigned seed = 1; seed <= 5; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    for (const int stage : {0, 1, 2, 3}) {
      Scenario s = SmallScenario(8, 1);
      s.zero.stage = stage;
      EXPECT_NEAR(FluidOverMessage(s, seed, kCompute), 1, 0.01);
    }
  }
}

}  // namespace
}  // namespace zerosim
