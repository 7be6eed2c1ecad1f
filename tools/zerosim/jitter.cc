#include "tools/zerosim/jitter.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "sim/step_jitter.h"
#include "tools/zerosim/predict.h"

namespace zerosim {
namespace {

constexpr int kJobs = 4;
constexpr std::array kReported = {5, 50, 95, 99};
constexpr std::array kSimulated = {0, 5, 25, 50, 75, 95, 99, 100};

// Of ascending `values`, of which there are some.
double Percentile(const std::vector<double>& values, int percent) {
  const std::size_t place = (values.size() * static_cast<std::size_t>(percent) + 99) / 100;
  return values[std::max<std::size_t>(place, 1) - 1];
}

// A simulated step.
struct Knot {
  double kernel_time = 1;
  Prediction prediction;
};

std::vector<Knot> SimulateAt(const Scenario& scenario, const std::vector<double>& drawn) {
  std::vector<Knot> knots;
  std::vector<Scenario> scenarios;
  knots.reserve(kSimulated.size());
  scenarios.reserve(kSimulated.size());
  for (const int percent : kSimulated) {
    const double kernel_time = Percentile(drawn, percent);
    if (!knots.empty() && knots.back().kernel_time == kernel_time) continue;
    knots.push_back({kernel_time, {}});
    scenarios.push_back(scenario);
    scenarios.back().cluster.kernel_time = kernel_time;
  }
  const std::vector<Prediction> predictions = PredictAll(scenarios, kJobs, [](std::size_t) {});
  for (std::size_t i = 0; i < knots.size(); ++i) knots[i].prediction = predictions[i];
  return knots;
}

// The first knot at or above.
auto KnotAbove(const std::vector<Knot>& knots, double kernel_time) {
  return std::ranges::lower_bound(knots, kernel_time, {}, &Knot::kernel_time);
}

void AddMean(const std::vector<double>& drawn, const std::vector<Knot>& knots,
             JitterReport* report) {
  const double share = 1.0 / static_cast<double>(drawn.size());
  for (const double kernel_time : drawn) {
    const auto above = KnotAbove(knots, kernel_time);
    const auto below = above->kernel_time == kernel_time ? above : above - 1;
    const Seconds low = below->prediction.step;
    const Seconds high = above->prediction.step;
    const double way = below == above ? 0
                                      : (kernel_time - below->kernel_time) /
                                            (above->kernel_time - below->kernel_time);
    report->mean.step += share * (low + way * (high - low));
    report->mean_low += share * std::min(low, high);
    report->mean_high += share * std::max(low, high);
  }
  const Prediction& any = knots.front().prediction;
  report->mean.tokens_per_s = any.tokens_per_s * Ratio(any.step, report->mean.step);
}

}  // namespace

std::optional<JitterReport> StepsWithJitter(const Scenario& scenario) {
  const JitterSpec& jitter = scenario.cluster.jitter;
  if (!jitter.on()) return std::nullopt;
  std::vector<double> drawn = DrawSteps(jitter, AlikeGpusOf(scenario.cluster));
  std::ranges::sort(drawn);
  const std::vector<Knot> knots = SimulateAt(scenario, drawn);

  JitterReport report;
  report.steps = jitter.steps;
  report.compute = jitter.compute;
  for (const int percent : kReported) {
    const double kernel_time = Percentile(drawn, percent);
    const Prediction& prediction = KnotAbove(knots, kernel_time)->prediction;
    report.percentiles.push_back(
        {percent, kernel_time, {prediction.step, prediction.tokens_per_s}});
  }
  AddMean(drawn, knots, &report);
  return report;
}

}  // namespace zerosim
