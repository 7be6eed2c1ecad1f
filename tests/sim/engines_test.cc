// The fluid engine against the message engine, and both against closed forms.
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sim/fluid_engine.h"
#include "sim/message_engine.h"
#include "sim/simulate.h"
#include "tests/sim/child.h"
#include "tests/sim/scenarios.h"

namespace zerosim {
namespace {

// What the agreement of the engines is about: same program, one engine counts loads on link
// classes, the other sends every message.
constexpr double kAgreement = 0.01;

struct Strategy {
  const char* name;
  void (*set)(Scenario*);
};

void SetStages(Scenario* s, int stages, int micro_batches) {
  s->zero.stage = 1;
  s->parallel.pipeline = stages;
  s->model.layers = 2 * stages;
  s->training.gradient_accumulation_steps = micro_batches;
}

const Strategy kStrategies[] = {
    {"stage0", [](Scenario* s) { s->zero.stage = 0; }},
    {"stage1_code", [](Scenario* s) { s->zero.stage = 1; }},
    {"stage1_paper",
     [](Scenario* s) {
       s->zero.stage = 1;
       s->zero.gradient_collective = GradientCollective::kReduceScatter;
     }},
    {"stage2_overlap",
     [](Scenario* s) {
       s->zero.stage = 2;
       s->zero.overlap_comm = true;
       s->zero.reduce_bucket_size = 5'000'000;
     }},
    {"zero3", [](Scenario*) {}},
    {"zero3_collectives_take_half",
     [](Scenario* s) { s->cluster.node.gpu.collective_share = 0.5; }},
    {"zeropp_collectives_take_half",
     [](Scenario* s) {
       EnableZeroPlusPlus(s);
       s->cluster.node.gpu.collective_share = 0.5;
     }},
    {"zero3_small_buckets", [](Scenario* s) { s->zero.reduce_bucket_size = 2'000'000; }},
    {"zero3_accumulation", [](Scenario* s) { s->training.gradient_accumulation_steps = 3; }},
    {"zero3_first_step", [](Scenario* s) { s->training.first_step = true; }},
    {"zero3_hierarchical",
     [](Scenario* s) { s->algorithm = CollectiveAlgorithm::kHierarchicalRing; }},
    {"zero3_two_nics", [](Scenario* s) { s->cluster.fabric.nics_per_node = 2; }},
    {"zero3_four_nics", [](Scenario* s) { s->cluster.fabric.nics_per_node = 4; }},
    {"zero3_oversubscribed",
     [](Scenario* s) {
       s->cluster.fabric.nics_per_node = 2;
       s->cluster.fabric.oversubscription = 3;
     }},
    {"qwz", [](Scenario* s) { s->zero.quantized_weights = QuantizationFormat{}; }},
    {"hpz", [](Scenario* s) { s->zero.secondary_partition_size = s->cluster.node.gpus; }},
    {"hpz_half_node", [](Scenario* s) { s->zero.secondary_partition_size = 2; }},
    {"qgz", [](Scenario* s) { s->zero.quantized_gradients = GradientQuantization{}; }},
    {"offload",
     [](Scenario* s) {
       s->training.gradient_accumulation_steps = 2;
       s->zero.offload = {.optimizer = true, .optimizer_pinned = true};
     }},
    {"offload_pageable_part",
     [](Scenario* s) { s->zero.offload = {.optimizer = true, .optimizer_ratio = 0.3}; }},
    {"offload_weights_hpz",
     [](Scenario* s) {
       s->zero.secondary_partition_size = s->cluster.node.gpus;
       s->zero.offload = {.optimizer = true,
                          .optimizer_pinned = true,
                          .parameters = true,
                          .parameters_pinned = true};
     }},
    {"offload_stage2",
     [](Scenario* s) {
       s->zero.stage = 2;
       s->training.gradient_accumulation_steps = 2;
       s->zero.offload = {.optimizer = true, .optimizer_pinned = true};
     }},
    {"offload_fsdp", [](Scenario* s) { s->fsdp.emplace().offload = true; }},
    {"lora_mixz",
     [](Scenario* s) {
       s->model.lora = LoraSpec{.frozen_bits = 8};
       s->zero.secondary_partition_size = s->cluster.node.gpus;
     }},
    {"lora_fsdp",
     [](Scenario* s) {
       s->model.lora = LoraSpec{.frozen_bits = 4};
       s->fsdp.emplace();
     }},
    {"qgz_asynchronous",
     [](Scenario* s) {
       s->zero.quantized_gradients = GradientQuantization{};
       s->zero.overlap.quantized_reduce = true;
     }},
    {"qgz_one_hop",
     [](Scenario* s) {
       s->zero.quantized_gradients = GradientQuantization{};
       s->zero.quantized_gradients->two_hops = false;
       s->zero.overlap.quantized_reduce = true;
     }},
    {"qwz_qgz_asynchronous",
     [](Scenario* s) {
       s->zero.quantized_weights = QuantizationFormat{};
       s->zero.quantized_gradients = GradientQuantization{};
       s->zero.overlap.quantized_reduce = true;
     }},
    {"zeropp", EnableZeroPlusPlus},
    {"zeropp_slow_all_to_all",
     [](Scenario* s) {
       EnableZeroPlusPlus(s);
       s->cluster.calibration.all_to_all_fraction.value = 0.5;
     }},
    {"zeropp_asynchronous",
     [](Scenario* s) {
       EnableZeroPlusPlus(s);
       s->zero.overlap.quantized_reduce = true;
     }},
    // A stage a node.
    {"pipeline_zero1", [](Scenario* s) { SetStages(s, s->cluster.nodes, 4); }},
    {"pipeline_zero1_tensor",
     [](Scenario* s) {
       SetStages(s, s->cluster.nodes, 4);
       s->parallel.tensor = 2;
     }},
    {"pipeline_interleaved",
     [](Scenario* s) {
       SetStages(s, s->cluster.nodes, 2 * s->cluster.nodes);
       s->parallel.virtual_stages = 2;
       s->parallel.tensor = 4;
       s->parallel.sequence_parallel = true;
     }},
    {"pipeline_zero3",
     [](Scenario* s) {
       SetStages(s, s->cluster.nodes, 3);
       s->zero.stage = 3;
       s->cluster.fabric.nics_per_node = 4;
     }},
    // Stages in one node, replicas in others.
    {"pipeline_in_node",
     [](Scenario* s) {
       SetStages(s, 2, 4);
       s->parallel.order = RankOrder::kTensorPipelineData;
     }},
    {"pipeline_in_node_tensor_two_nics",
     [](Scenario* s) {
       SetStages(s, 2, 4);
       s->parallel.order = RankOrder::kTensorPipelineData;
       s->parallel.tensor = 2;
       s->cluster.fabric.nics_per_node = 2;
     }},
    {"pipeline_in_node_fsdp",
     [](Scenario* s) {
       SetStages(s, 4, 4);
       s->parallel.order = RankOrder::kTensorPipelineData;
       s->fsdp.emplace();
     }},
    {"pipeline_fsdp_tensor_collectives_take_half",
     [](Scenario* s) {
       SetStages(s, s->cluster.nodes, 4);
       s->parallel.tensor = 2;
       s->fsdp.emplace();
       s->cluster.node.gpu.collective_share = 0.5;
     }},
    {"zeropp_2023_accumulation",
     [](Scenario* s) {
       EnableZeroPlusPlus(s);
       s->zero.secondary_rule = SecondaryRule::kOncePerMicroStep;
       s->training.gradient_accumulation_steps = 2;
       s->zero.overlap.quantized_reduce = true;
     }},
};

struct Case {
  int nodes;
  const Strategy* strategy;
};

std::vector<Case> AllCases() {
  std::vector<Case> cases;
  for (const int nodes : {2, 3}) {
    for (const Strategy& strategy : kStrategies) cases.push_back({nodes, &strategy});
  }
  return cases;
}

Scenario ScenarioOf(const Case& c) {
  Scenario s = SmallScenario(c.nodes, 4);
  c.strategy->set(&s);
  return s;
}

// Step time, end of forward, and bytes out of a node.
std::vector<double> StepOf(const Scenario& s, Engine engine) {
  const StepReport report = Simulate(s, engine).report;
  return {report.step.seconds(), report.forward.seconds(), report.backward.seconds()};
}

class EnginesTest : public testing::TestWithParam<Case> {};

TEST_P(EnginesTest, AgreeOnEveryStrategy) {
  const Scenario s = ScenarioOf(GetParam());

  const std::vector<double> fluid = InChild([&] { return StepOf(s, Engine::kFluid); });
  const std::vector<double> message = InChild([&] { return StepOf(s, Engine::kMessage); });

  ASSERT_EQ(fluid.size(), 3u);
  ASSERT_EQ(message.size(), 3u);
  const char* names[] = {"step", "forward", "backward"};
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(fluid[i] / message[i], 1.0, kAgreement)
        << names[i] << ": fluid " << fluid[i] << " s, message " << message[i] << " s";
  }
}

INSTANTIATE_TEST_SUITE_P(Strategies, EnginesTest, testing::ValuesIn(AllCases()),
                         [](const testing::TestParamInfo<Case>& info) {
                           return std::to_string(info.param.nodes) + "x4_" +
                                  info.param.strategy->name;
                         });

// One collective by itself.
StepProgram OneCall(CollectiveOp op, ProcessGroup group, Bytes full) {
  StepProgram program;
  program.rank_classes = {"all ranks"};
  program.kinds = {{"test", op, group, "test"}};
  program.calls = {{.kind = 0, .full = full, .payload = full, .launches = 1}};
  Op collective;
  collective.kind = OpKind::kCollective;
  collective.stream = Stream::kGather;
  collective.call = CallId{0};
  program.ops = {collective};
  return program;
}

struct ClosedForm {
  const char* name;
  CollectiveOp op;
  ProcessGroup group;
  double seconds;  // on 3 nodes x 4 GPUs, 12 MB; 12.5 GB/s NIC, 100 GB/s GPU link, 5 and 2 us
};

// A block of 12 ranks is 1 MB: 80 us on the NIC, 10 us on a GPU link.
const ClosedForm kClosedForms[] = {
    {"ring_all_gather", CollectiveOp::kAllGather, {12, 1}, 11 * (5e-6 + 80e-6)},
    {"ring_reduce_scatter", CollectiveOp::kReduceScatter, {12, 1}, 11 * (5e-6 + 80e-6)},
    {"ring_all_reduce", CollectiveOp::kAllReduce, {12, 1}, 22 * (5e-6 + 80e-6)},
    {"in_node_all_gather", CollectiveOp::kAllGather, {4, 1}, 3 * (2e-6 + 30e-6)},
    {"in_node_all_to_all", CollectiveOp::kAllToAll, {4, 1}, 3 * (2e-6 + 30e-6)},
    // Four groups of three share the NIC: blocks of 4 MB.
    {"across_all_to_all", CollectiveOp::kAllToAll, {3, 4}, 2 * (5e-6 + 4 * 320e-6)},
    {"world_all_to_all",
     CollectiveOp::kAllToAll,
     {12, 1},
     3 * (2e-6 + 10e-6) + 8 * (5e-6 + 4 * 80e-6)},
};

class ClosedFormTest : public testing::TestWithParam<ClosedForm> {};

TEST_P(ClosedFormTest, BothEnginesTakeIt) {
  const ClosedForm c = GetParam();
  Scenario s = SmallScenario(3, 4);
  s.cluster.calibration.collective_launch.value = 0;
  const NetworkModel network = NetworkOf(s.cluster);
  const StepProgram program = OneCall(c.op, c.group, Bytes::Count(12'000'000));
  const auto calls = LowerAll(program, network, s.algorithm);

  const auto fluid =
      InChild([&] { return std::vector{RunFluid(program, calls, network).end.seconds()}; });
  const auto message = InChild(
      [&] { return std::vector{RunMessages(program, network, s.algorithm).end.seconds()}; });

  ASSERT_EQ(fluid.size(), 1u);
  ASSERT_EQ(message.size(), 1u);
  EXPECT_NEAR(fluid[0] / c.seconds, 1.0, 1e-6);
  EXPECT_NEAR(message[0] / c.seconds, 1.0, 1e-6);
  EXPECT_NEAR(calls[0].alone.seconds() / c.seconds, 1.0, 1e-6);
}

INSTANTIATE_TEST_SUITE_P(Collectives, ClosedFormTest, testing::ValuesIn(kClosedForms),
                         [](const testing::TestParamInfo<ClosedForm>& info) {
                           return std::string(info.param.name);
                         });

// Beside a collective of t seconds a kernel comes t * share later; the collective does not slow
// down.
TEST(CollectiveShare, IsWhatKernelsLoseWhileACollectiveRuns) {
  Scenario s = SmallScenario(3, 4);
  s.cluster.calibration.collective_launch.value = 0;
  s.cluster.node.gpu.collective_share = 0.25;
  const NetworkModel network = NetworkOf(s.cluster);
  StepProgram program = OneCall(CollectiveOp::kAllGather, {12, 1}, Bytes::Count(12'000'000));
  Op kernel;
  kernel.kind = OpKind::kKernel;
  kernel.stream = Stream::kCompute;
  kernel.time = Seconds::Count(0.01);
  program.ops.push_back(kernel);
  const auto calls = LowerAll(program, network, s.algorithm);
  const double collective = 11 * (5e-6 + 80e-6);

  const auto ends = [](const Timeline& timeline) {
    return std::vector{timeline.ops[0].end.seconds(), timeline.ops[1].end.seconds()};
  };
  const auto fluid = InChild([&] { return ends(RunFluid(program, calls, network)); });
  const auto message = InChild([&] { return ends(RunMessages(program, network, s.algorithm)); });

  for (const auto& end : {fluid, message}) {
    ASSERT_EQ(end.size(), 2u);
    EXPECT_NEAR(end[0] / collective, 1.0, 1e-6);
    EXPECT_NEAR(end[1] / (0.01 + 0.25 * collective), 1.0, 1e-6);
  }
}

}  // namespace
}  // namespace zerosim
