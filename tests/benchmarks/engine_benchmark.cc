// What one simulation costs, by number of GPUs. SimGrid simulates once a process, so each iteration
// runs in a child, which reports the engine's own time (building, lowering and reporting apart).
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "models/scenario/read_scenario.h"
#include "sim/simulate.h"
#include "tests/sim/child.h"

namespace zerosim {
namespace {

Scenario ScenarioOf(const char* name, std::int64_t gpus) {
  const std::string folder = ZEROSIM_SOURCE_DIR "/scenarios";
  // 16 GPUs a node; 8 GPUs are one node of half the size.
  std::vector<Override> set = {{"cluster.nodes", std::to_string(gpus < 16 ? 1 : gpus / 16)}};
  if (gpus < 16) set.push_back({"cluster.node.gpus", std::to_string(gpus)});
  return ReadScenario(folder + "/" + name + ".yaml", set, Catalog{{folder}}).scenario;
}

void Step(benchmark::State& state, const char* name) {
  const Scenario scenario = ScenarioOf(name, state.range(0));
  double activities = 0;
  double links = 0;
  for (auto _ : state) {
    const std::vector<double> values = InChild([&] {
      const SimulationResult result = Simulate(scenario, Engine::kFluid);
      return std::vector{result.timeline.wall.seconds(),
                         static_cast<double>(result.timeline.activities),
                         static_cast<double>(result.timeline.link_classes)};
    });
    if (values.size() != 3) {
      state.SkipWithError("the child process failed");
      return;
    }
    state.SetIterationTime(values[0]);
    activities = values[1];
    links = values[2];
  }
  state.counters["activities"] = activities;
  state.counters["link_classes"] = links;
}

BENCHMARK_CAPTURE(Step, zero3, "zero3_dgx2_384")
    ->Arg(8)
    ->Arg(384)
    ->Arg(16384)
    ->Arg(131072)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Step, zeropp, "zeropp_dgx2_384")
    ->Arg(8)
    ->Arg(384)
    ->Arg(16384)
    ->Arg(131072)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace zerosim
