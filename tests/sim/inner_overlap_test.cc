// Ring attention and asynchronous tensor parallelism: steps of one replica, in which nothing else
// overlaps, against the closed form and its limits.
#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "models/compute/compute.h"
#include "models/compute/flops.h"
#include "models/parallel/rank_view.h"
#include "sim/simulate.h"
#include "tests/sim/child.h"
#include "tests/sim/scenarios.h"

namespace zerosim {
namespace {

constexpr double kTolerance = 1e-6;  // of SimGrid's solver

// One node of 4 GPUs that hold one replica, and calls that cost nothing but their bytes.
Scenario OneReplica(double gigabytes_per_second) {
  Scenario s = SmallScenario(1, 4);
  s.zero.stage = 0;
  s.training.checkpointing = Checkpointing::kNone;
  s.cluster.node.gpu_bandwidth = BytesPerSecond::GigabytesPerSecond(gigabytes_per_second);
  Calibration& c = s.cluster.calibration;
  c.gpu_step_latency.value = c.collective_launch.value = 0;
  c.host_launch.value = c.host_hook.value = 0;
  s.cluster.node.gpu_latency = Seconds();
  return s;
}

Scenario Ring(double gigabytes_per_second) {
  Scenario s = OneReplica(gigabytes_per_second);
  s.parallel.context = 4;
  s.parallel.context_method = ContextMethod::kRing;
  return s;
}

Scenario Async(double gigabytes_per_second) {
  Scenario s = OneReplica(gigabytes_per_second);
  s.parallel.tensor = 4;
  s.parallel.sequence_parallel = true;
  s.parallel.tensor_overlap = TensorOverlap::kAsync;
  return s;
}

Scenario Serial(Scenario s) {
  s.parallel.context_method = ContextMethod::kAllGather;
  s.parallel.tensor_overlap = TensorOverlap::kNone;
  return s;
}

double StepOf(const Scenario& s, Engine engine = Engine::kFluid) {
  const std::vector<double> step =
      InChild([&] { return std::vector{Simulate(s, engine).report.step.seconds()}; });
  return step.empty() ? 0 : step[0];
}

// Of a ring all-gather or reduce-scatter of `bytes` over 4 ranks.
double Exchange(const Scenario& s, double bytes) {
  return 0.75 * bytes / s.cluster.node.gpu_bandwidth.bytes_per_second() /
         s.cluster.calibration.gpu_link_fraction.value;
}

// What h of computing hides of t: all of it but what the other three quarters do not cover.
double Hidden(double h, double t) {
  return std::min(t, 0.75 * h);
}

// 4 layers: in forward keys and values go round, in backward their gradients as well.
TEST(RingAttention, HidesWhatTheClosedFormSays) {
  for (const double rate : {1.0, 20.0, 100.0, 1000.0}) {
    const Scenario s = Ring(rate);
    const ModuleTime attention = TimeOf(Part::kAttention, RankView(s));
    const auto product = [](const PassTime& pass) {
      return (pass.gemm + pass.attention).seconds();
    };
    // 2 bytes for keys and values, 1024 wide each, of 512 tokens.
    const double t = Exchange(s, 2.0 * 2 * 1024 * 512);
    const double saved =
        4 * (Hidden(product(attention.forward), t) + Hidden(product(attention.backward), 2 * t));

    for (const Engine engine : {Engine::kFluid, Engine::kMessage}) {
      EXPECT_NEAR(StepOf(s, engine), StepOf(Serial(s), engine) - saved,
                  kTolerance * StepOf(s, engine))
          << rate;
    }
  }
}

// 4 layers: gathers before qkv and the MLP's first product, sums after attention's output and the
// MLP's second, and the head's gather; backward the other way round.
TEST(AsyncTensorParallelism, HidesWhatTheClosedFormSays) {
  for (const double rate : {1.0, 20.0, 100.0, 1000.0}) {
    const Scenario s = Async(rate);
    const Scenario view = RankView(s);
    const double t = Exchange(s, 2.0 * 1024 * 512);
    double saved = 0;
    for (const Part part : {Part::kQkv, Part::kAttentionOutput, Part::kMlpIn, Part::kMlpOut}) {
      const ModuleTime time = TimeOf(part, view);
      saved +=
          4 * (Hidden(time.forward.gemm.seconds(), t) + Hidden(time.backward.gemm.seconds(), t));
    }
    const ModuleTime head = TimeOf(Part::kHead, view);
    saved += Hidden(head.forward.gemm.seconds(), t) + Hidden(head.backward.gemm.seconds(), t);

    for (const Engine engine : {Engine::kFluid, Engine::kMessage}) {
      EXPECT_NEAR(StepOf(s, engine), StepOf(Serial(s), engine) - saved,
                  kTolerance * StepOf(s, engine))
          << rate;
    }
  }
}

class InnerOverlapTest : public testing::TestWithParam<Scenario (*)(double)> {};

TEST_P(InnerOverlapTest, IsNothingOnAnInfinitelyFastNetwork) {
  const Scenario s = GetParam()(1e9);

  EXPECT_NEAR(StepOf(s) / StepOf(Serial(s)), 1, kTolerance);
}

// Communication alone is left: a millionth of the bandwidth hides less than a millionth.
TEST_P(InnerOverlapTest, IsNothingOnAnInfinitelySlowNetwork) {
  const Scenario s = GetParam()(1e-4);

  EXPECT_NEAR(StepOf(s) / StepOf(Serial(s)), 1, 1e-4);
}

TEST_P(InnerOverlapTest, IsFasterTheFasterTheNetworkAndNeverSlowerThanWithout) {
  double before = 1e30;
  for (const double rate : {1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0}) {
    const double step = StepOf(GetParam()(rate));
    EXPECT_LT(step, before);
    EXPECT_LE(step, StepOf(Serial(GetParam()(rate))) * (1 + kTolerance));
    before = step;
  }
}

TEST_P(InnerOverlapTest, SendsTheSameBytesInTheSameCalls) {
  const auto sums = [](const PreparedStep& step) {
    std::vector<std::string> sums;
    for (std::size_t k = 0; k < step.program.kinds.size(); ++k) {
      Bytes full;
      int calls = 0;
      for (const Call& call : step.program.calls) {
        if (call.kind != static_cast<int>(k)) continue;
        full += call.full;
        ++calls;
      }
      sums.push_back(step.program.kinds[k].name + " " + std::to_string(calls) + " " +
                     std::to_string(full.count()));
    }
    std::sort(sums.begin(), sums.end());
    return sums;
  };
  const Scenario s = GetParam()(100);

  EXPECT_EQ(sums(Prepare(s)), sums(Prepare(Serial(s))));
}

TEST_P(InnerOverlapTest, ComputesTheSame) {
  const auto compute = [](const PreparedStep& step) {
    double sum = 0;
    for (const Op& op : step.program.ops) {
      if (op.kind == OpKind::kKernel) sum += op.time.seconds();
    }
    return sum;
  };
  const Scenario s = GetParam()(100);

  EXPECT_NEAR(compute(Prepare(s)) / compute(Prepare(Serial(s))), 1, 1e-12);
}

INSTANTIATE_TEST_SUITE_P(Policies, InnerOverlapTest, testing::Values(Ring, Async),
                         [](const auto& info) { return info.index == 0 ? "Ring" : "Async"; });

// In a pipeline passes whose collectives overlap are not folded into one operation.
TEST(RingAttention, HidesAsMuchInAPipeline) {
  Scenario s = Ring(20);
  s.cluster.node.gpus = 8;
  s.parallel.pipeline = 2;
  s.training.gradient_accumulation_steps = 2;

  EXPECT_LT(StepOf(s), 0.999 * StepOf(Serial(s)));
}

}  // namespace
}  // namespace zerosim
