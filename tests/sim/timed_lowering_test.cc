#include "sim/timed_lowering.h"

#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "models/network/collective_sweep.h"
#include "sim/fluid_engine.h"
#include "sim/message_engine.h"
#include "sim/simulate.h"
#include "tests/sim/child.h"
#include "tests/sim/scenarios.h"

namespace zerosim {
namespace {

// `nodes` of 8 H100 with eight 400 Gb/s NICs each on one switch.
Scenario H100s(int nodes, CollectiveAlgorithm algorithm) {
  Scenario s = SmallScenario(nodes, 8);
  s.algorithm = algorithm;
  s.cluster.node.gpu.compute_capability = 90;
  s.cluster.node.gpu_bandwidth = BytesPerSecond::GigabytesPerSecond(450);
  s.cluster.node.pcie_bandwidth = BytesPerSecond::GigabytesPerSecond(55);
  s.cluster.fabric.nics_per_node = 8;
  s.cluster.fabric.nic_bandwidth = BytesPerSecond::GigabitsPerSecond(400);
  // What NCCL achieves is not the calibration's to say.
  s.cluster.calibration.nic_fraction = {0.5, 0.5, 0.5, "test"};
  return s;
}

struct Case {
  std::string name;
  int nodes;
  FabricKind fabric;
};

std::vector<Case> Cases() {
  return {{"one node", 1, SwitchLayout()},
          {"switch", 4, SwitchLayout()},
          {"oversubscribed", 8, FatTreeLayout{{{4, 1}, {2, 4}}}},
          {"torus", 8, TorusLayout{{4, 2}, BytesPerSecond::GigabytesPerSecond(50)}}};
}

struct Named {
  CollectiveOp op;
  CollectiveKind kind;
};
constexpr Named kOps[] = {{CollectiveOp::kAllGather, CollectiveKind::kAllGather},
                          {CollectiveOp::kReduceScatter, CollectiveKind::kReduceScatter},
                          {CollectiveOp::kAllReduce, CollectiveKind::kAllReduce},
                          {CollectiveOp::kAllToAll, CollectiveKind::kAllToAll}};

CollectiveCost Asked(const Scenario& s, CollectiveKind kind, Bytes size) {
  CollectiveQuestion question;
  question.kind = kind;
  question.nodes = s.cluster.nodes;
  question.gpus_per_node = 8;
  question.best = s.algorithm == CollectiveAlgorithm::kBest;
  question.version = s.nccl;
  question.overrides = s.nccl_overrides;
  question.sizes = {size};
  return SweepCollective(s.cluster, question).front().cost;
}

StepProgram Lone(const Scenario& s, CollectiveOp op, Bytes size) {
  StepProgram program;
  program.rank_classes = {"all"};
  program.kinds = {{"test", op, {s.world_size(), 1}, "world", 0, 0}};
  program.calls = {{0, size, size}};
  Op collective;
  collective.kind = OpKind::kCollective;
  collective.call = CallId{0};
  program.ops = {collective};
  return program;
}

TEST(TimedLowering, ALoneCollectiveInAStepTakesWhatTheCollectiveCommandPrints) {
  for (const CollectiveAlgorithm algorithm :
       {CollectiveAlgorithm::kNccl, CollectiveAlgorithm::kBest}) {
    for (const Case& c : Cases()) {
      Scenario s = H100s(c.nodes, algorithm);
      s.cluster.fabric.kind = c.fabric;
      const NetworkModel network = NetworkOf(WithoutLinkCalibration(s.cluster));
      for (const Named& named : kOps) {
        for (const std::int64_t bytes : {1'000LL, 1'000'000LL, 1'000'000'000LL}) {
          SCOPED_TRACE(c.name + " " + std::string(NameOf(named.kind)) + " " +
                       std::to_string(bytes));
          const Bytes size = Bytes::Count(bytes);
          const CollectiveCost asked = Asked(s, named.kind, size);
          const StepProgram program = Lone(s, named.op, size);
          const std::vector<LoweredCall> calls = LowerAllTimed(s, program, network);
          EXPECT_EQ(calls.front().algorithm, asked.algorithm);
          EXPECT_EQ(calls.front().protocol, asked.protocol);
          const std::vector<double> time =
              InChild([&] { return std::vector{RunFluid(program, calls, network).end.seconds()}; });
          ASSERT_EQ(time.size(), 1u);
          EXPECT_NEAR(time.front() / asked.time().seconds(), 1, 1e-6);
        }
      }
    }
  }
}

TEST(TimedLowering, TheBestIsNeverSlowerThanWhatNcclTakes) {
  bool faster = false;
  for (const Case& c : Cases()) {
    Scenario nccl = H100s(c.nodes, CollectiveAlgorithm::kNccl);
    nccl.cluster.fabric.kind = c.fabric;
    Scenario best = nccl;
    best.algorithm = CollectiveAlgorithm::kBest;
    for (const Named& named : kOps) {
      for (const std::int64_t bytes : {1'000LL, 1'000'000LL, 1'000'000'000LL}) {
        const Seconds a = Asked(best, named.kind, Bytes::Count(bytes)).time();
        const Seconds b = Asked(nccl, named.kind, Bytes::Count(bytes)).time();
        EXPECT_LE(a, b) << c.name << " " << NameOf(named.kind) << " " << bytes;
        faster = faster || Ratio(a, b) < 0.9;
      }
    }
  }
  EXPECT_TRUE(faster);
}

TEST(TimedLowering, AStepFollowsTheEnvironment) {
  Scenario s = H100s(4, CollectiveAlgorithm::kNccl);
  ASSERT_EQ(SetVariable("NCCL_PROTO=LL", &s.nccl_overrides), std::nullopt);
  const PreparedStep step = Prepare(s);
  bool any = false;
  for (std::size_t i = 0; i < step.calls.size(); ++i) {
    const CallKind& kind = step.program.kinds[step.program.calls[i].kind];
    if (IsCopy(kind.op) || kind.group.size == 1) continue;
    EXPECT_EQ(step.calls[i].protocol, "LL") << kind.name;
    any = true;
  }
  EXPECT_TRUE(any);
}

// A ring's NICs at a quarter of their rate; sound, NVLinks limit it as 8 x 0.93 x 50 to 0.82 x 450.
TEST(TimedLowering, DeadNicsSlowTransfers) {
  Scenario s = H100s(4, CollectiveAlgorithm::kNccl);
  const Bytes size = Bytes::Count(1'000'000'000);
  const CollectiveCost sound = Asked(s, CollectiveKind::kAllGather, size);
  NodeException slow;
  slow.nodes = {2};
  slow.dead_nics = 6;
  s.cluster.exceptions = {slow};
  const LoweredCall call = LowerAllTimed(s, Lone(s, CollectiveOp::kAllGather, size),
                                         NetworkOf(WithoutLinkCalibration(s.cluster)))
                               .front();
  const Seconds more = call.alone - sound.latency - sound.fill;
  EXPECT_NEAR(Ratio(more, sound.transfer), 4 * 369.0 / 372, 0.05);
}

TEST(TimedLowering, TheMessageEngineRefuses) {
  try {
    Simulate(H100s(2, CollectiveAlgorithm::kBest), Engine::kMessage);
    FAIL();
  } catch (const EngineLimit& e) {
    EXPECT_STREQ(e.what(),
                 "the message engine plays collectives.algorithm ring and hierarchical_ring; use "
                 "the fluid engine");
  }
}

}  // namespace
}  // namespace zerosim
