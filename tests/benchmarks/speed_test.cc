// The speed that the README promises, held as a test: the fastest of several runs, since machines
// are noisy and nothing makes a program faster than it is.
#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "models/scenario/read_scenario.h"
#include "sim/simulate.h"
#include "tests/benchmarks/measure.h"
#include "tests/sim/child.h"

namespace zerosim {
namespace {

constexpr int kRuns = 9;
constexpr double kEngineLimit_s = 0.020;  // a 384-GPU step, on the README's machine
constexpr double kProcessLimit_s = 0.2;   // read, simulate, report
constexpr double kMemoryLimit_MB = 150;
constexpr double kScaleLimit = 2;  // slowest over fastest of the sizes from 384 GPUs on

const int kGpus[] = {8, 384, 16384, 131072};

std::vector<std::pair<std::string, std::string>> SizeKeys(int gpus) {
  if (gpus < 16) return {{"cluster.nodes", "1"}, {"cluster.node.gpus", std::to_string(gpus)}};
  return {{"cluster.nodes", std::to_string(gpus / 16)}};
}

Scenario ScenarioOf(const std::string& name, int gpus) {
  const std::string folder = ZEROSIM_SOURCE_DIR "/scenarios";
  std::vector<Override> set;
  for (const auto& [path, value] : SizeKeys(gpus)) set.push_back({path, value});
  return ReadScenario(folder + "/" + name + ".yaml", set, Catalog{{folder}}).scenario;
}

// Seconds of the engine once.
double EngineTime(const Scenario& scenario) {
  const std::vector<double> wall = InChild(
      [&] { return std::vector{Simulate(scenario, Engine::kFluid).timeline.wall.seconds()}; });
  return wall.size() == 1 ? wall[0] : 1e9;
}

// Of the whole program.
ProcessCost CostOfRun(const std::string& name, int gpus) {
  std::vector<std::string> words = {ZEROSIM_BINARY, "run",
                                    ZEROSIM_SOURCE_DIR "/scenarios/" + name + ".yaml"};
  for (const auto& [path, value] : SizeKeys(gpus)) {
    words.push_back("--set");
    words.push_back(path + "=" + value);
  }
  return CostOfProcess(words, kRuns);
}

class SpeedTest : public testing::TestWithParam<const char*> {};

TEST_P(SpeedTest, EngineTimeIsSmallAndTheSameAtAnyScale) {
  if (Slowed()) GTEST_SKIP() << "assertions or sanitizers are on";
  double sort = SortTime();
  std::map<int, double> seconds;
  // In turn, so that a busy spell of the machine meets all sizes; more rounds if it lasts.
  // From 384 GPUs on: one node alone overlaps its collectives otherwise.
  const auto growth = [&] {
    const auto [least, most] =
        std::minmax_element(seconds.lower_bound(384), seconds.end(),
                            [](auto& a, auto& b) { return a.second < b.second; });
    return most->second / least->second;
  };
  for (int round = 0; round < kRuns || (round < 5 * kRuns && growth() > kScaleLimit); ++round) {
    for (const int gpus : kGpus) {
      const double once = EngineTime(ScenarioOf(GetParam(), gpus));
      const auto found = seconds.emplace(gpus, once).first;
      found->second = std::min(found->second, once);
    }
    sort = std::min(sort, SortTime());
  }
  for (const auto& [gpus, once] : seconds) {
    std::printf("  %-18s %7d GPUs: engine %6.2f ms\n", GetParam(), gpus, 1e3 * once);
  }
  std::printf("  sorting %d numbers: %.2f ms\n", kSorted, 1e3 * sort);
  EXPECT_LE(seconds[384] / sort, kEngineLimit_s / kSort_s)
      << "engine " << seconds[384] << " s, sorting " << sort << " s";
  EXPECT_LE(growth(), kScaleLimit);
}

TEST_P(SpeedTest, TheWholeProcessIsShortAndSmall) {
  if (Slowed()) GTEST_SKIP() << "assertions or sanitizers are on";
  for (const int gpus : kGpus) {
    const ProcessCost cost = CostOfRun(GetParam(), gpus);
    std::printf("  %-18s %7d GPUs: process %6.1f ms, %5.1f MB\n", GetParam(), gpus,
                1e3 * cost.seconds, cost.megabytes);
    EXPECT_LE(cost.seconds, kProcessLimit_s) << gpus << " GPUs";
    EXPECT_LE(cost.megabytes, kMemoryLimit_MB) << gpus << " GPUs";
  }
}

// Llama 3 405B, tensor 8 x pipeline 16 x data 128 on 16,384 GPUs, and tensor 8 with ZeRO-3. An
// interleaved pipeline with four times the sends may take twice the time.
TEST(SpeedOfPipelines, EngineTimeIsThatOfA384GpuStep) {
  if (Slowed()) GTEST_SKIP() << "assertions or sanitizers are on";
  const std::string folder = ZEROSIM_SOURCE_DIR "/scenarios";
  struct Case {
    const char* name;
    std::vector<Override> set;
    double limit_s = kEngineLimit_s;
  };
  const Case steps[] = {
      {"64 micro-batches",
       {{"training.gradient_accumulation_steps", "64"}, {"parallelism.virtual_stages", "1"}}},
      {"128 micro-batches",
       {{"training.gradient_accumulation_steps", "128"}, {"parallelism.virtual_stages", "1"}}},
      {"16 micro-batches in 8 runs a stage", {}},
      {"64 micro-batches in 4 runs a stage",
       {{"training.gradient_accumulation_steps", "64"}, {"parallelism.virtual_stages", "4"}},
       2 * kEngineLimit_s},
      {"ZeRO-3 over 2048",
       {{"training.gradient_accumulation_steps", "1"},
        {"parallelism.virtual_stages", "1"},
        {"parallelism.pipeline", "1"},
        {"zero.stage", "3"}}}};
  for (const auto& [name, set, limit] : steps) {
    const Scenario scenario =
        ReadScenario(folder + "/llama3_405b_16384xh100.yaml", set, Catalog{{folder}}).scenario;
    double engine = 1e9;
    double sort = 1e9;
    // More runs while a busy spell of the machine lasts.
    const auto slow = [&, limit = limit] { return engine / sort > limit / kSort_s; };
    for (int run = 0; run < kRuns || (run < 5 * kRuns && slow()); ++run) {
      engine = std::min(engine, EngineTime(scenario));
      sort = std::min(sort, SortTime());
    }
    std::printf("  %-36s engine %6.2f ms, sorting %6.2f ms\n", name, 1e3 * engine, 1e3 * sort);
    EXPECT_FALSE(slow()) << name << ": engine " << engine << " s, sorting " << sort << " s";
  }
}

INSTANTIATE_TEST_SUITE_P(Scenarios, SpeedTest, testing::Values("zero3_dgx2_384", "zeropp_dgx2_384"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace zerosim
