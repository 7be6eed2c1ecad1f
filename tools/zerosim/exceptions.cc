#include "tools/zerosim/exceptions.h"

#include <cstddef>
#include <vector>

#include "models/core/diagnostics.h"
#include "tools/zerosim/predict.h"

namespace zerosim {
namespace {

constexpr int kJobs = 4;

OtherStep StepOf(const Prediction& prediction) {
  return {prediction.step, prediction.tokens_per_s};
}

}  // namespace

std::optional<ExceptionsReport> CostOfExceptions(
    const Scenario& scenario, const std::function<Scenario(int nodes)>& on_nodes) {
  const std::vector<NodeException>& exceptions = scenario.cluster.exceptions;
  if (exceptions.empty()) return std::nullopt;
  ExceptionsReport report;
  for (const NodeException& exception : exceptions) {
    report.nodes += static_cast<int>(exception.nodes.size());
  }

  std::vector<Scenario> others{scenario};
  others.front().cluster.exceptions.clear();
  for (std::size_t i = 0; exceptions.size() > 1 && i < exceptions.size(); ++i) {
    Scenario other = scenario;
    other.cluster.exceptions.erase(other.cluster.exceptions.begin() +
                                   static_cast<std::ptrdiff_t>(i));
    others.push_back(std::move(other));
  }
  const std::size_t items = others.size() - 1;
  if (report.nodes < scenario.cluster.nodes) {
    try {
      others.push_back(on_nodes(scenario.cluster.nodes - report.nodes));
    } catch (const ScenarioError&) {
      // The batch or the groups do not divide the fewer ranks.
    }
  }

  const std::vector<Prediction> predictions = PredictAll(others, kJobs, [](std::size_t) {});
  report.sound = StepOf(predictions.front());
  for (std::size_t i = 1; i <= items; ++i) report.without_item.push_back(StepOf(predictions[i]));
  if (predictions.size() > items + 1) report.without = StepOf(predictions.back());
  return report;
}

}  // namespace zerosim
