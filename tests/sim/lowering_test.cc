// Counted loads against the loads of all messages, one by one.
#include "sim/lowering.h"

#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/sim/enumerate.h"
#include "tests/sim/scenarios.h"

namespace zerosim {
namespace {

// Loads are whole bytes, and blocks over channels need not be.
constexpr double kRounding = 0.5 + 1e-6;

struct Shape {
  int nodes;
  int gpus;
};

std::string NameOfShape(const testing::TestParamInfo<Shape>& info) {
  return std::to_string(info.param.nodes) + "x" + std::to_string(info.param.gpus);
}

double LoadOn(const LoweredStage& stage, LinkId link) {
  double bytes = 0;
  for (const LinkLoad& load : stage.loads) {
    if (load.link == link) bytes += static_cast<double>(load.bytes.count());
  }
  return bytes;
}

// The world, pairs of nodes, nodes, halves of nodes, GPUs of equal local rank, and every second
// rank of a node and of the world.
std::vector<ProcessGroup> GroupsOf(const Shape& shape) {
  std::vector<ProcessGroup> groups = {{shape.nodes * shape.gpus, 1}, {shape.nodes, shape.gpus}};
  if (shape.nodes % 2 == 0) groups.push_back({2 * shape.gpus, 1});
  groups.push_back({shape.gpus, 1});
  if (shape.gpus % 2 == 0) {
    groups.push_back({shape.gpus / 2, 1});
    groups.push_back({shape.gpus / 2, 2});
    groups.push_back({shape.nodes * shape.gpus / 2, 2});
  }
  if (shape.nodes % 2 == 0) groups.push_back({shape.nodes / 2, 2 * shape.gpus});
  return groups;
}

void ExpectLoadsOfEnumeration(const Call& call, const CallKind& kind, const NetworkModel& network,
                              CollectiveAlgorithm algorithm) {
  const LoweredCall lowered = Lower(call, kind, network, algorithm);
  const Plan plan =
      PlanCollective(kind.op, call.full, PlacementOf(kind.group, network.gpus_per_node), algorithm,
                     network.nics_per_node);

  ASSERT_EQ(lowered.stages.size(), plan.stages.size());
  double egress = 0;
  double in_node = 0;
  for (std::size_t i = 0; i < plan.stages.size(); ++i) {
    SCOPED_TRACE("stage " + std::to_string(i));
    const Traffic traffic = Enumerate(plan, plan.stages[i], kind.group, network);
    const LoweredStage& stage = lowered.stages[i];
    EXPECT_NEAR(LoadOn(stage, NetworkModel::kGpuLink), BusiestOf(traffic.gpu_out), kRounding);
    EXPECT_NEAR(LoadOn(stage, NetworkModel::kGpuLink), BusiestOf(traffic.gpu_in), kRounding);
    EXPECT_NEAR(LoadOn(stage, NetworkModel::kNic), BusiestOf(traffic.nic_out), kRounding);
    EXPECT_NEAR(LoadOn(stage, NetworkModel::kNic), BusiestOf(traffic.nic_in), kRounding);
    EXPECT_NEAR(LoadOn(stage, NetworkModel::kFabric), BusiestOf(traffic.node_out), kRounding);
    EXPECT_NEAR(LoadOn(stage, NetworkModel::kFabric), BusiestOf(traffic.node_in), kRounding);
    EXPECT_NEAR(SumOf(traffic.node_out), SumOf(traffic.node_in), kRounding);
    egress += BusiestOf(traffic.node_out);
    in_node += BusiestOf(traffic.gpu_out);
  }
  const auto stages = static_cast<double>(plan.stages.size());
  EXPECT_NEAR(static_cast<double>(lowered.node_egress.count()), egress, stages * kRounding);
  EXPECT_NEAR(static_cast<double>(lowered.in_node_per_gpu.count()), in_node, stages * kRounding);
}

class LoweringTest : public testing::TestWithParam<Shape> {};

TEST_P(LoweringTest, CountsTheBusiestLinksOfTheMessages) {
  const Shape shape = GetParam();
  for (const int nics : {1, 2, 4, 8}) {
    Scenario s = SmallScenario(shape.nodes, shape.gpus);
    s.cluster.fabric.nics_per_node = nics;
    const NetworkModel network = NetworkOf(s.cluster);
    for (const ProcessGroup& group : GroupsOf(shape)) {
      for (const CollectiveOp op : {CollectiveOp::kAllGather, CollectiveOp::kReduceScatter,
                                    CollectiveOp::kAllReduce, CollectiveOp::kAllToAll}) {
        for (const auto algorithm :
             {CollectiveAlgorithm::kRing, CollectiveAlgorithm::kHierarchicalRing}) {
          for (const std::int64_t bytes : {1, 1009, 10'000'019}) {
            SCOPED_TRACE(std::to_string(nics) + " NICs, " + std::to_string(group.size) + " ranks " +
                         std::to_string(group.stride) + " apart, collective " +
                         std::to_string(static_cast<int>(op)) + ", algorithm " +
                         std::to_string(static_cast<int>(algorithm)) + ", " +
                         std::to_string(bytes) + " B");
            const Bytes full = Bytes::Count(bytes);
            ExpectLoadsOfEnumeration({.kind = 0, .full = full, .payload = full, .launches = 1},
                                     {"test", op, group, "test"}, network, algorithm);
          }
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Clusters, LoweringTest,
                         testing::Values(Shape{1, 1}, Shape{1, 2}, Shape{1, 7}, Shape{2, 1},
                                         Shape{7, 1}, Shape{2, 3}, Shape{3, 4}, Shape{4, 4},
                                         Shape{2, 8}, Shape{7, 9}),
                         NameOfShape);

// Stages on 4 nodes x 8 GPUs: `stages`, whose ranks are `stride` apart.
struct Stages {
  int stages;
  int stride;
};

// Groups inside of the stages: neighbours, and ranks of equal place in copies of the model.
std::vector<ProcessGroup> GroupsOfStages(const Stages& shape) {
  std::vector<ProcessGroup> groups;
  for (int size = 2; size <= shape.stride; size *= 2) groups.push_back({size, 1});
  const int span = shape.stages * shape.stride;
  for (int size = 2; size * span <= 32; size *= 2) groups.push_back({size, span});
  return groups;
}

void ExpectLoads(const LoweredStage& lowered, const Traffic& traffic, const NetworkModel& network,
                 int from, int to) {
  const auto on = [&](LinkId kind, int stage, Direction direction) {
    return LoadOn(lowered, network.LinkOf(kind, stage, direction));
  };
  const auto out = Direction::kOut;
  const auto in = Direction::kIn;
  EXPECT_NEAR(on(NetworkModel::kGpuLink, from, out), BusiestOf(traffic.gpu_out), kRounding);
  EXPECT_NEAR(on(NetworkModel::kGpuLink, to, in), BusiestOf(traffic.gpu_in), kRounding);
  EXPECT_NEAR(on(NetworkModel::kNic, from, out), BusiestOf(traffic.nic_out), kRounding);
  EXPECT_NEAR(on(NetworkModel::kNic, to, in), BusiestOf(traffic.nic_in), kRounding);
  EXPECT_NEAR(on(NetworkModel::kFabric, from, out), BusiestOf(traffic.node_out), kRounding);
  EXPECT_NEAR(on(NetworkModel::kFabric, to, in), BusiestOf(traffic.node_in), kRounding);
}

class StageLoweringTest : public testing::TestWithParam<Stages> {};

TEST_P(StageLoweringTest, CountsTheBusiestLinksOfTheMessages) {
  const Stages shape = GetParam();
  const Bytes full = Bytes::Count(10'000'019);
  const Call call{.kind = 0, .full = full, .payload = full, .launches = 1};
  for (const int nics : {1, 2, 4, 8}) {
    SCOPED_TRACE(std::to_string(nics) + " NICs");
    Scenario s = SmallScenario(4, 8);
    s.cluster.fabric.nics_per_node = nics;
    const NetworkModel network = NetworkOf(s.cluster, {shape.stages, shape.stride});
    const int last = shape.stages - 1;
    for (const ProcessGroup& group : GroupsOfStages(shape)) {
      for (const CollectiveOp op : {CollectiveOp::kAllGather, CollectiveOp::kAllToAll}) {
        for (const auto algorithm :
             {CollectiveAlgorithm::kRing, CollectiveAlgorithm::kHierarchicalRing}) {
          SCOPED_TRACE(std::to_string(group.size) + " ranks " + std::to_string(group.stride) +
                       " apart, collective " + std::to_string(static_cast<int>(op)));
          const CallKind kind{"test", op, group, "test", 0, 0};
          const Plan plan = PlanOf(call, kind, network, algorithm);
          for (const int stage : {0, last}) {
            const LoweredCall lowered = Lower(call, kind, network, algorithm, stage);
            ASSERT_EQ(lowered.stages.size(), plan.stages.size());
            for (std::size_t i = 0; i < plan.stages.size(); ++i) {
              ExpectLoads(lowered.stages[i], Enumerate(plan, plan.stages[i], group, network, stage),
                          network, stage, stage);
            }
          }
        }
      }
    }
    for (const auto& [from, to] : std::initializer_list<std::pair<int, int>>{
             {0, 1}, {1, 0}, {last - 1, last}, {last, 0}, {0, last}}) {
      SCOPED_TRACE("from " + std::to_string(from) + " to " + std::to_string(to));
      const CallKind kind{"send", CollectiveOp::kSend, network.pipeline, "pipeline", from, to};
      const LoweredCall lowered = Lower(call, kind, network, CollectiveAlgorithm::kRing, from);
      ASSERT_EQ(lowered.stages.size(), 1u);
      ExpectLoads(lowered.stages[0],
                  EnumerateSend(from, to, static_cast<double>(full.count()), network), network,
                  from, to);
    }
  }
}

// A stage a node and more, halves and quarters of nodes in one or several nodes, GPUs.
INSTANTIATE_TEST_SUITE_P(Shapes, StageLoweringTest,
                         testing::Values(Stages{4, 8}, Stages{2, 16}, Stages{2, 4}, Stages{4, 4},
                                         Stages{2, 2}, Stages{4, 2}, Stages{8, 2}, Stages{16, 2},
                                         Stages{2, 1}, Stages{4, 1}, Stages{8, 1}, Stages{16, 1},
                                         Stages{32, 1}),
                         [](const testing::TestParamInfo<Stages>& info) {
                           return std::to_string(info.param.stages) + "_stages_" +
                                  std::to_string(info.param.stride) + "_apart";
                         });

// Stages 0 and 1 are on the GPUs of the first NIC, 2 and 3 on those of the second.
TEST(StageLinks, AreSharedByTheStagesThatAreOnThem) {
  Scenario s = SmallScenario(2, 8);
  s.cluster.fabric.nics_per_node = 2;
  const NetworkModel network = NetworkOf(s.cluster, {4, 2});
  const auto of = [&](LinkId kind, int stage) {
    return network.LinkOf(kind, stage, Direction::kOut);
  };
  EXPECT_EQ(of(NetworkModel::kNic, 0), of(NetworkModel::kNic, 1));
  EXPECT_NE(of(NetworkModel::kNic, 1), of(NetworkModel::kNic, 2));
  EXPECT_EQ(of(NetworkModel::kNic, 2), of(NetworkModel::kNic, 3));
  EXPECT_EQ(of(NetworkModel::kFabric, 0), of(NetworkModel::kFabric, 3));
  EXPECT_NE(of(NetworkModel::kGpuLink, 0), of(NetworkModel::kGpuLink, 1));
}

// 3 nodes x 4 GPUs; GPU links of 100 GB/s and 2 us, one NIC of 12.5 GB/s and 5 us.
Scenario Cluster() {
  Scenario s = SmallScenario(3, 4);
  s.cluster.calibration.collective_launch.value = 20e-6;
  return s;
}

LoweredCall LowerOne(const Scenario& s, CollectiveOp op, Call call) {
  return Lower(call, {"test", op, {12, 1}, "world"}, NetworkOf(s.cluster), s.algorithm);
}

TEST(Lower, PaysLatencyAndLaunchOfEveryLaunchAndBytesOnce) {
  const Scenario s = Cluster();
  const Bytes full = Bytes::Count(12'000'000);

  const LoweredCall one = LowerOne(s, CollectiveOp::kAllGather, {0, full, full, 1});
  const LoweredCall two = LowerOne(s, CollectiveOp::kAllGather, {0, full, full, 2});

  // 11 rounds of 5 us and of a 1 MB block at 12.5 GB/s.
  EXPECT_NEAR(one.alone.seconds(), 20e-6 + 11 * 5e-6 + 11 * 80e-6, 1e-12);
  EXPECT_NEAR(two.alone.seconds(), 2 * (20e-6 + 11 * 5e-6) + 11 * 80e-6, 1e-12);
  EXPECT_NEAR(one.bound.seconds(), 11 * 80e-6, 1e-12);
  EXPECT_EQ(one.bound, two.bound);
  EXPECT_EQ(one.node_egress, Bytes::Count(11'000'000));
  EXPECT_EQ(one.in_node_per_gpu, Bytes::Count(11'000'000));
  EXPECT_EQ(one.bottleneck, NetworkModel::kNic);
}

TEST(Lower, ChargesAnAllToAllTheRateThatItAchieves) {
  Scenario s = Cluster();
  s.cluster.calibration.all_to_all_fraction.value = 0.5;
  const Bytes full = Bytes::Count(12'000'000);

  const LoweredCall call = LowerOne(s, CollectiveOp::kAllToAll, {0, full, full, 1});

  // 3 rounds in the node, then 8 in which 4 GPUs send 1 MB each through the NIC at half its rate.
  const double in_node = 3 * (2e-6 + 10e-6);
  EXPECT_NEAR(call.alone.seconds(), 20e-6 + in_node + 8 * (5e-6 + 2 * 4 * 80e-6), 1e-12);
  // The bound is the line's rate: it holds whatever a pattern achieves.
  EXPECT_NEAR(call.bound.seconds(), 8 * 4 * 80e-6, 1e-12);
}

TEST(Lower, NamesTheFabricWhereItIsOversubscribed) {
  Scenario s = Cluster();
  s.cluster.fabric.oversubscription = 3;
  const Bytes full = Bytes::Count(12'000'000);

  const LoweredCall call = LowerOne(s, CollectiveOp::kAllGather, {0, full, full, 1});

  EXPECT_EQ(call.bottleneck, NetworkModel::kFabric);
  EXPECT_NEAR(call.bound.seconds(), 3 * 11 * 80e-6, 1e-12);
}

TEST(LowerAll, TellsCallsOfAnotherSizeOrNumberOfLaunchesApart) {
  const Scenario s = Cluster();
  const Bytes small = Bytes::Count(12'000);
  const Bytes large = Bytes::Count(24'000);
  StepProgram program;
  program.kinds = {{"a", CollectiveOp::kAllGather, {12, 1}, "world"},
                   {"b", CollectiveOp::kAllReduce, {12, 1}, "world"}};
  program.calls = {{0, small, small, 1},
                   {0, large, large, 1},
                   {0, small, small, 2},
                   {1, small, small, 1},
                   {0, small, small, 1}};

  const auto calls = LowerAll(program, NetworkOf(s.cluster), s.algorithm);

  ASSERT_EQ(calls.size(), 5u);
  EXPECT_EQ(calls[0].node_egress, Bytes::Count(11'000));
  EXPECT_EQ(calls[1].node_egress, Bytes::Count(22'000));
  EXPECT_EQ(calls[2].launch, 2 * calls[0].launch);
  EXPECT_EQ(calls[3].node_egress, Bytes::Count(22'000));
  EXPECT_EQ(calls[4].alone, calls[0].alone);
}

}  // namespace
}  // namespace zerosim
