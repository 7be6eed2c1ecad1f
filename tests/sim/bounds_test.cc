// What no timeline may beat, on timelines that do.
#include "sim/bounds.h"

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "sim/simulate.h"
#include "tests/sim/child.h"
#include "tests/sim/random_scenario.h"

namespace zerosim {
namespace {

Interval Millis(double start, double end) {
  return {Seconds::Millis(start), Seconds::Millis(end)};
}

// A program on 3 x 4 GPUs, to be filled, and its timeline.
class BoundsTest : public testing::Test {
 protected:
  BoundsTest() {
    program_.rank_classes = {"all ranks"};
    program_.kinds = {{"weights", CollectiveOp::kAllGather, {12, 1}, "world"}};
  }

  void AddKernel(Action action, int layer, Seconds time, std::vector<OpId> deps, Interval when) {
    Op op;
    op.kind = OpKind::kKernel;
    op.stream = Stream::kCompute;
    op.action = action;
    op.part = Part::kQkv;
    op.layer = layer;
    op.time = time;
    op.deps = std::move(deps);
    program_.ops.push_back(op);
    Ran(when);
  }

  // 12 MB: a launch of 20 us, then 11 rounds of 5 us and of 80 us on the NIC: 955 us.
  void AddGather(int layer, Interval when) {
    const Bytes full = Bytes::Count(12'000'000);
    Op op;
    op.kind = OpKind::kCollective;
    op.stream = Stream::kGather;
    op.action = Action::kGather;
    op.part = Part::kQkv;
    op.layer = layer;
    op.call = CallId{static_cast<int>(program_.calls.size())};
    program_.calls.push_back({0, full, full, 1});
    program_.ops.push_back(op);
    Ran(when);
  }

  // The text of the bound that the timeline beats, or "".
  std::string Beaten() const {
    Scenario s = SmallScenario(3, 4);
    s.cluster.calibration.collective_launch.value = 20e-6;
    const NetworkModel network = NetworkOf(s.cluster);
    try {
      CheckBounds(program_, LowerAll(program_, network, s.algorithm), network, timeline_);
      return "";
    } catch (const std::logic_error& e) {
      return e.what();
    }
  }

  StepProgram program_;
  Timeline timeline_;

