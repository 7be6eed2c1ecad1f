#include "tests/validation/published.h"

#include <cstdio>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "models/scenario/read_scenario.h"
#include "sim/simulate.h"
#include "tests/sim/child.h"

namespace zerosim {
namespace {

const char kScenarios[] = ZEROSIM_SOURCE_DIR "/scenarios";

StepReport ReportOf(const std::string& scenario, const std::vector<Override>& set = {}) {
  const ReadResult read =
      ReadScenario(std::string(kScenarios) + "/" + scenario + ".yaml", set, Catalog{{kScenarios}});
  return Simulate(read.scenario, Engine::kFluid).report;
}

void ExpectNear(const char* what, double predicted, double published, double tolerance) {
  std::printf("  %-28s predicted %10.4f  published %10.4f  error %+5.1f %%\n", what, predicted,
              published, 100 * (predicted / published - 1));
  EXPECT_NEAR(predicted / published, 1.0, tolerance) << what;
}

double MiB(Bytes bytes) {
  return static_cast<double>(bytes.count()) / (1 << 20);
}

class TutorialTest : public testing::TestWithParam<TutorialLog> {};

TEST_P(TutorialTest, TimesAreWithinFivePercentAndMemoryWithinThree) {
  const TutorialLog log = GetParam();

  const StepReport report = ReportOf(log.scenario);

  std::printf("%s\n", log.scenario);
  ExpectNear("iteration, s", report.step.seconds(), log.step_s, kTimeTolerance);
  ExpectNear("forward, s", report.forward.seconds(), log.forward_s, kTimeTolerance);
  ExpectNear("backward, s", report.backward.seconds(), log.backward_s, kTimeTolerance);
  ExpectNear("TFLOP/s a GPU, four passes", report.hardware_tflops_per_gpu,
             log.hardware_tflops_per_gpu, kTimeTolerance);
  ExpectNear("peak allocated, MiB", MiB(report.memory.peak - report.memory.terms.context),
             log.peak_MiB, kMemoryTolerance);
  ExpectNear("allocated after step, MiB", MiB(report.memory.after_step), log.after_step_MiB,
             kMemoryTolerance);
}

INSTANTIATE_TEST_SUITE_P(Logs, TutorialTest, testing::ValuesIn(kTutorialLogs),
                         [](const testing::TestParamInfo<TutorialLog>& info) {
                           return std::string(info.param.scenario);
                         });

double HardwareTflops(const std::string& scenario, const std::vector<Override>& set = {}) {
  const std::vector<double> values =
      InChild([&] { return std::vector{ReportOf(scenario, set).hardware_tflops_per_gpu}; });
  return values.empty() ? 0 : values[0];
}

TEST(HeadlineTest, OneLinkIsWithinFivePercentAndSoIsTheRatio) {
  const double zero3 = HardwareTflops(kHeadlineZero3.scenario);
  const double zeropp = HardwareTflops(kHeadlineZeroPp.scenario);

  ExpectNear("ZeRO-3, TFLOP/s a GPU", zero3, kHeadlineZero3.hardware_tflops_per_gpu,
             kTimeTolerance);
  ExpectNear("ZeRO++, TFLOP/s a GPU", zeropp, kHeadlineZeroPp.hardware_tflops_per_gpu,
             kTimeTolerance);
  ExpectNear("ratio", zeropp / zero3, 2.16, kTimeTolerance);
}

// Beyond one link the calibration extrapolates. The point estimate is too fast (README, "What is
// not known"); the interval must say so, and hold the measurement.
void ExpectInside(const HeadlinePoint& point) {
  const std::vector<double> values = InChild([&] {
    const StepReport r = ReportOf(point.scenario, {{"cluster.fabric.nics_per_node", "4"}});
    return std::vector{r.hardware_tflops_per_gpu, r.step.seconds(), r.step_low.seconds(),
                       r.step_high.seconds()};
  });
  ASSERT_EQ(values.size(), 4u);
  const double published_s = values[0] * values[1] / point.hardware_tflops_per_gpu;
  std::printf("  %s, four links: predicted %.2f TFLOP/s, published %.2f; %.2f s in [%.2f, %.2f]\n",
              point.scenario, values[0], point.hardware_tflops_per_gpu, published_s, values[2],
              values[3]);
  EXPECT_GE(published_s, values[2]);
  EXPECT_LE(published_s, values[3]);
}

TEST(HeadlineTest, FourLinksLieInTheIntervalOfTheExtrapolation) {
  ExpectInside(kFourLinksZero3);
  ExpectInside(kFourLinksZeroPp);
}

double TokensPerSecond(const std::string& scenario, const std::vector<Override>& set) {
  const std::vector<double> values =
      InChild([&] { return std::vector{ReportOf(scenario, set).tokens_per_s}; });
  return values.empty() ? 0 : values[0];
}

// jingchaozhang.github.io, FSDP of Qwen2.5-7B on two nodes of 8 H100: 131,018 tokens/s, and 53,995
// with both throttled ("Dense vs MoE"). How far they were throttled was not published, and the
// issue's 40 % nearly is the ratio: this shows that a step bound by compute slows as its GPUs do,
// and no more. No run with two of 65 throttled is known.
TEST(ExceptionsTest, ThrottledNodesSlowAStepAboutAsMeasured) {
  const double measured = 53'995.0 / 131'018.0;
  const auto slowed = [&](const char* nodes) {
    const Override of_nodes{"cluster.nodes", nodes};
    const Override exceptions{"cluster.exceptions", "[{count: 2, compute_speed: 0.4}]"};
    return TokensPerSecond("qwen2.5_7b_fsdp_8xh100", {of_nodes, exceptions}) /
           TokensPerSecond("qwen2.5_7b_fsdp_8xh100", {of_nodes});
  };
  ExpectNear("throttled, of 2 nodes 2", slowed("2"), measured, 0.10);
  // As 2 of 65 would: every rank waits for theirs.
  ExpectNear("throttled, of 65 nodes 2", slowed("65"), measured, 0.15);
}

// The same, "IB vs Ethernet": on TCP sockets, which carry about 3.2 GB/s a node, steps took 26 to
// 57 times as long as on 8 x NDR, on 2, 4 and 8 nodes.
TEST(TransportTest, AStepOnTcpSocketsFallsAsMeasured) {
  for (const char* nodes : {"2", "4", "8"}) {
    const Override of_nodes{"cluster.nodes", nodes};
    const double infiniband = TokensPerSecond("qwen2.5_7b_fsdp_8xh100", {of_nodes});
    const double tcp =
        TokensPerSecond("qwen2.5_7b_fsdp_8xh100", {of_nodes,
                                                   {"cluster.fabric.nics_per_node", "1"},
                                                   {"cluster.fabric.nic_bandwidth", "3.2 GB/s"}});
    std::printf("  %s nodes: %.0f tokens/s, on TCP %.0f, %.1f times\n", nodes, infiniband, tcp,
                infiniband / tcp);
    EXPECT_GE(infiniband / tcp, 26);
    EXPECT_LE(infiniband / tcp, 57);
  }
}

}  // namespace
}  // namespace zerosim
