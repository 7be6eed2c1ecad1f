// SDP4Bit in stages 1 and 2: bytes, kernels and buffers counted on paper.
#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "models/compute/compute.h"
#include "models/memory/memory.h"
#include "models/program/build_program.h"
#include "tests/sim/scenarios.h"

namespace zerosim {
namespace {

// 3 x 4 GPUs. A parameter's difference travels in 4 bits, 2048 of them share an fp32 scale.
Scenario Sdp4Bit(int stage) {
  Scenario s = SmallScenario(3, 4);
  s.zero.stage = stage;
  s.zero.weight_differences = QuantizationFormat{.bits = 4, .group_size = 2048, .symmetric = true};
  return s;
}

void QuantizeGradients(Scenario* s) {
  s->zero.quantized_gradients = GradientQuantization{};
  s->zero.quantized_gradients->in_node = {.bits = 8, .group_size = 128, .symmetric = true};
  s->zero.quantized_gradients->between_nodes = {.bits = 4, .group_size = 128, .symmetric = true};
}

StepProgram Build(const Scenario& s) {
  return BuildProgram(s, Layout(s.model));
}

std::vector<Call> CallsOf(const StepProgram& program, const std::string& name) {
  std::vector<Call> calls;
  for (const Call& call : program.calls) {
    if (program.kinds[call.kind].name == name) calls.push_back(call);
  }
  return calls;
}

Bytes FullBytes(const StepProgram& program, const std::string& name) {
  Bytes sum;
  for (const Call& call : CallsOf(program, name)) sum += call.full;
  return sum;
}

TEST(WeightDifferences, TravelInHalfAByteAndAScaleAGroup) {
  for (const int stage : {1, 2}) {
    const Scenario s = Sdp4Bit(stage);
    const std::int64_t parameters = Layout(s.model).parameters();
    const std::int64_t shard = CeilDiv(parameters, std::int64_t{12});

    const StepProgram program = Build(s);

    const std::vector<Call> refresh = CallsOf(program, "parameters_refresh");
    ASSERT_EQ(refresh.size(), 1u);
    EXPECT_EQ(refresh[0].full.count(),
              12 * (CeilDiv(shard, std::int64_t{2}) + 4 * CeilDiv(shard, std::int64_t{2048})));
    EXPECT_EQ(refresh[0].payload.count(), 2 * parameters);
    EXPECT_EQ(refresh[0].launches, 2);  // values and scales
  }
}

// 1000 GB/s: a shard's fp32 weights and 16-bit copies are read and 4 bits written, then all copies
// read and written.
TEST(WeightDifferences, TakeAKernelBeforeTheGatherAndOneAfterIt) {
  const Scenario s = Sdp4Bit(1);
  const auto parameters = static_cast<double>(Layout(s.model).parameters());

  const StepProgram program = Build(s);

  const auto gather = std::ranges::find_if(program.ops, [](const Op& op) {
    return op.kind == OpKind::kCollective && op.action == Action::kRefresh;
  });
  ASSERT_NE(gather, program.ops.end());
  const Op& add = *std::find_if(gather, program.ops.end(),
                                [](const Op& op) { return op.action == Action::kDequantize; });
  EXPECT_NEAR(gather->time.seconds(), parameters / 12 * 6.5 / 1e12, 1e-9);
  EXPECT_NEAR(add.time.seconds(), parameters * 4.5 / 1e12, 1e-9);
  EXPECT_EQ(add.deps.back().value, static_cast<int>(gather - program.ops.begin()));
}

TEST(WeightDifferences, AreBufferedOnlyDuringTheRefreshAndNeedNoOtherCopy) {
  const Scenario s = Sdp4Bit(1);
  Scenario plain = s;
  plain.zero.weight_differences.reset();

  const StepProgram program = Build(s);

  Bytes buffers;
  Bytes most;
  for (const MemoryEvent& event : program.memory) {
    if (event.term != MemoryTerm::kBuffers) continue;
    buffers += event.delta;
    most = std::max(most, buffers);
  }
  EXPECT_EQ(buffers, Bytes());
  EXPECT_EQ(most, FullBytes(program, "parameters_refresh"));
  const ModelLayout layout = Layout(s.model);
  EXPECT_EQ(StaticMemoryOf(s, layout).allocated(), StaticMemoryOf(plain, layout).allocated());
}

TEST(WeightDifferences, ChangeNothingInOtherStages) {
  for (const int stage : {0, 3}) {
    Scenario s = Sdp4Bit(stage);
    const std::size_t with = Build(s).ops.size();
    const Bytes bytes = FullBytes(Build(s), "parameters_refresh");
    s.zero.weight_differences.reset();
    EXPECT_EQ(with, Build(s).ops.size());
    EXPECT_EQ(bytes, FullBytes(Build(s), "parameters_refresh"));
  }
}

// Two-level gradients: a byte a value in the node, half a byte of a quarter of them across, each
// with a scale for 128.
TEST(WeightDifferences, LetGradientsOfStages1And2GoThroughTwoHops) {
  for (const int stage : {1, 2}) {
    Scenario s = Sdp4Bit(stage);
    QuantizeGradients(&s);
    const auto parameters = static_cast<double>(Layout(s.model).parameters());

    const StepProgram program = Build(s);

    EXPECT_TRUE(CallsOf(program, "gradients").empty());
    const auto in_node = static_cast<double>(FullBytes(program, "gradients_in_node").count());
    const auto across = static_cast<double>(FullBytes(program, "gradients_across_nodes").count());
    EXPECT_NEAR(in_node / (parameters * (1 + 4.0 / 128)), 1, 1e-4);
    EXPECT_NEAR(across / (parameters / 4 * (0.5 + 4.0 / 128)), 1, 1e-4);
  }
}

TEST(WeightDifferences, AloneLetGradientsBeAsTheyAre) {
  Scenario s = Sdp4Bit(2);
  s.zero.weight_differences.reset();
  const Bytes plain = FullBytes(Build(s), "gradients");
  QuantizeGradients(&s);

  EXPECT_EQ(FullBytes(Build(s), "gradients"), plain);  // as in DeepSpeed
  EXPECT_TRUE(CallsOf(Build(s), "gradients_in_node").empty());
}

}  // namespace
}  // namespace zerosim
