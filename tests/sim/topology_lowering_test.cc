#include "sim/topology_lowering.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "models/parallel/scenario_groups.h"
#include "sim/message_engine.h"
#include "sim/simulate.h"
#include "tests/sim/child.h"
#include "tests/sim/scenarios.h"

namespace zerosim {
namespace {

FabricKind OneLeaf(int nodes) {
  return FatTreeLayout{{{nodes, 1}}};
}

double StepOf(const Scenario& scenario) {
  const std::vector<double> step = InChild([&] {
    return std::vector<double>{Simulate(scenario, Engine::kFluid).report.step.seconds()};
  });
  return step.empty() ? 0 : step.front();
}

// All nodes under one leaf are nodes on one switch, and a full mesh of slow links whose sum is the
// switch's is slower for rings only where it has fewer of them.
TEST(TopologyLowering, OneLeafIsOneSwitch) {
  for (const CollectiveAlgorithm algorithm :
       {CollectiveAlgorithm::kRing, CollectiveAlgorithm::kHierarchicalRing}) {
    for (const bool plus : {false, true}) {
      Scenario scenario = SmallScenario(4, 4);
      scenario.algorithm = algorithm;
      scenario.cluster.fabric.nics_per_node = 4;
      scenario.cluster.node.pcie_bandwidth = BytesPerSecond::GigabytesPerSecond(100);
      if (plus) EnableZeroPlusPlus(&scenario);
      const NetworkModel plain = NetworkOf(scenario.cluster);
      Scenario leaf = scenario;
      leaf.cluster.fabric.kind = OneLeaf(4);
      const NetworkModel tree = NetworkOf(leaf.cluster);
      ASSERT_EQ(plain.topology, nullptr);
      ASSERT_NE(tree.topology, nullptr);
      for (const CollectiveOp op : {CollectiveOp::kAllGather, CollectiveOp::kReduceScatter,
                                    CollectiveOp::kAllReduce, CollectiveOp::kAllToAll}) {
        for (const ProcessGroup& group : {ProcessGroup{16, 1}, {4, 1}, {4, 4}, {2, 8}, {8, 1}}) {
          const CallKind kind{"test", op, group, "test"};
          const Call call{0, Bytes::Count(160'000'000), Bytes::Count(160'000'000)};
          const LoweredCall a = Lower(call, kind, plain, algorithm);
          const LoweredCall b = Lower(call, kind, tree, algorithm);
          SCOPED_TRACE("op " + std::to_string(static_cast<int>(op)) + " group {" +
                       std::to_string(group.size) + ", " + std::to_string(group.stride) + "}");
          Seconds a_latency = a.launch;
          Seconds b_latency = b.launch;
          for (const LoweredStage& stage : a.stages) a_latency += stage.latency;
          for (const LoweredStage& stage : b.stages) b_latency += stage.latency;
          // An all-to-all moves inside of nodes and across them at once here, one after the other
          // there.
          if (op == CollectiveOp::kAllToAll && group.stride == 1 && group.size > 4) continue;
          EXPECT_NEAR(Ratio(a.alone - a_latency, b.alone - b_latency), 1, 1e-6);
          EXPECT_EQ(a.node_egress, b.node_egress);
        }
      }
    }
  }
}

TEST(TopologyLowering, OversubscribedLeavesSlowAStep) {
  Scenario scenario = SmallScenario(8, 2);
  scenario.cluster.fabric.kind = FatTreeLayout{{{2, 1}}};
  const double full = StepOf(scenario);
  scenario.cluster.fabric.kind = FatTreeLayout{{{2, 4}}};
  const double narrow = StepOf(scenario);
  EXPECT_GT(narrow, 1.3 * full);
  scenario.cluster.fabric.kind = FatTreeLayout{{{8, 4}}};
  EXPECT_NEAR(StepOf(scenario), full, 0.02 * full);
}

TEST(TopologyLowering, EveryFabricAndNodeRunsAStep) {
  const BytesPerSecond link = BytesPerSecond::GigabitsPerSecond(100);
  const std::vector<FabricKind> fabrics = {RailLayout{{{2, 1}}}, RailLayout{{{2, 1}}, 0, true},
                                           TorusLayout{{2, 2}, link},
                                           DragonflyLayout{.groups = 2,
                                                           .routers_per_group = 2,
                                                           .nodes_per_router = 1,
                                                           .global_links = 1,
                                                           .local_bandwidth = link,
                                                           .global_bandwidth = link},
                                           GraphLayout{{"s0", "s1"},
                                                       {{"node[0-1]", "s0", link, Seconds()},
                                                        {"node[2-3]", "s1", link, Seconds()},
                                                        {"s0", "s1", link, Seconds::Millis(1)}}}};
  for (const FabricKind& fabric : fabrics) {
    Scenario scenario = SmallScenario(4, 4);
    scenario.cluster.fabric.kind = fabric;
    EXPECT_GT(StepOf(scenario), 0) << fabric.index();
  }
  for (const InNodeFabric in_node : {InNodeFabric::kRing, InNodeFabric::kFullMesh}) {
    Scenario scenario = SmallScenario(2, 4);
    scenario.cluster.node.in_node = in_node;
    EXPECT_GT(StepOf(scenario), 0);
  }
}

TEST(TopologyLowering, TheMessageEngineRefuses) {
  Scenario scenario = SmallScenario(4, 2);
  scenario.cluster.fabric.kind = OneLeaf(4);
  try {
    Simulate(scenario, Engine::kMessage);
    FAIL();
  } catch (const EngineLimit& e) {
    EXPECT_STREQ(e.what(),
                 "the message engine simulates nodes with NVSwitches on one switch; use the fluid "
                 "engine");
  }
}

}  // namespace
}  // namespace zerosim
