#include "tests/sim/comm_volume_table.h"

#include <cmath>
#include <cstdint>
#include <string>

#include <gtest/gtest.h>

#include "models/program/build_program.h"
#include "sim/lowering.h"
#include "tests/sim/scenarios.h"

namespace zerosim {
namespace {

bool Contains(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

// A model of that many parameters in 8 matrices that divide by twice the world, so that nothing
// falls back, and one small vector for the rest.
ModelLayout FlatModel(std::int64_t parameters, int world) {
  ModelLayout layout;
  const std::int64_t columns = 2 * world;
  const std::int64_t rows = parameters / 8 / columns;
  for (int i = 0; i < 8; ++i) {
    layout.weights.push_back({"matrix", rows, columns});
    layout.modules.push_back({Part::kQkv, i, {i}});
  }
  layout.weights.push_back({"rest", parameters - 8 * rows * columns, 0});
  layout.modules.back().weights.push_back(8);
  return layout;
}

Scenario ScenarioOf(const VolumeRow& row) {
  Scenario s = SmallScenario(row.nodes, row.gpus);
  const std::string system = row.system;
  s.training.gradient_accumulation_steps = row.micro_steps;
  s.training.checkpointing = Checkpointing::kNone;
  // Every weight is gathered once forward and once backward.
  s.zero.prefetch_bucket_size = 0;
  s.zero.max_reuse_distance = 0;
  s.zero.stage = system.rfind("stage ", 0) == 0 ? system[6] - '0' : 3;
  if (Contains(system, "paper")) s.zero.gradient_collective = GradientCollective::kReduceScatter;
  const bool all = Contains(system, "ZeRO++");
  const QuantizationFormat int8{.bits = 8, .group_size = 6144, .symmetric = true};
  const QuantizationFormat int4{.bits = 4, .group_size = 6144, .symmetric = true};
  if (all || Contains(system, "qwZ")) s.zero.quantized_weights = int8;
  if (all || Contains(system, "hpZ")) s.zero.secondary_partition_size = row.gpus;
  if (all || Contains(system, "qgZ")) {
    s.zero.quantized_gradients =
        GradientQuantization{.in_node = int4, .between_nodes = int4, .two_hops = true};
  }
  if (Contains(system, "2023-06")) s.zero.secondary_rule = SecondaryRule::kOncePerMicroStep;
  return s;
}

class CommVolumeTest : public testing::TestWithParam<VolumeRow> {};

TEST_P(CommVolumeTest, IsWhatTheAlgorithmsSendOnPaper) {
  const VolumeRow row = GetParam();
  const Scenario s = ScenarioOf(row);
  const auto parameters = static_cast<std::int64_t>(std::llround(row.billions * 1e9));

  const StepProgram program = BuildProgram(s, FlatModel(parameters, s.world_size()));
  Bytes node_out;
  Bytes in_node;
  for (const LoweredCall& call : LowerAll(program, NetworkOf(s.cluster), s.algorithm)) {
    node_out += call.node_egress;
    in_node += call.in_node_per_gpu;
  }

  // The rounding of the table, and as much again for rows of its own intermediate rounding.
  EXPECT_NEAR(node_out.gigabytes(), row.node_out_GB, 0.0051);
  EXPECT_NEAR(node_out.gigabytes() / (2 * row.billions), row.node_out_over_M, 0.00051);
  EXPECT_NEAR(in_node.gigabytes(), row.in_node_sent_per_gpu_GB, 0.0051);
}

std::string NameOfRow(const testing::TestParamInfo<VolumeRow>& info) {
  std::string name = std::to_string(info.param.nodes) + "x" + std::to_string(info.param.gpus) +
                     "_" + std::to_string(static_cast<int>(info.param.billions)) + "B_k" +
                     std::to_string(info.param.micro_steps) + "_";
  for (const char* c = info.param.system; *c != '\0'; ++c) {
    if (std::isalnum(static_cast<unsigned char>(*c)) != 0) name += *c;
    if (*c == '+') name += 'p';
  }
  return name;
}

INSTANTIATE_TEST_SUITE_P(Rows, CommVolumeTest, testing::ValuesIn(kVolumeRows), NameOfRow);

}  // namespace
}  // namespace zerosim
