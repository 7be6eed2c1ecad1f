// Nodes that are not as the others: what the slowest make of a step. The message engine gives each
// node its own speed; a failure names its seed.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "sim/simulate.h"
#include "tests/sim/child.h"
#include "tests/sim/random_scenario.h"
#include "tests/sim/scenarios.h"

namespace zerosim {
namespace {

double StepOf(const Scenario& s, Engine engine = Engine::kFluid) {
  const std::vector<double> step =
      InChild([&] { return std::vector{Simulate(s, engine).report.step.seconds()}; });
  return step.empty() ? 0 : step[0];
}

NodeException Exception(std::vector<int> nodes, NodeSpeeds speeds, int dead_nics = 0) {
  NodeException exception;
  exception.nodes = std::move(nodes);
  exception.speeds = speeds;
  exception.dead_nics = dead_nics;
  return exception;
}

NodeSpeeds RandomSpeeds(Draws* draws) {
  return {draws->From({1.0, 0.3, 0.7, 0.9}), draws->From({1.0, 0.25, 0.8}),
          draws->From({1.0, 0.5, 0.9})};
}

// One to all nodes, each as slow as the others or with speeds of its own.
Scenario WithRandomExceptions(Scenario s, unsigned seed, bool alike) {
  Draws draws(seed);
  NodeSpeeds speeds = RandomSpeeds(&draws);
  for (int node = 0; node < s.cluster.nodes; ++node) {
    if (node > 0 && draws.Coin()) continue;
    if (!alike) speeds = RandomSpeeds(&draws);
    s.cluster.exceptions.push_back(Exception({node}, speeds));
  }
  return s;
}

double FluidOverMessage(const Scenario& s) {
  return StepOf(s) / StepOf(s, Engine::kMessage);
}

TEST(Exceptions, EnginesAgreeWhereSlowNodesAreAlike) {
  for (unsigned seed = 101; seed <= 130; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    EXPECT_NEAR(FluidOverMessage(WithRandomExceptions(RandomAlike(seed), seed, true)), 1.0, 0.01);
  }
}

// Stages drift apart where nodes are slow (sim/node_speeds.h).
TEST(Exceptions, EnginesAgreeOnPipelinesWhereSlowNodesAreAlike) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    EXPECT_NEAR(FluidOverMessage(WithRandomExceptions(RandomPipeline(seed), seed, true)), 1.0,
                0.03);
  }
}

TEST(Exceptions, AreNoFasterThanEveryMessageAndAtMostAThirdSlower) {
  double most = 1;
  for (unsigned seed = 101; seed <= 160; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const double ratio = FluidOverMessage(WithRandomExceptions(RandomScenario(seed), seed, false));
    EXPECT_GE(ratio, 0.99);
    EXPECT_LE(ratio, 1.33);
    most = std::max(most, ratio);
  }
  EXPECT_GT(most, 1.05);  // the bound is needed
}

TEST(Exceptions, AnyOneSlowNodeIsAsSlowAsAll) {
  for (unsigned seed = 1; seed <= 10; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Scenario one = RandomAlike(seed);
    Scenario all = one;
    one.cluster.exceptions = {Exception({one.cluster.nodes - 1}, {0.4, 0.5, 0.6})};
    std::vector<int> nodes;
    for (int node = 0; node < all.cluster.nodes; ++node) nodes.push_back(node);
    all.cluster.exceptions = {Exception(nodes, {0.4, 0.5, 0.6})};
    EXPECT_DOUBLE_EQ(StepOf(one), StepOf(all));
  }
}

TEST(Exceptions, SlowLinksOfAllNodesAreSlowLinks) {
  for (unsigned seed = 1; seed <= 10; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Scenario exceptional = RandomScenario(seed);
    // Else the slot or the fabric may decide, which the exceptions leave alone.
    exceptional.cluster.node.pcie_bandwidth = BytesPerSecond();
    exceptional.cluster.node.host_memory_bandwidth = BytesPerSecond();
    exceptional.cluster.fabric.oversubscription = 1;
    exceptional.zero.offload = {};
    if (exceptional.fsdp) exceptional.fsdp->offload = false;
    Scenario slow = exceptional;
    slow.cluster.node.gpu_bandwidth = 0.5 * slow.cluster.node.gpu_bandwidth;
    slow.cluster.fabric.nic_bandwidth = 0.25 * slow.cluster.fabric.nic_bandwidth;
    std::vector<int> nodes;
    for (int node = 0; node < slow.cluster.nodes; ++node) nodes.push_back(node);
    exceptional.cluster.exceptions = {Exception(nodes, {1, 0.5, 0.25})};
    EXPECT_NEAR(StepOf(exceptional) / StepOf(slow), 1.0, 1e-9);
  }
}

TEST(Exceptions, SoundNodesChangeNothingAndSlowOnesNeverHelp) {
  for (unsigned seed = 1; seed <= 10; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Scenario sound = RandomScenario(seed);
    Scenario s = sound;
    s.cluster.exceptions = {Exception({0}, {})};
    EXPECT_EQ(StepOf(s), StepOf(sound));
    double before = StepOf(sound);
    for (const double speed : {0.9, 0.5, 0.1}) {
      s.cluster.exceptions = {Exception({0}, {speed, speed, speed})};
      const double step = StepOf(s);
      EXPECT_GE(step, before);
      before = step;
    }
  }
}

TEST(Exceptions, ADeadNicLeavesItsBytesToTheOthers) {
  Scenario s = SmallScenario(3, 4);
  s.cluster.fabric.nics_per_node = 4;
  s.cluster.fabric.nic_bandwidth = 0.1 * s.cluster.fabric.nic_bandwidth;
  const double sound = StepOf(s);
  s.cluster.exceptions = {Exception({1}, {}, 3)};
  const double dead = StepOf(s);
  s.cluster.exceptions = {Exception({1}, {1, 1, 0.25})};
  EXPECT_EQ(dead, StepOf(s));
  EXPECT_GT(dead, 1.5 * sound);
}

}  // namespace
}  // namespace zerosim
