// Reports of a timeline made by hand, every number of which is counted on paper, and sums that hold
// in any report.
#include "sim/report.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "models/memory/memory.h"
#include "sim/fluid_engine.h"
#include "tests/sim/child.h"
#include "tests/sim/random_scenario.h"

namespace zerosim {
namespace {

constexpr double kTolerance = 1e-9;

Interval Millis(double start, double end) {
  return {Seconds::Millis(start), Seconds::Millis(end)};
}

// 3 x 4 GPUs of 100 TFLOP/s with a NIC of 12.5 GB/s a node. In a step of 10 ms:
//   forward    compute 0-2, gathers 12 MB 1-3
//   backward   computes 3-6, all-reduces 6 MB 5-8
//   optimizer  8-10
class ReportTest : public testing::Test {
 protected:
  ReportTest() : scenario_(SmallScenario(3, 4)) {
    step_.layout = Layout(scenario_.model);
    step_.parameters = step_.layout.parameters();
    step_.network = NetworkOf(scenario_.cluster);
    StepProgram& program = step_.program;
    program.rank_classes = {"all ranks"};
    program.kinds = {{"weights_forward", CollectiveOp::kAllGather, {12, 1}, "world"},
                     {"gradients", CollectiveOp::kAllReduce, {12, 1}, "world"}};
    program.calls = {{0, Bytes::Count(12'000'000), Bytes::Count(24'000'000), 2},
                     {1, Bytes::Count(6'000'000), Bytes::Count(6'000'000), 1}};
    Add(Phase::kForward, Stream::kCompute, -1, Millis(0, 2));
    Add(Phase::kForward, Stream::kGather, 0, Millis(1, 3));
    Add(Phase::kBackward, Stream::kCompute, -1, Millis(3, 6));
    Add(Phase::kBackward, Stream::kReduce, 1, Millis(5, 8));
    Add(Phase::kOptimizer, Stream::kCompute, -1, Millis(8, 10));
    timeline_.end = Seconds::Millis(10);
    // Each moves 11 MB through the NIC: 0.88 ms of its time.
    timeline_.flows = {{OpId{1}, 0, Millis(2.12, 3)}, {OpId{3}, 0, Millis(6, 8)}};
    step_.calls = LowerAll(program, step_.network, scenario_.algorithm);
    step_.memory = WalkMemory(program, StaticMemoryOf(scenario_, step_.layout));
  }

  StepReport Report() const { return MakeReport(scenario_, step_, timeline_); }

  Scenario scenario_;
  PreparedStep step_;
  Timeline timeline_;