 private:
  void Ran(Interval when) {
    timeline_.ops.push_back(when);
    timeline_.end = std::max(timeline_.end, when.end);
  }
};

TEST_F(BoundsTest, AnOperationTakesItsTime) {
  AddKernel(Action::kForward, 0, Seconds::Millis(2), {}, Millis(0, 2));
  AddKernel(Action::kBackward, 3, Seconds::Millis(3), {OpId{0}}, Millis(2, 5));
  EXPECT_EQ(Beaten(), "");

  timeline_.ops[1] = Millis(2.1, 5);
  EXPECT_EQ(Beaten(), "backward layers.3.qkv took 0.0029 s, less than the 0.003 s that it needs");
}

TEST_F(BoundsTest, AnOperationEndsAfterItsDependencies) {
  AddKernel(Action::kForward, 0, Seconds::Millis(2), {}, Millis(0, 10));
  AddKernel(Action::kBackward, 3, Seconds::Millis(3), {OpId{0}}, Millis(2, 5));

  EXPECT_EQ(Beaten(),
            "backward layers.3.qkv, counted from the start, took 0.005 s, less than the 0.01 s "
            "that it needs");
}

TEST_F(BoundsTest, ACollectiveIsNoFasterThanItsLatencyAndItsBusiestLink) {
  AddGather(1, Millis(0, 0.955));
  EXPECT_EQ(Beaten(), "");

  timeline_.ops[0] = Millis(0, 0.9);
  EXPECT_EQ(Beaten(), "gather layers.1.qkv took 0.0009 s, less than the 0.000955 s that it needs");
}

TEST_F(BoundsTest, TheStepIsNoShorterThanItsCompute) {
  AddKernel(Action::kForward, 0, Seconds::Millis(2), {}, Millis(0, 2));
  AddKernel(Action::kForward, 1, Seconds::Millis(3), {}, Millis(0, 3));

  EXPECT_EQ(Beaten(),
            "the step, by its compute, took 0.003 s, less than the 0.005 s that it needs");

  // Two classes of ranks compute beside each other.
  program_.rank_classes = {"even", "odd"};
  EXPECT_EQ(Beaten(), "");
}

TEST_F(BoundsTest, TheStepIsNoShorterThanTheBytesOnALink) {
  AddGather(1, Millis(0, 0.955));
  AddGather(2, Millis(0, 0.955));

  EXPECT_EQ(Beaten(),
            "the step, by the bytes on a nic, took 0.000955 s, less than the 0.00176 s that it "
            "needs");
}

TEST_F(BoundsTest, RoundingIsNoFault) {
  AddKernel(Action::kForward, 0, Seconds::Millis(2), {}, Millis(0, 2 * (1 - 1e-7)));
  EXPECT_EQ(Beaten(), "");

  timeline_.ops[0] = Millis(0, 2 * (1 - 1e-5));
  EXPECT_NE(Beaten(), "");
}

TEST_F(BoundsTest, RoundingOfALateClockIsNoFault) {
  // At 1e7 s the clock counts in steps of 1.86e-9 s.
  const double start = 1e7;
  AddKernel(Action::kForward, 0, Seconds::Micros(64.5277538), {},
            {Seconds::Count(start), Seconds::Count(start + 64.5257533e-6)});
  EXPECT_EQ(Beaten(), "");

  timeline_.ops[0].end = Seconds::Count(start + 64.4e-6);
  EXPECT_EQ(Beaten(),
            "forward layers.0.qkv took 6.43990934e-05 s, less than the 6.45277538e-05 s that it "
            "needs");
}

// Of a real timeline: whether it is accepted (Simulate throws if not), and how many of its
// operations could be a tenth shorter without a complaint.
// There the rounds in the node decide, which are shorter than those between nodes.
TEST(CheckBounds, AcceptMessagesOverGpuLinksSlowerThanNics) {
  Scenario s = SmallScenario(2, 4);
  s.cluster.node.gpu_bandwidth = BytesPerSecond::GigabytesPerSecond(5);
  s.cluster.fabric.nics_per_node = 4;
  s.cluster.fabric.latency = Seconds::Micros(50);
  const std::vector<double> step =
      InChild([&] { return std::vector{Simulate(s, Engine::kMessage).report.step.seconds()}; });
  EXPECT_EQ(step.size(), 1U);
}

TEST(CheckBounds, AcceptsRealTimelinesAndNoShortenedOperation) {
  for (const Engine engine : {Engine::kFluid, Engine::kMessage}) {
    for (unsigned seed = 1; seed <= 6; ++seed) {
      SCOPED_TRACE("seed " + std::to_string(seed));
      const auto counts = InChild([&] {
        const SimulationResult result = Simulate(RandomScenario(seed), engine);
        const StepProgram& program = result.step.program;
        double missed = 0;
        double tried = 0;
        for (std::size_t i = 0; i < program.ops.size(); ++i) {
          if (program.ops[i].kind == OpKind::kCollective ||
              program.ops[i].time < Seconds::Micros(1)) {
            continue;
          }
          Timeline doctored = result.timeline;
          doctored.ops[i].start = doctored.ops[i].end - 0.9 * program.ops[i].time;
          ++tried;
          try {
            CheckBounds(program, result.step.calls, result.step.network, doctored);
            ++missed;
          } catch (const std::logic_error&) {
          }
        }
        return std::vector{tried, missed};
      });
      ASSERT_EQ(counts.size(), 2u);
      EXPECT_GT(counts[0], 0);
      EXPECT_EQ(counts[1], 0);
    }
  }
}

}  // namespace
}  // namespace zerosim
