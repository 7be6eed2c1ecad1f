// SDP4Bit through both engines, and what a report says of it.
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "models/quantization/quantization.h"
#include "sim/simulate.h"
#include "tests/sim/child.h"
#include "tests/sim/scenarios.h"

namespace zerosim {
namespace {

Scenario Sdp4Bit(int stage) {
  Scenario s = SmallScenario(3, 4);
  s.zero.stage = stage;
  s.zero.weight_differences = QuantizationFormat{.bits = 4, .group_size = 2048, .symmetric = true};
  GradientQuantization& gradients = s.zero.quantized_gradients.emplace();
  gradients.in_node = {.bits = 8, .group_size = 128, .symmetric = true};
  gradients.between_nodes = {.bits = 4, .group_size = 128, .symmetric = true};
  return s;
}

std::vector<double> NumbersOf(const Scenario& s, Engine engine) {
  return InChild([&] {
    const StepReport r = Simulate(s, engine).report;
    return std::vector{r.step.seconds(),
                       r.node_egress_over_model,
                       static_cast<double>(r.weights_forward.events),
                       static_cast<double>(r.weights_forward.of_difference),
                       static_cast<double>(r.gradients.events),
                       static_cast<double>(r.gradients.bits),
                       r.gradients.relative_error};
  });
}

TEST(Sdp4Bit, IsTheSameInBothEngines) {
  for (const int stage : {1, 2}) {
    const std::vector<double> fluid = NumbersOf(Sdp4Bit(stage), Engine::kFluid);
    const std::vector<double> message = NumbersOf(Sdp4Bit(stage), Engine::kMessage);
    ASSERT_EQ(fluid.size(), 7u);
    ASSERT_EQ(message.size(), 7u);
    EXPECT_NEAR(fluid[0] / message[0], 1, 0.01) << stage;
  }
}

// Out of one of 3 nodes, in M of 2 bytes a parameter. The ring of 12 refreshes with 11/12 of half a
// byte and a scale for 2048; each of 4 GPUs sends 2/3 of its quarter of the gradients, in half a
// byte and a scale for 128.
TEST(Sdp4Bit, SendsAQuarterOfWhatPlainRefreshAndReduceScatterSend) {
  const std::vector<double> values = NumbersOf(Sdp4Bit(1), Engine::kFluid);

  ASSERT_EQ(values.size(), 7u);
  const double refresh = 11.0 / 12 * (0.5 + 4.0 / 2048) / 2;
  const double gradients = 2.0 / 3 * (0.5 + 4.0 / 128) / 2;
  EXPECT_NEAR(values[1] / (refresh + gradients), 1, 1e-3);
}

TEST(Sdp4Bit, CountsOneEventOfADifferenceAndTwoOfAGradient) {
  const std::vector<double> values = NumbersOf(Sdp4Bit(2), Engine::kFluid);

  ASSERT_EQ(values.size(), 7u);
  EXPECT_EQ(values[2], 1);
  EXPECT_EQ(values[3], 1);
  EXPECT_EQ(values[4], 2);
  EXPECT_EQ(values[5], 4);
  const GradientQuantization formats = *Sdp4Bit(2).zero.quantized_gradients;
  EXPECT_NEAR(values[6],
              std::sqrt(RelativeSquaredError(formats.in_node, 128) +
                        RelativeSquaredError(formats.between_nodes, 128)),
              1e-9);
}

}  // namespace
}  // namespace zerosim
