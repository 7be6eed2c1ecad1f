// Adds up a timeline to a report.
#pragma once

#include "models/scenario/scenario.h"
#include "sim/simulate.h"
#include "sim/step_report.h"
#include "sim/timeline.h"

namespace zerosim {

StepReport MakeReport(const Scenario& scenario, const PreparedStep& step, const Timeline& timeline);

// Bounds of the step time from the uncertainty of the calibration's parameters: to first order
// along the critical path, each parameter by itself, added in squares. A link rate that was
// measured with fewer NICs a node than the scenario has may not scale: down to the rate of those it
// was measured with, for all transfers between nodes.
struct StepInterval {
  Seconds low;
  Seconds high;
  std::vector<ParameterUsed> parameters;  // that it comes from, the strongest first
};
StepInterval IntervalOf(const Scenario& scenario, const PreparedStep& step,
                        const Timeline& timeline);

// Link utilization over time.
std::vector<UtilizationSeries> UtilizationOf(const PreparedStep& step, const Timeline& timeline);

}  // namespace zerosim
