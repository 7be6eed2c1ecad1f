// The step over many steps: percentiles and mean against all steps simulated one by one.
#include <algorithm>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include "sim/step_jitter.h"
#include "tests/sim/scenarios.h"
#include "tools/zerosim/jitter.h"
#include "tools/zerosim/predict.h"

namespace zerosim {
namespace {

Scenario WithJitter(double compute, int steps) {
  Scenario s = SmallScenario(2, 4);
  s.cluster.jitter = {compute, 5, steps};
  return s;
}

// Ascending.
std::vector<double> EveryStep(const Scenario& s) {
  std::vector<Scenario> steps;
  for (const double kernel_time : DrawSteps(s.cluster.jitter, AlikeGpusOf(s.cluster))) {
    steps.push_back(s);
    steps.back().cluster.kernel_time = kernel_time;
  }
  std::vector<double> times;
  for (const Prediction& p : PredictAll(steps, 2, [](std::size_t) {})) {
    times.push_back(p.step.seconds());
  }
  std::ranges::sort(times);
  return times;
}

TEST(StepsWithJitter, HaveThePercentilesAndTheMeanOfAllSteps) {
  const Scenario s = WithJitter(0.1, 100);
  const std::vector<double> all = EveryStep(s);
  EXPECT_GT(all.back(), 1.02 * all.front());
  const std::optional<JitterReport> report = StepsWithJitter(s);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->steps, 100);
  EXPECT_EQ(report->compute, 0.1);
  ASSERT_EQ(report->percentiles.size(), 4U);
  const int percents[] = {5, 50, 95, 99};
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(report->percentiles[i].percent, percents[i]);
    EXPECT_EQ(report->percentiles[i].step.step.seconds(), all[percents[i] - 1]);
  }
  double mean = 0;
  for (const double step : all) mean += step / 100;
  EXPECT_NEAR(report->mean.step.seconds() / mean, 1, 1e-3);
  EXPECT_LE(report->mean_low.seconds(), mean);
  EXPECT_GE(report->mean_high.seconds(), mean);
  EXPECT_LT(Ratio(report->mean_high, report->mean_low), 1.02);
}

TEST(StepsWithJitter, ProcessTheSameTokensInTheirOwnTime) {
  const std::optional<JitterReport> report = StepsWithJitter(WithJitter(0.03, 20));
  ASSERT_TRUE(report);
  const double tokens = 8 * 512;
  EXPECT_NEAR(report->mean.tokens_per_s * report->mean.step.seconds(), tokens, 1e-6);
  for (const JitteredStep& p : report->percentiles) {
    EXPECT_NEAR(p.step.tokens_per_s * p.step.step.seconds(), tokens, 1e-6);
  }
}

TEST(StepsWithJitter, OfOneStepAreThatStep) {
  const Scenario s = WithJitter(0.03, 1);
  const std::optional<JitterReport> report = StepsWithJitter(s);
  ASSERT_TRUE(report);
  for (const JitteredStep& p : report->percentiles) {
    EXPECT_EQ(p.step.step, report->percentiles[0].step.step);
  }
  EXPECT_EQ(report->mean.step, report->percentiles[0].step.step);
  EXPECT_EQ(report->mean_low, report->mean_high);
}

TEST(StepsWithJitter, AreNoneWithoutJitterAndTheStepWithHardlyAny) {
  Scenario s = WithJitter(0, 20);
  EXPECT_FALSE(StepsWithJitter(s));
  Scenario without = s;
  without.cluster.jitter = {};
  const Prediction still = PredictAll({without}, 1, [](std::size_t) {}).front();
  EXPECT_EQ(PredictAll({s}, 1, [](std::size_t) {}).front().step, still.step);
  s.cluster.jitter.compute = 1e-9;
  const std::optional<JitterReport> report = StepsWithJitter(s);
  ASSERT_TRUE(report);
  EXPECT_NEAR(Ratio(report->mean.step, still.step), 1, 1e-7);
}

TEST(StepsWithJitter, WaitForSlowNodesThatJitterToo) {
  Scenario s = WithJitter(0.03, 20);
  NodeException slow;
  slow.nodes = {1};
  slow.speeds.compute = 0.5;
  s.cluster.exceptions = {slow};
  const std::vector<double> all = EveryStep(s);
  const std::optional<JitterReport> report = StepsWithJitter(s);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->percentiles[1].step.step.seconds(), all[9]);
  // The maximum of the slow node's four, relative to it, and not of all eight.
  EXPECT_EQ(report->percentiles[1].kernel_time, [&] {
    std::vector<double> drawn = DrawSteps(s.cluster.jitter, {{4, 1}});
    std::ranges::sort(drawn);
    return drawn[9];
  }());
}

}  // namespace
}  // namespace zerosim
