// Pipelines on both engines against a list schedule written here, closed forms and counts.
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "models/parallel/rank_view.h"
#include "models/program/pipeline.h"
#include "sim/fluid_engine.h"
#include "sim/message_engine.h"
#include "sim/simulate.h"
#include "tests/sim/child.h"
#include "tests/sim/scenarios.h"

namespace zerosim {
namespace {

// `stages` nodes of four GPUs, a stage a node: data-parallel groups of four.
Scenario Pipeline(int stages, int micro_batches, int virtual_stages) {
  Scenario s = SmallScenario(stages, 4);
  s.model.layers = 2 * stages * virtual_stages;
  s.zero.stage = 1;
  s.parallel.pipeline = stages;
  s.parallel.virtual_stages = virtual_stages;
  s.training.gradient_accumulation_steps = micro_batches;
  // Kernels are launched in no time, so that stages wait for each other alone.
  s.cluster.calibration.host_hook.value = 0;
  s.cluster.calibration.host_launch.value = 0;
  return s;
}

using PassKey = std::tuple<int, bool, int, int>;  // stage, backward, micro-batch, chunk

// When the last pass of a pipeline ends: each stage runs its passes in order, each as soon as its
// input has come. What it sends one way goes in order too.
double EndOfPasses(const Scenario& s, const std::map<PassKey, double>& seconds, double send) {
  const int stages = s.parallel.pipeline;
  const int chunks = s.parallel.virtual_stages;
  const int micro_batches = s.training.gradient_accumulation_steps;
  std::map<PassKey, double> sent;
  std::vector<std::vector<Pass>> order;
  for (int k = 0; k < stages; ++k) order.push_back(PassesOfStage(k, stages, micro_batches, chunks));
  std::vector<std::size_t> next(order.size(), 0);
  std::vector<double> free(order.size(), 0.0);
  std::vector<double> free_to_send[2] = {free, free};
  for (bool any = true; any;) {
    any = false;
    for (int k = 0; k < stages; ++k) {
      if (next[k] == order[k].size()) continue;
      const Pass& pass = order[k][next[k]];
      const int place = pass.chunk * stages + k;
      const int from = place + (pass.backward ? 1 : -1);
      double ready = 0;
      if (from >= 0 && from < stages * chunks) {
        const auto input =
            sent.find({from % stages, pass.backward, pass.micro_batch, from / stages});
        if (input == sent.end()) continue;
        ready = input->second;
      }
      const PassKey key{k, pass.backward, pass.micro_batch, pass.chunk};
      free[k] = std::max(free[k], ready) + seconds.at(key);
      double& way = free_to_send[pass.backward ? 1 : 0][k];
      sent[key] = way = std::max(way, free[k]) + send;
      ++next[k];
      any = true;
    }
  }
  return *std::max_element(free.begin(), free.end());
}

struct Shape {
  int stages;
  int micro_batches;
  int virtual_stages;
  int layers = 0;  // 0: those of Pipeline
  std::vector<int> layers_per_stage = {};
};

class PipelineTime : public testing::TestWithParam<Shape> {};

TEST_P(PipelineTime, IsThatOfAListSchedule) {
  const auto [stages, micro_batches, virtual_stages, layers, layers_per_stage] = GetParam();
  Scenario s = Pipeline(stages, micro_batches, virtual_stages);
  if (layers > 0) s.model.layers = layers;
  s.parallel.layers_per_stage = layers_per_stage;
  if (layers > 0) {
    // Runs of few layers are short: messages of both ways must not meet on a NIC.
    s.cluster.fabric.nic_bandwidth = BytesPerSecond::GigabytesPerSecond(1e4);
    s.cluster.node.pcie_bandwidth = s.cluster.fabric.nic_bandwidth;
  }
  const PreparedStep step = Prepare(s);
  // Passes in the order of each stage, as folded operations.
  std::map<PassKey, double> seconds;
  double send = 0;
  std::vector<std::size_t> next(static_cast<std::size_t>(stages), 0);
  for (const Op& op : step.program.ops) {
    if (op.action == Action::kSend) send = step.calls[op.call.value].alone.seconds();
    if (op.kind != OpKind::kKernel || op.phase == Phase::kOptimizer ||
        op.stream != Stream::kCompute) {
      continue;
    }
    const auto order = PassesOfStage(op.rank_class, stages, micro_batches, virtual_stages);
    const Pass& pass = order.at(next[op.rank_class]++);
    ASSERT_EQ(pass.micro_batch, op.micro_step);
    seconds[{op.rank_class, pass.backward, pass.micro_batch, pass.chunk}] =
        (op.time + TimeInside(op, step.calls)).seconds();
  }

  for (const Engine engine : {Engine::kFluid, Engine::kMessage}) {
    const auto end = InChild([&] {
      const SimulationResult result = Simulate(s, engine);
      double last = 0;
      for (std::size_t i = 0; i < result.step.program.ops.size(); ++i) {
        const Op& op = result.step.program.ops[i];
        if (op.kind == OpKind::kKernel && op.phase != Phase::kOptimizer &&
            op.stream == Stream::kCompute) {
          last = std::max(last, result.timeline.ops[i].end.seconds());
        }
      }
      return std::vector{last};
    });

    ASSERT_EQ(end.size(), 1u);
    EXPECT_NEAR(end[0] / EndOfPasses(s, seconds, send), 1.0, 1e-6);
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, PipelineTime,
                         testing::Values(Shape{2, 4, 1}, Shape{4, 8, 1}, Shape{3, 2, 1},
                                         Shape{2, 4, 2}, Shape{4, 8, 2}, Shape{3, 6, 4},
                                         // Stages that do not divide the layers, runs without any.
                                         Shape{4, 8, 1, 6}, Shape{3, 6, 2, 13}, Shape{4, 8, 2, 6},
                                         Shape{4, 8, 1, 9, {1, 4, 1, 3}},
                                         Shape{2, 6, 2, 5, {0, 4, 1, 0}}),
                         [](const auto& info) {
                           const Shape& shape = info.param;
                           std::string name = std::to_string(shape.stages) + "x" +
                                              std::to_string(shape.micro_batches) + "x" +
                                              std::to_string(shape.virtual_stages);
                           if (shape.layers > 0) name += "of" + std::to_string(shape.layers);
                           return name + (shape.layers_per_stage.empty() ? "" : "given");
                         });

StepReport ReportOf(const Scenario& s) {
  StepReport report;
  const auto numbers = InChild([&] {
    const StepReport r = Simulate(s, Engine::kFluid).report;
    return std::vector{r.step.seconds(),          r.bubble.seconds(),
                       r.compute.seconds(),       r.memory.peak.gigabytes(),
                       r.node_egress.gigabytes(), r.tflops_per_gpu * r.step.seconds()};
  });
  if (numbers.size() != 6) return report;
  report.step = Seconds::Count(numbers[0]);
  report.bubble = Seconds::Count(numbers[1]);
  report.compute = Seconds::Count(numbers[2]);
  report.memory.peak = Bytes::Count(static_cast<std::int64_t>(1e9 * numbers[3]));
  report.node_egress = Bytes::Count(static_cast<std::int64_t>(1e9 * numbers[4]));
  report.tflops_per_gpu = numbers[5];
  return report;
}

// Stages of equal time and sends of none: of m + p - 1 turns, p - 1 are bubble.
TEST(Pipeline, BubbleIsThatOfTheClosedForm) {
  Scenario s = Pipeline(4, 8, 1);
  s.compute.mfu = 0.4;
  s.model.vocabulary = 8;
  s.cluster.fabric.nic_bandwidth = BytesPerSecond::GigabytesPerSecond(1e6);
  s.cluster.node.pcie_bandwidth = s.cluster.fabric.nic_bandwidth;
  s.cluster.fabric.latency = Seconds();
  s.cluster.node.gpu_latency = Seconds();
  s.cluster.calibration.collective_launch.value = 0;
  // An optimizer that takes no time.
  s.cluster.calibration.optimizer_fixed.value = 0;
  s.cluster.node.gpu.memory_bandwidth = BytesPerSecond::GigabytesPerSecond(1e9);

  const StepReport plain = ReportOf(s);
  s.model.layers = 16;
  s.parallel.virtual_stages = 2;
  const StepReport interleaved = ReportOf(s);

  // Per stage, bubble over compute: (p - 1) / m, and a v-th of it with v chunks a stage.
  EXPECT_NEAR(plain.bubble.seconds() / plain.compute.seconds(), 3.0 / 8, 0.02);
  EXPECT_NEAR(interleaved.bubble.seconds() / interleaved.compute.seconds(), 3.0 / 16, 0.02);
}

TEST(Pipeline, DividesTheWorkOfAModelAndKeepsItsSum) {
  Scenario whole = Pipeline(4, 8, 1);
  Scenario divided = whole;
  whole.parallel.pipeline = 1;
  // Four times the samples: as many ranks work on their own.
  EXPECT_NEAR(ReportOf(whole).tflops_per_gpu / ReportOf(divided).tflops_per_gpu, 4.0, 1e-9);
}

// Compute and bytes of the whole model, however its layers lie.
TEST(Pipeline, KeepsWorkWeightsAndMemoryOfUnevenStages) {
  Scenario s = Pipeline(4, 8, 1);
  s.model.layers = 12;
  s.model.tied_embeddings = false;
  const auto sums = [](const Scenario& scenario) {
    const PreparedStep step = Prepare(scenario);
    Seconds compute;
    for (const Op& op : step.program.ops) {
      if (op.kind == OpKind::kKernel && op.phase != Phase::kOptimizer) compute += op.time;
    }
    std::int64_t parameters = 0;
    for (int stage = 0; stage < scenario.parallel.pipeline; ++stage) {
      parameters +=
          StageLayout(step.layout, scenario.model.layers, scenario.parallel, stage).parameters();
    }
    Bytes gradients;
    for (const Call& call : step.program.calls) {
      if (step.program.kinds[call.kind].name == "gradients") gradients += call.full;
    }
    return std::tuple{compute.seconds(), parameters, gradients};
  };
  const auto [compute, parameters, gradients] = sums(s);
  EXPECT_EQ(parameters, Layout(s.model).parameters());
  for (const std::vector<int>& given :
       {std::vector{1, 4, 4, 3}, std::vector{0, 6, 6, 0}, std::vector{9, 1, 1, 1}}) {
    Scenario uneven = s;
    uneven.parallel.layers_per_stage = given;
    const auto [compute_of, parameters_of, gradients_of] = sums(uneven);
    EXPECT_NEAR(compute_of / compute, 1.0, 1e-9);
    EXPECT_EQ(parameters_of, parameters);
    EXPECT_EQ(gradients_of, gradients);
    EXPECT_NEAR(ReportOf(uneven).tflops_per_gpu / ReportOf(s).tflops_per_gpu, 1.0, 1e-9);
  }
  // The fullest stage is the one with most layers.
  Scenario heavy = s;
  heavy.parallel.layers_per_stage = {1, 1, 9, 1};
  EXPECT_EQ(Prepare(heavy).fullest_class, 2);
}

TEST(Pipeline, RunsFsdpOnUnevenAndEmptyRuns) {
  Scenario s = Pipeline(4, 8, 2);
  s.fsdp.emplace();
  s.model.layers = 6;  // the first and the last run of 8 hold none
  const StepReport report = ReportOf(s);
  EXPECT_GT(report.step, Seconds());
}

// An embedding that both ends hold has its gradients added once a step: after the last backward
// pass of both stages and before the reduction over the data-parallel ranks.
TEST(Pipeline, AddsTheGradientsOfATiedEmbeddingOnce) {
  Scenario s = Pipeline(4, 8, 1);
  s.model.tied_embeddings = true;
  s.parallel.tensor = 2;
  const PreparedStep step = Prepare(s);
  const auto of = [&](const char* name) {
    std::vector<int> ops;
    for (std::size_t i = 0; i < step.program.ops.size(); ++i) {
      const CallId call = step.program.ops[i].call;
      if (call.value < 0) continue;
      if (step.program.kinds[step.program.calls[call.value].kind].name == name) {
        ops.push_back(static_cast<int>(i));
      }
    }
    return ops;
  };
  const std::vector<int> tied = of("tied_embedding");
  ASSERT_EQ(tied.size(), 2u);
  std::set<std::pair<int, int>> ways;
  for (const int op : tied) {
    const Call& call = step.program.calls[step.program.ops[op].call.value];
    const CallKind& kind = step.program.kinds[call.kind];
    ways.emplace(kind.from_class, kind.to_class);
    EXPECT_EQ(call.full, Bytes::Count(2 * CeilDiv(s.model.vocabulary, 2) * s.model.hidden));
  }
  EXPECT_EQ(ways, (std::set<std::pair<int, int>>{{0, 3}, {3, 0}}));

  const auto times = InChild([&] {
    const SimulationResult result = Simulate(s, Engine::kFluid);
    double passes = 0;
    double reduced = 1e9;
    for (std::size_t i = 0; i < result.step.program.ops.size(); ++i) {
      const Op& op = result.step.program.ops[i];
      if (op.rank_class != 0 && op.rank_class != 3) continue;
      if (op.kind == OpKind::kKernel && op.action == Action::kBackward) {
        passes = std::max(passes, result.timeline.ops[i].end.seconds());
      }
    }
    for (const int op : of("gradients")) {
      const int stage = result.step.program.ops[op].rank_class;
      if (stage != 0 && stage != 3) continue;
      reduced = std::min(reduced, result.timeline.ops[op].start.seconds());
    }
    return std::vector{passes,
                       reduced,
                       result.timeline.ops[tied[0]].start.seconds(),
                       result.timeline.ops[tied[0]].end.seconds(),
                       result.timeline.ops[tied[1]].start.seconds(),
                       result.timeline.ops[tied[1]].end.seconds()};
  });
  ASSERT_EQ(times.size(), 6u);
  EXPECT_GE(times[2], times[0]);
  EXPECT_EQ(times[2], times[4]);
  const double alone = step.calls[step.program.ops[tied[0]].call.value].alone.seconds();
  EXPECT_NEAR((times[3] - times[2]) / alone, 1.0, 1e-9);
  EXPECT_NEAR(times[3], times[5], 1e-12);
  EXPECT_GE(times[1], times[3]);

  s.model.tied_embeddings = false;
  for (const CallKind& kind : Prepare(s).program.kinds) EXPECT_NE(kind.name, "tied_embedding");
}

TEST(Pipeline, SendsActivationsAndGradientsOfEveryMicroBatchOnce) {
  const Scenario s = Pipeline(4, 8, 1);
  const PreparedStep step = Prepare(s);
  std::map<std::string, int> sends;
  for (const Op& op : step.program.ops) {
    if (op.action != Action::kSend) continue;
    const Call& call = step.program.calls[op.call.value];
    ++sends[step.program.kinds[call.kind].name];
    EXPECT_EQ(call.full, Bytes::Count(2 * s.tokens_per_micro_batch() * s.model.hidden));
    // Four ranks of a node send at once, through its NIC.
    EXPECT_EQ(step.calls[op.call.value].node_egress, 4 * call.full);
  }
  EXPECT_EQ(sends["activations_to_stage"], 3 * 8);
  EXPECT_EQ(sends["gradients_to_stage"], 3 * 8);
}

TEST(Pipeline, FirstStageKeepsTheActivationsOfAsManyMicroBatchesAsStages) {
  Scenario s = Pipeline(4, 8, 1);
  s.training.checkpointing = Checkpointing::kNone;
  const PreparedStep step = Prepare(s);
  std::vector<Bytes> now(4);
  std::vector<Bytes> most(4);
  for (const MemoryEvent& event : step.program.memory) {
    if (event.term != MemoryTerm::kActivations) continue;
    now[event.rank_class] += event.delta;
    most[event.rank_class] = std::max(most[event.rank_class], now[event.rank_class]);
  }
  // Beside what is saved, a layer's working set and gradients live in every stage.
  EXPECT_GT(Ratio(most[0], most[3]), 3.0);
  EXPECT_LE(Ratio(most[0], most[3]), 4.0);
  for (const Bytes left : now) EXPECT_EQ(left, Bytes());
}

TEST(Pipeline, StagesInOneNodeSendOverItsLinks) {
  Scenario s = SmallScenario(2, 4);
  s.zero.stage = 1;
  s.parallel.pipeline = 2;
  s.parallel.order = RankOrder::kTensorPipelineData;
  s.training.gradient_accumulation_steps = 2;
  const PreparedStep step = Prepare(s);
  for (const Op& op : step.program.ops) {
    if (op.action != Action::kSend) continue;
    EXPECT_EQ(step.calls[op.call.value].node_egress, Bytes());
    EXPECT_GT(step.calls[op.call.value].in_node_per_gpu, Bytes());
  }
}

TEST(Pipeline, GoesWithFsdpAndWithTensorParallelism) {
  Scenario s = Pipeline(2, 4, 1);
  s.fsdp.emplace();
  s.parallel.tensor = 2;
  const StepReport report = ReportOf(s);
  EXPECT_GT(report.step, Seconds());
  EXPECT_GT(report.bubble, Seconds());
}

// One stage computes forward and backward passes in turn with another, 1F1B, and waits for what it
// sends: a program of its own, beside those that BuildProgram writes.
StepProgram TwoStages(int micro_batches, Seconds forward, Seconds backward, Bytes full,
                      const ProcessGroup& pipeline) {
  StepProgram program;
  program.rank_classes = {"stage 0", "stage 1"};
  program.kinds = {{"activations", CollectiveOp::kSend, pipeline, "pipeline", 0, 1},
                   {"gradients", CollectiveOp::kSend, pipeline, "pipeline", 1, 0}};
  OpId last[2];
  const auto add = [&](OpKind kind, int stage, std::vector<OpId> deps) {
    Op op;
    op.kind = kind;
    op.stream = kind == OpKind::kKernel ? Stream::kCompute : Stream::kSend;
    op.rank_class = stage;
    std::erase_if(deps, [](OpId dep) { return dep.value < 0; });
    op.deps = std::move(deps);
    program.ops.push_back(std::move(op));
    return OpId{static_cast<int>(program.ops.size()) - 1};
  };
  const auto run = [&](int stage, Seconds time, OpId input) {
    last[stage] = add(OpKind::kKernel, stage, {last[stage], input});
    program.ops.back().time = time;
    return last[stage];
  };
  const auto send = [&](int stage, OpId result) {
    const OpId sent = add(OpKind::kCollective, stage, {result});
    program.calls.push_back({.kind = stage, .full = full, .payload = full, .launches = 1});
    program.ops.back().call = CallId{static_cast<int>(program.calls.size()) - 1};
    return sent;
  };
  OpId input = send(0, run(0, forward, OpId{}));
  for (int m = 0; m < micro_batches; ++m) {
    const bool another = m + 1 < micro_batches;
    const OpId next = another ? send(0, run(0, forward, OpId{})) : OpId{};
    run(1, forward, input);
    const OpId gradient = send(1, run(1, backward, OpId{}));
    run(0, backward, gradient);
    input = next;
  }
  return program;
}

struct SendShape {
  const char* name;
  int nodes;
  int gpus;
  int nics;
  ProcessGroup pipeline;
  double send;  // of 1 MB by each rank, in seconds
};

class TwoStagesTest : public testing::TestWithParam<SendShape> {};

// The first micro-batch goes through both stages. From then on each stage has work for the time of
// two sends, and every second micro-batch waits for them.
TEST_P(TwoStagesTest, TakeTheClosedFormInBothEngines) {
  const SendShape shape = GetParam();
  Scenario s = SmallScenario(shape.nodes, shape.gpus);
  s.cluster.fabric.nics_per_node = shape.nics;
  s.cluster.calibration.collective_launch.value = 0;
  const NetworkModel network = NetworkOf(s.cluster, shape.pipeline);
  for (const int micro_batches : {1, 2, 3, 4, 9}) {
    SCOPED_TRACE(std::to_string(micro_batches) + " micro-batches");
    const double forward = 1e-3;
    const double backward = 2e-3;
    const StepProgram program =
        TwoStages(micro_batches, Seconds::Count(forward), Seconds::Count(backward),
                  Bytes::Count(1'000'000), shape.pipeline);
    const auto calls = LowerAll(program, network, s.algorithm);

    const auto fluid =
        InChild([&] { return std::vector{RunFluid(program, calls, network).end.seconds()}; });
    const auto message = InChild(
        [&] { return std::vector{RunMessages(program, network, s.algorithm).end.seconds()}; });

    const int waits = micro_batches + micro_batches % 2;
    const double expected = (micro_batches + 1) * (forward + backward) + waits * shape.send;
    ASSERT_EQ(fluid.size(), 1u);
    ASSERT_EQ(message.size(), 1u);
    EXPECT_NEAR(fluid[0] / expected, 1.0, 1e-6);
    EXPECT_NEAR(message[0] / expected, 1.0, 1e-6);
  }
}

// 12.5 GB/s and 5 us of a NIC, 100 GB/s and 2 us of a GPU link.
INSTANTIATE_TEST_SUITE_P(
    Shapes, TwoStagesTest,
    testing::Values(SendShape{"four_on_a_nic", 2, 4, 1, {2, 4}, 5e-6 + 4 * 80e-6},
                    SendShape{"two_on_a_nic", 2, 4, 2, {2, 4}, 5e-6 + 2 * 80e-6},
                    SendShape{"a_nic_each", 4, 4, 4, {2, 8}, 5e-6 + 80e-6},
                    SendShape{"in_a_node", 1, 4, 1, {2, 2}, 2e-6 + 10e-6},
                    SendShape{"neighbours", 2, 4, 1, {2, 1}, 2e-6 + 10e-6}),
    [](const testing::TestParamInfo<SendShape>& info) { return std::string(info.param.name); });

// Stages that share a node have what a communicator of theirs would have: the NICs of their GPUs.
TEST(Pipeline, CollectivesOfStagesInOneNodeTakeTheirOwnNics) {
  Scenario s = SmallScenario(2, 4);
  s.cluster.fabric.nics_per_node = 2;
  s.cluster.calibration.collective_launch.value = 0;
  const NetworkModel network = NetworkOf(s.cluster, {2, 2});
  StepProgram program;
  program.rank_classes = {"stage 0", "stage 1"};
  program.kinds = {{"sum", CollectiveOp::kAllGather, {2, 4}, "data", 0, 0}};
  const Bytes full = Bytes::Count(2'000'000);
  for (int stage = 0; stage < 2; ++stage) {
    program.calls.push_back({.kind = 0, .full = full, .payload = full, .launches = 1});
    Op op;
    op.kind = OpKind::kCollective;
    op.stream = Stream::kGather;
    op.rank_class = stage;
    op.call = CallId{stage};
    program.ops.push_back(op);
  }
  const auto calls = LowerAll(program, network, s.algorithm);

  const auto fluid =
      InChild([&] { return std::vector{RunFluid(program, calls, network).end.seconds()}; });
  const auto message = InChild(
      [&] { return std::vector{RunMessages(program, network, s.algorithm).end.seconds()}; });

  // Two pairs of each stage share its NIC; the other stage's are on the other one.
  const double expected = 5e-6 + 2 * 80e-6;
  ASSERT_EQ(fluid.size(), 1u);
  ASSERT_EQ(message.size(), 1u);
  EXPECT_NEAR(fluid[0] / expected, 1.0, 1e-6);
  EXPECT_NEAR(message[0] / expected, 1.0, 1e-6);
}

// Four stages in every node, and context-parallel groups that leave it: they share the node's NICs
// with the other stages' reductions.
TEST(Pipeline, CollectivesThatLeaveTheNodeMeetThoseOfOtherStages) {
  Scenario s = SmallScenario(4, 4);
  s.cluster.fabric.nics_per_node = 2;
  s.zero.stage = 1;
  s.model.layers = 8;
  s.parallel.order = RankOrder::kTensorPipelineData;
  s.parallel.pipeline = 4;
  s.parallel.context = 2;
  const auto step = [&](Engine engine) {
    const auto seconds =
        InChild([&] { return std::vector{Simulate(s, engine).report.step.seconds()}; });
    return seconds.empty() ? 0 : seconds[0];
  };
  EXPECT_NEAR(step(Engine::kFluid) / step(Engine::kMessage), 1.0, 0.002);

  // A pass of a stage that has its nodes for itself stays one operation.
  const auto passes = [](const Scenario& scenario) {
    int kernels = 0;
    for (const Op& op : Prepare(scenario).program.ops) kernels += op.inline_calls.empty() ? 0 : 1;
    return kernels;
  };
  EXPECT_EQ(passes(s), 0);
  s.parallel.order = RankOrder::kTensorDataPipeline;
  EXPECT_EQ(passes(s), 2 * 4);
}

TEST(Pipeline, MessagesOfEveryStageCount) {
  const ProcessGroup pipeline{2, 4};
  StepProgram program =
      TwoStages(1, Seconds::Millis(1), Seconds::Millis(1), Bytes::Count(8), pipeline);
  // Four sums of pairs, inside of a kernel: two messages a rank each.
  program.kinds.push_back({"sum", CollectiveOp::kAllReduce, {2, 1}, "tensor", 0, 0});
  program.calls.push_back({.kind = 2, .full = Bytes::Count(8), .payload = Bytes::Count(8)});
  program.ops[0].inline_calls = {{CallId{2}, 4}};
  const NetworkModel network = NetworkOf(SmallScenario(2, 4).cluster, pipeline);
  const auto sent = InChild([&] {
    const Timeline t = RunMessages(program, network, CollectiveAlgorithm::kRing);
    return std::vector{static_cast<double>(t.activities)};
  });
  // Of four ranks: two sends, 4 kernels of which one is in 4 parts, 4 x 2 messages.
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0], 4 * (2 + 3 + 4 + 8));

  program.ops[0].inline_calls[0].count = 10'000'000;
  try {
    RunMessages(program, network, CollectiveAlgorithm::kRing);
    FAIL() << "no limit was reported";
  } catch (const EngineLimit& e) {
    EXPECT_STREQ(e.what(),
                 "the message engine would send 8e+07 messages, more than its limit of 1e+07; use "
                 "the fluid engine, or a smaller cluster or model");
  }
}

}  // namespace
}  // namespace zerosim
