#include "sim/critical_path.h"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "sim/simulate.h"
#include "tests/sim/child.h"
#include "tests/sim/random_scenario.h"

namespace zerosim {
namespace {

constexpr double kPicosecond = 1e-12;

// The world of 3 x 4 GPUs gathers 12 MB in 11 rounds of 5 us and 80 us after a launch of 20 us.
StepProgram Program() {
  StepProgram program;
  program.rank_classes = {"all ranks"};
  program.kinds = {{"weights", CollectiveOp::kAllGather, {12, 1}, "world"},
                   {"gradients", CollectiveOp::kAllToAll, {3, 4}, "across_nodes"},
                   {"gradients", CollectiveOp::kAllToAll, {4, 1}, "node"}};
  const Bytes full = Bytes::Count(12'000'000);
  program.calls = {{0, full, full, 1}, {1, full, full, 1}, {2, full, full, 1}};
  return program;
}

void Add(OpKind kind, Stream stream, Action action, Seconds time, int call, std::vector<OpId> deps,
         StepProgram* program) {
  Op op;
  op.kind = kind;
  op.stream = stream;
  op.action = action;
  op.time = time;
  op.call = CallId{call};
  op.deps = std::move(deps);
  program->ops.push_back(op);
}

Interval Millis(double start, double end) {
  return {Seconds::Millis(start), Seconds::Millis(end)};
}

CriticalPath PathOf(const StepProgram& program, const Timeline& timeline) {
  Scenario s = SmallScenario(3, 4);
  s.cluster.calibration.collective_launch.value = 20e-6;
  const NetworkModel network = NetworkOf(s.cluster);
  return CriticalPathOf(program, LowerAll(program, network, s.algorithm), timeline);
}

TEST(CriticalPathOf, WalksBackThroughTheDependencyThatEndedLast) {
  StepProgram program = Program();
  Add(OpKind::kHost, Stream::kHost, Action::kHostWork, Seconds::Millis(1), -1, {}, &program);
  // Op 1 is done at 3 ms; op 2, an all-gather that was quantised for 0.1 ms, at 4 ms.
  Add(OpKind::kKernel, Stream::kCompute, Action::kForward, Seconds::Millis(2), -1, {OpId{0}},
      &program);
  Add(OpKind::kCollective, Stream::kGather, Action::kGather, Seconds::Millis(0.1), 0, {OpId{0}},
      &program);
  Add(OpKind::kKernel, Stream::kGather, Action::kDequantize, Seconds::Millis(0.5), -1, {OpId{2}},
      &program);
  Add(OpKind::kKernel, Stream::kCompute, Action::kForward, Seconds::Millis(2), -1,
      {OpId{1}, OpId{3}}, &program);
  Timeline timeline;
  timeline.ops = {Millis(0, 1), Millis(1, 3), Millis(1, 4), Millis(4, 4.5), Millis(4.5, 7)};
  timeline.end = Seconds::Millis(7);

  const CriticalPath path = PathOf(program, timeline);

  EXPECT_NEAR(path.host.milliseconds(), 1, kPicosecond);
  // The last kernel alone, as long as it took: op 1 was not waited for.
  EXPECT_NEAR(path.compute.milliseconds(), 2.5, kPicosecond);
  EXPECT_NEAR(path.quantization.milliseconds(), 0.1 + 0.5, kPicosecond);
  EXPECT_NEAR(path.launch.milliseconds(), 0.02, kPicosecond);
  EXPECT_NEAR(path.nic_latency.milliseconds(), 11 * 0.005, kPicosecond);
  EXPECT_EQ(path.gpu_latency, Seconds());
  // What is left of the collective's 3 ms, its waiting for the link included.
  EXPECT_NEAR(path.links[NetworkModel::kNic.value].milliseconds(), 3 - 0.1 - 0.02 - 0.055,
              kPicosecond);
  EXPECT_EQ(path.all_to_all, Seconds());
  EXPECT_NEAR(path.total().milliseconds(), 7, kPicosecond);
}

TEST(CriticalPathOf, TellsAllToAllsBetweenNodesApart) {
  StepProgram program = Program();
  Add(OpKind::kCollective, Stream::kReduce, Action::kReduceInNode, Seconds(), 2, {}, &program);
  Add(OpKind::kCollective, Stream::kReduce, Action::kReduceAcross, Seconds(), 1, {OpId{0}},
      &program);
  Timeline timeline;
  timeline.ops = {Millis(0, 1), Millis(1, 5)};
  timeline.end = Seconds::Millis(5);

  const CriticalPath path = PathOf(program, timeline);

  // 3 rounds of 2 us in the node, 2 rounds of 5 us across.
  EXPECT_NEAR(path.gpu_latency.milliseconds(), 0.006, kPicosecond);
  EXPECT_NEAR(path.nic_latency.milliseconds(), 0.01, kPicosecond);
  EXPECT_NEAR(path.links[NetworkModel::kGpuLink.value].milliseconds(), 1 - 0.02 - 0.006,
              kPicosecond);
  EXPECT_NEAR(path.all_to_all.milliseconds(), 4 - 0.02 - 0.01, kPicosecond);
  EXPECT_EQ(path.all_to_all, path.links[NetworkModel::kNic.value]);
}

TEST(CriticalPathOf, OfAnEmptyProgramIsEmpty) {
  EXPECT_EQ(PathOf(Program(), {}).total(), Seconds());
}

TEST(CriticalPathOf, AddsUpToTheStepOfRealTimelines) {
  for (const Engine engine : {Engine::kFluid, Engine::kMessage}) {
    for (unsigned seed = 1; seed <= 10; ++seed) {
      SCOPED_TRACE("seed " + std::to_string(seed));
      const auto times = InChild([&] {
        const SimulationResult result = Simulate(RandomScenario(seed), engine);
        const CriticalPath path =
            CriticalPathOf(result.step.program, result.step.calls, result.timeline);
        return std::vector{path.total().seconds(), result.timeline.end.seconds()};
      });
      ASSERT_EQ(times.size(), 2u);
      EXPECT_NEAR(times[0] / times[1], 1.0, 1e-9);
    }
  }
}

}  // namespace
}  // namespace zerosim
