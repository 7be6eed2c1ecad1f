#include "sim/simulate.h"

#include <utility>

#include "models/memory/memory.h"
#include "models/parallel/rank_view.h"
#include "models/parallel/scenario_groups.h"
#include "models/program/build_program.h"
#include "sim/bounds.h"
#include "sim/fluid_engine.h"
#include "sim/message_engine.h"
#include "sim/node_speeds.h"
#include "sim/report.h"
#include "sim/timed_lowering.h"

namespace zerosim {

namespace {

void FindFullest(const Scenario& scenario, PreparedStep* step) {
  const int classes = static_cast<int>(step->program.rank_classes.size());
  for (int c = 0; c < classes; ++c) {
    const StaticMemory always = StaticMemoryOf(
        scenario, classes == 1
                      ? step->layout
                      : StageLayout(step->layout, scenario.model.layers, scenario.parallel, c));
    MemoryWalk walk = WalkMemory(step->program, always, c);
    if (c > 0 && walk.peak <= step->memory.peak) continue;
    step->fullest_class = c;
    step->always = always;
    step->memory = std::move(walk);
  }
}

}  // namespace

PreparedStep Prepare(const Scenario& scenario) {
  PreparedStep step;
  const ModelLayout whole = Layout(scenario.model);
  step.parameters = whole.parameters();
  step.trainable_parameters = whole.trainable_parameters();
  step.layout = Layout(RankModel(scenario.model, scenario.parallel));
  step.program = BuildProgram(scenario, step.layout);
  const bool timed = scenario.times_collectives();
  step.network = NetworkOf(timed ? WithoutLinkCalibration(scenario.cluster) : scenario.cluster,
                           ProcessGroupsOf(scenario).pipeline);
  SlowKernels(step.network, scenario.cluster.kernel_time, &step.program);
  step.calls = timed ? LowerAllTimed(scenario, step.program, step.network)
                     : LowerAll(step.program, step.network, scenario.algorithm);
  FindFullest(scenario, &step);
  return step;
}

Bytes PeakMemory(const Scenario& scenario) {
  PreparedStep step;
  step.layout = Layout(RankModel(scenario.model, scenario.parallel));
  step.program = BuildProgram(scenario, step.layout);
  FindFullest(scenario, &step);
  return step.memory.peak;
}

SimulationResult Simulate(const Scenario& scenario, Engine engine) {
  if (engine == Engine::kMessage && scenario.times_collectives()) {
    throw EngineLimit(
        "the message engine plays collectives.algorithm ring and hierarchical_ring; use the fluid "
        "engine");
  }
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
