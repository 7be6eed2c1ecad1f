#include "sim/simulate.h"

#include <utility>

#include "models/memory/memory.h"
#include "models/parallel/rank_view.h"
#include "models/program/build_program.h"
#include "sim/bounds.h"
#include "sim/fluid_engine.h"
#include "sim/message_engine.h"
#include "sim/report.h"

namespace zerosim {

PreparedStep Prepare(const Scenario& scenario) {
  PreparedStep step;
  step.parameters = Layout(scenario.model).parameters();
  step.layout = Layout(RankModel(scenario.model, scenario.parallel));
  step.program = BuildProgram(scenario, step.layout);
  step.network = NetworkOf(scenario.cluster);
  step.calls = LowerAll(step.program, step.network, scenario.algorithm);
  step.memory = WalkMemory(step.program, StaticMemoryOf(scenario, step.layout));
  return step;
}

SimulationResult Simulate(const Scenario& scenario, Engine engine) {
  SimulationResult result;
  result.step = Prepare(scenario);
  const PreparedStep& step = result.step;
  result.timeline = engine == Engine::kFluid
                        ? RunFluid(step.program, step.calls, step.network)
                        : RunMessages(step.program, step.network, scenario.algorithm);
  CheckBounds(step.program, step.calls, step.network, result.timeline);
  result.report = MakeReport(scenario, step, result.timeline);
  result.utilization = UtilizationOf(step, result.timeline);
  return result;
}

}  // namespace zerosim
