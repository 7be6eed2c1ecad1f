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

// Llama 3 405B on `gpus` GPUs.
Scenario Llama(std::int64_t gpus, const std::vector<Override>& set) {
  const std::string folder = ZEROSIM_SOURCE_DIR "/scenarios";
  std::vector<Override> all = {{"cluster.nodes", std::to_string(gpus / 8)}};
  all.insert(all.end(), set.begin(), set.end());
  return ReadScenario(folder + "/llama3_405b_16384xh100.yaml", all, Catalog{{folder}}).scenario;
}

void Run(benchmark::State& state, const Scenario& scenario) {
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

void Step(benchmark::State& state, const char* name) {
  Run(state, ScenarioOf(name, state.range(0)));
}

// Tensor 8 x pipeline 16 x what is left.
void Stages(benchmark::State& state, const char* micro_batches, const char* virtual_stages) {
  Run(state, Llama(state.range(0), {{"training.gradient_accumulation_steps", micro_batches},
                                    {"parallelism.virtual_stages", virtual_stages}}));
}

// Tensor 8 and ZeRO-3 over all others.
void Sharded(benchmark::State& state) {
  Run(state, Llama(state.range(0), {{"parallelism.pipeline", "1"},
                                    {"parallelism.virtual_stages", "1"},
                                    {"training.gradient_accumulation_steps", "1"},
                                    {"zero.stage", "3"}}));
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

BENCHMARK_CAPTURE(Stages, 64, "64", "1")
    ->Arg(1024)
    ->Arg(16384)
    ->Arg(131072)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Stages, 128, "128", "1")
    ->Arg(16384)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Stages, 64_in_4_runs, "64", "4")
    ->Arg(16384)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK(Sharded)->Arg(1024)->Arg(16384)->UseManualTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace zerosim