 private:
  // Follows the operation before it.
  void Add(Phase phase, Stream stream, int call, Interval when) {
    Op op;
    op.kind = call < 0 ? OpKind::kKernel : OpKind::kCollective;
    op.stream = stream;
    op.phase = phase;
    op.action = phase == Phase::kForward ? Action::kForward : Action::kBackward;
    op.call = CallId{call};
    if (call < 0) op.time = when.end - when.start;
    if (!step_.program.ops.empty()) {
      op.deps = {OpId{static_cast<int>(step_.program.ops.size()) - 1}};
    }
    step_.program.ops.push_back(op);
    timeline_.ops.push_back(when);
  }
};

TEST_F(ReportTest, PhasesFollowEachOther) {
  const StepReport report = Report();

  EXPECT_NEAR(report.forward.milliseconds(), 3, kTolerance);
  EXPECT_NEAR(report.backward.milliseconds(), 5, kTolerance);
  EXPECT_NEAR(report.optimizer.milliseconds(), 2, kTolerance);
  EXPECT_NEAR(report.compute.milliseconds(), 7, kTolerance);
  // 1-3 and 5-8, of which 2-3 and 6-8 beside no compute.
  EXPECT_NEAR(report.communication.milliseconds(), 5, kTolerance);
  EXPECT_NEAR(report.exposed_communication.milliseconds(), 3, kTolerance);
}

// Gathers 1-3 lie beside compute 0-2 and reductions 5-8 beside 3-6: 1 + 1 ms in which both run.
TEST_F(ReportTest, KernelsLoseTheirShareOfTheTimeBesideCollectives) {
  EXPECT_EQ(Report().kernel_slowdown, Seconds());

  step_.network.collective_share = 0.25;
  step_.calls[0].launch = step_.calls[1].launch = Seconds();
  EXPECT_NEAR(Report().kernel_slowdown.milliseconds(), 0.25 * 2, kTolerance);

  // Its kernel enters the GPU 0.4 ms after it was launched.
  step_.program.ops[1].time = Seconds::Millis(0.25);
  step_.calls[0].launch = Seconds::Millis(0.15);
  EXPECT_NEAR(Report().kernel_slowdown.milliseconds(), 0.25 * 1.6, kTolerance);

  // Copies to and from the host have no kernel.
  step_.program.kinds[1].op = CollectiveOp::kCopyToHost;
  EXPECT_NEAR(Report().kernel_slowdown.milliseconds(), 0.25 * 0.6, kTolerance);
}

// One kernel of 10 ms beside one collective of t: it ends at 10 ms + share * t, and the
// report says share * t.
TEST(KernelSlowdown, IsWhatAKernelBesideACollectiveTookLonger) {
  Scenario s = SmallScenario(3, 4);
  s.cluster.calibration.collective_launch.value = 0.0002;
  s.cluster.node.gpu.collective_share = 0.25;
  PreparedStep step = Prepare(s);
  step.network = NetworkOf(s.cluster);
  step.program = {};
  step.program.rank_classes = {"all ranks"};
  step.program.kinds = {{"weights_forward", CollectiveOp::kAllGather, {12, 1}, "world"}};
  step.program.calls = {{0, Bytes::Count(12'000'000), Bytes::Count(12'000'000), 1}};
  Op kernel;
  kernel.kind = OpKind::kKernel;
  kernel.stream = Stream::kCompute;
  kernel.time = Seconds::Millis(10);
  Op gather;
  gather.kind = OpKind::kCollective;
  gather.stream = Stream::kGather;
  gather.call = CallId{0};
  step.program.ops = {kernel, gather};
  step.calls = LowerAll(step.program, step.network, s.algorithm);
  step.memory = WalkMemory(step.program, StaticMemoryOf(s, step.layout));
  const double transfer = (step.calls[0].alone - step.calls[0].launch).seconds();

  const std::vector<double> values = InChild([&] {
    const Timeline timeline = RunFluid(step.program, step.calls, step.network);
    return std::vector{timeline.ops[0].end.seconds(),
                       MakeReport(s, step, timeline).kernel_slowdown.seconds()};
  });

  ASSERT_EQ(values.size(), 2u);
  EXPECT_NEAR(values[0], 0.01 + 0.25 * transfer, 1e-9);
  EXPECT_NEAR(values[1], 0.25 * transfer, 1e-9);
}

TEST_F(ReportTest, BandwidthsAreThoseOfNcclTests) {
  const StepReport report = Report();

  ASSERT_EQ(report.collectives.size(), 2u);
  const CollectiveReport& gather = report.collectives[0];
  EXPECT_EQ(gather.name, "weights_forward");
  EXPECT_EQ(gather.op, "all_gather");
  EXPECT_EQ(gather.group, "world");
  EXPECT_EQ(gather.group_size, 12);
  EXPECT_EQ(gather.algorithm, "ring");
  EXPECT_EQ(gather.calls, 2);
  EXPECT_EQ(gather.wire, Bytes::Count(12'000'000));
  EXPECT_EQ(gather.payload, Bytes::Count(24'000'000));
  EXPECT_EQ(gather.node_egress, Bytes::Count(11'000'000));
  EXPECT_NEAR(gather.time.milliseconds(), 2, kTolerance);
  EXPECT_NEAR(gather.exposed.milliseconds(), 1, kTolerance);
  // 12 MB in 2 ms; busbw is (n-1)/n of it. A full NIC of 12.5 GB/s is the bound of busbw.
  EXPECT_NEAR(gather.algbw.gigabytes_per_second(), 6, kTolerance);
  EXPECT_NEAR(gather.busbw.gigabytes_per_second(), 6 * 11.0 / 12, kTolerance);
  EXPECT_NEAR(gather.bound.gigabytes_per_second(), 12.5, kTolerance);
  EXPECT_EQ(gather.bottleneck, "nic");

  const CollectiveReport& reduce = report.collectives[1];
  EXPECT_EQ(reduce.op, "all_reduce");
  EXPECT_NEAR(reduce.exposed.milliseconds(), 2, kTolerance);
  // 6 MB in 3 ms; twice (n-1)/n.
  EXPECT_NEAR(reduce.algbw.gigabytes_per_second(), 2, kTolerance);
  EXPECT_NEAR(reduce.busbw.gigabytes_per_second(), 4 * 11.0 / 12, kTolerance);
  EXPECT_NEAR(reduce.bound.gigabytes_per_second(), 12.5, kTolerance);

  EXPECT_EQ(report.node_egress, Bytes::Count(22'000'000));
  EXPECT_EQ(report.model, Bytes::Count(2 * report.parameters));
  EXPECT_NEAR(report.node_egress_over_model, 22e6 / static_cast<double>(report.model.count()),
              kTolerance);
}

TEST_F(ReportTest, ACollectiveOfFewBytesIsLimitedByLatency) {
  step_.program.calls[0].full = step_.program.calls[0].payload = Bytes::Count(1200);
  step_.calls = LowerAll(step_.program, step_.network, scenario_.algorithm);

  EXPECT_EQ(Report().collectives[0].bottleneck, "latency");
}

TEST_F(ReportTest, LeavesOutCollectivesOfOneRank) {
  step_.program.kinds[0].group = {1, 1};
  timeline_.flows.erase(timeline_.flows.begin());
  step_.calls = LowerAll(step_.program, step_.network, scenario_.algorithm);

  const StepReport report = Report();

  ASSERT_EQ(report.collectives.size(), 1u);
  EXPECT_EQ(report.collectives[0].name, "gradients");
  // Of 5-8 alone, of which 6-8 beside no compute.
  EXPECT_NEAR(report.communication.milliseconds(), 3, kTolerance);
  EXPECT_NEAR(report.exposed_communication.milliseconds(), 2, kTolerance);
}

TEST_F(ReportTest, TimesHaveNoDustOfRounding) {
  // The gather is all lead, and lies in compute; each by 1e-17 s not quite.
  step_.program.ops[1].time = Seconds::Millis(2) + Seconds::Count(1e-17);
  timeline_.ops[1] = {Seconds::Millis(4), Seconds::Millis(6) + Seconds::Count(1e-17)};

  const CollectiveReport gather = Report().collectives[0];

  EXPECT_EQ(gather.time, Seconds());
  EXPECT_EQ(gather.exposed, Seconds());
  EXPECT_EQ(gather.algbw, BytesPerSecond());
}

TEST_F(ReportTest, ThroughputIsOfTheModelsFlops) {
  const StepReport report = Report();

  // 72 B s l h^2 (1 + s/6h + V/12lh) (arXiv 2205.05198, equation 7) in 10 ms; full checkpointing
  // runs 96 B s l h^2 (1 + s/6h + V/16lh) (arXiv 2104.04473, equation 3).
  const double h = 1024;
  const double dense = 512 * 4 * h * h;
  const double model = 72 * dense * (1 + 512 / (6 * h) + 32000 / (12 * 4 * h));
  const double hardware = 96 * dense * (1 + 512 / (6 * h) + 32000 / (16 * 4 * h));
  EXPECT_NEAR(report.tflops_per_gpu / (model / 0.01 * 1e-12), 1, kTolerance);
  EXPECT_NEAR(report.hardware_tflops_per_gpu / (hardware / 0.01 * 1e-12), 1, kTolerance);
  EXPECT_NEAR(report.mfu / (model / 0.01 / 100e12), 1, kTolerance);
  EXPECT_NEAR(report.samples_per_s, 12 / 0.01, 1e-6);
  EXPECT_NEAR(report.tokens_per_s, 12 * 512 / 0.01, 1e-3);
  EXPECT_NEAR(report.tokens_per_s_per_gpu, 512 / 0.01, 1e-3);
}

TEST_F(ReportTest, NamesWhatTheHostLaunchesAtThePeak) {
  step_.program.ops[3].kind = OpKind::kHost;
  step_.program.ops[4].action = Action::kOptimizer;
  step_.memory.peak_op = OpId{0};
  step_.memory.peak_next = OpId{3};
  EXPECT_EQ(Report().memory.peak_at, "optimizer, 0.002 s") << "not the host's own operation";

  step_.memory.peak_next = OpId{2};
  EXPECT_EQ(Report().memory.peak_at, "backward embedding, 0.002 s");
}

TEST_F(ReportTest, UtilizationIsBytesOverWhatALinkCouldCarry) {
  const StepReport report = Report();

  ASSERT_FALSE(report.bottlenecks.empty());
  EXPECT_EQ(report.bottlenecks[0].link, "gpu compute");
  EXPECT_NEAR(report.bottlenecks[0].utilization, 0.7, kTolerance);
  for (const Bottleneck& link : report.bottlenecks) {
    if (link.link != "nic") continue;
    // 0.88 ms full, and 0.88 ms of work spread over 2 ms.
    EXPECT_NEAR(link.utilization, 2 * 0.088, kTolerance);
    EXPECT_NEAR(link.share_of_step, 0.088, kTolerance);
    return;
  }
  ADD_FAILURE() << "no NIC among the bottlenecks";
}

// Leaves one parameter uncertain.
void MakeCertain(Calibration* c) {
  for (Parameter* p :
       {&c->nic_fraction, &c->gpu_link_fraction, &c->nic_step_latency, &c->gpu_step_latency,
        &c->collective_launch, &c->all_to_all_fraction, &c->gemm_fraction, &c->memory_fraction,
        &c->kernel_launch, &c->host_hook, &c->host_launch, &c->optimizer_fixed}) {
    p->low = p->high = p->value;
  }
}

TEST_F(ReportTest, IntervalIsThatOfThePartsOfTheCriticalPath) {
  Calibration& c = scenario_.cluster.calibration;
  MakeCertain(&c);
  EXPECT_EQ(Report().step_low, Seconds::Millis(10));
  EXPECT_EQ(Report().step_high, Seconds::Millis(10));

  // All 7 ms of compute are on the path; at 0.64 in place of 0.8 they take a quarter longer.
  c.gemm_fraction = {0.8, 0.64, 1.0, ""};

  const StepReport report = Report();

  EXPECT_NEAR(report.step_high.milliseconds(), 10 + 0.25 * 7, kTolerance);
  EXPECT_NEAR(report.step_low.milliseconds(), 10 - 0.2 * 7, kTolerance);
}

TEST_F(ReportTest, IntervalGrowsWithTheFixedCostsOnThePath) {
  Calibration& c = scenario_.cluster.calibration;
  MakeCertain(&c);
  // 11 + 11 steps of the gather, whose scales are a call of their own, and 22 of the all-reduce.
  c.nic_step_latency = {5e-6, 2e-6, 10e-6, ""};

  const StepReport report = Report();

  EXPECT_NEAR(report.step_low.milliseconds(), 10 - 44 * 0.003, kTolerance);
  EXPECT_NEAR(report.step_high.milliseconds(), 10 + 44 * 0.005, kTolerance);

  // Three launches; independent of the other, so that squares add up.
  c.collective_launch = {20e-6, 10e-6, 50e-6, ""};
  EXPECT_NEAR(Report().step_low.milliseconds(), 10 - std::hypot(44 * 0.003, 3 * 0.01), kTolerance);
  EXPECT_NEAR(Report().step_high.milliseconds(), 10 + std::hypot(44 * 0.005, 3 * 0.03), kTolerance);
}

TEST_F(ReportTest, MoreNicsThanWereMeasuredMayNotBeFaster) {
  Calibration& c = scenario_.cluster.calibration;
  MakeCertain(&c);
  scenario_.cluster.fabric.nics_per_node = 4;
  c.measured_nics_per_node = 4;
  EXPECT_EQ(Report().step_high, Seconds::Millis(10));

  c.measured_nics_per_node = 2;

  // Both collectives keep a NIC busy for 0.88 ms; at half of the rate for as long again.
  EXPECT_NEAR(Report().step_high.milliseconds(), 10 + 2 * 0.88, kTolerance);
  EXPECT_EQ(Report().step_low, Seconds::Millis(10));
}

TEST_F(ReportTest, IntervalOfANicEndsWhereItsPcieSlotBinds) {
  Calibration& c = scenario_.cluster.calibration;
  MakeCertain(&c);
  // Of 12.5 GB/s at fractions of 0.8 to 1 the slot lets 11.25 pass.
  c.nic_fraction = {1, 0.8, 1, ""};
  scenario_.cluster.node.pcie_bandwidth = BytesPerSecond::GigabytesPerSecond(11.25);
  step_.network = NetworkOf(scenario_.cluster);
  step_.calls = LowerAll(step_.program, step_.network, scenario_.algorithm);

  const StepReport report = Report();

  // The path is in transfers of both collectives for 2.72 ms, which 10 GB/s make an eighth longer.
  Seconds nic;
  for (const CriticalShare& share : report.critical_path) {
    if (share.cause == "transfer on nic") nic += share.time;
  }
  EXPECT_NEAR(nic.milliseconds(), 2.72, kTolerance);
  EXPECT_EQ(report.step_low, Seconds::Millis(10));
  EXPECT_NEAR((report.step_high - report.step).seconds(), 0.125 * nic.seconds(), kTolerance);
  EXPECT_TRUE(report.warnings.empty());
}

TEST_F(ReportTest, SaysThatAPcieSlotCapsTheNic) {
  Calibration& c = scenario_.cluster.calibration;
  MakeCertain(&c);
  c.nic_fraction = {1, 0.85, 1, ""};
  scenario_.cluster.fabric.nic_bandwidth = BytesPerSecond::GigabitsPerSecond(400);
  scenario_.cluster.node.pcie_bandwidth = BytesPerSecond::GigabytesPerSecond(12);

  const StepReport report = Report();

  EXPECT_EQ(report.warnings,
            std::vector<std::string>{"the NIC's 400 Gbps is capped by pcie_bandwidth 12.0 GB/s; "
                                     "more NIC bandwidth has no effect"});
  // The step does not rest on what the NIC achieves.
  EXPECT_TRUE(report.parameters_used.empty() || report.parameters_used[0].name != "nic_fraction");
  EXPECT_EQ(report.step_high, Seconds::Millis(10));
}

// A host that takes most of the step may be much faster; the kernels then take theirs.
TEST(MakeReport, AFasterHostDoesNotBeatTheKernels) {
  Scenario scenario = SmallScenario(2, 4);
  scenario.cluster.calibration.host_hook = {2e-3, 0, 4e-3, ""};
  const StepReport report = Simulate(scenario, Engine::kFluid).report;
  EXPECT_GT(report.step, 2 * report.compute);
  EXPECT_GE(report.step_low.seconds(), report.compute.seconds() / 1.05 * (1 - 1e-9));
}

TEST(MakeReport, OfRealTimelinesAddsUp) {
  for (unsigned seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const auto v = InChild([&] {
      const StepReport r = Simulate(RandomScenario(seed), Engine::kFluid).report;
      Seconds shares;
      for (const CriticalShare& share : r.critical_path) shares += share.time;
      double over_bound = 0;
      for (const CollectiveReport& c : r.collectives) {
        if (c.bound > BytesPerSecond()) over_bound = std::max(over_bound, Ratio(c.busbw, c.bound));
      }
      const MemoryTerms& m = r.memory.terms;
      const Bytes terms = m.parameters + m.gradients + m.optimizer + m.secondary_shard +
                          m.live_parameters + m.buffers + m.activations + m.logits + m.context;
      return std::vector{r.step.seconds(),
                         (r.forward + r.backward + r.bubble + r.optimizer).seconds(),
                         shares.seconds(),
                         r.communication.seconds(),
                         r.exposed_communication.seconds(),
                         r.step_low.seconds(),
                         r.step_high.seconds(),
                         over_bound,
                         static_cast<double>((r.memory.peak - terms).count())};
    });
    ASSERT_EQ(v.size(), 9u);
    const double step = v[0];
    EXPECT_NEAR(v[1] / step, 1, kTolerance) << "the phases";
    EXPECT_NEAR(v[2] / step, 1, kTolerance) << "the critical path";
    EXPECT_LE(v[3], step * (1 + kTolerance)) << "communication";
    EXPECT_LE(v[4], v[3]) << "exposed communication";
    EXPECT_LT(v[5], step);
    EXPECT_GT(v[6], step);
    EXPECT_LE(v[7], 1 + 1e-6) << "busbw above its bound";
    EXPECT_EQ(v[8], 0) << "bytes of memory in no term";
  }
}

}  // namespace
}  // namespace zerosim
