// What holds of every combination of strategy, parallelism and model: thousands of random ones,
// prepared and not simulated. A failure names its seed.
#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "models/compute/compute.h"
#include "models/compute/flops.h"
#include "models/parallel/rank_view.h"
#include "sim/simulate.h"
#include "tests/sim/random_scenario.h"

namespace zerosim {
namespace {

constexpr unsigned kSeeds = 1500;

std::string TraceOf(unsigned seed) {
  return "seed " + std::to_string(seed);
}

// Random models, strategies and divisions of up to 64 GPUs. Sizes that tensor parallelism divides.
Scenario RandomCombination(unsigned seed) {
  Draws draws(seed + 10'000);
  Scenario s = RandomScenario(seed);
  s.cluster.nodes = draws.From({1, 2, 4, 8});
  s.cluster.node.gpus = draws.From({2, 4, 8});
  s.model.layers = draws.From({2, 4, 8});
  s.model.heads = 16;
  s.model.kv_heads = draws.From({4, 8, 16});
  s.model.tied_embeddings = draws.Coin();
  s.parallel = {};
  s.zero.shard_size = 0;
  s.zero.secondary_partition_size = 1;
  if (s.fsdp) {
    s.fsdp->shard_size = 0;
    s.fsdp->secondary_partition_size = 1;
  }
  s.parallel.tensor = std::min(s.cluster.node.gpus, draws.From({1, 1, 2, 4}));
  s.parallel.sequence_parallel = draws.Coin();
  const int left = s.world_size() / s.parallel.tensor;
  if (left % 2 == 0) s.parallel.context = draws.From({1, 1, 2});
  const int stages = draws.From({1, 1, 2});
  if (left / s.parallel.context % stages == 0 && s.zero.stage < 2) s.parallel.pipeline = stages;
  if (s.parallel.pipeline > 1) {
    s.training.gradient_accumulation_steps = 4;
    s.parallel.virtual_stages = s.model.layers >= 4 ? draws.From({1, 2}) : 1;
    s.model.tied_embeddings = false;
  }
  return s;
}

// What a program sends, by name and group.
std::map<std::string, std::pair<std::int64_t, int>> Sent(const PreparedStep& step) {
  std::map<std::string, std::pair<std::int64_t, int>> sent;
  for (const Op& op : step.program.ops) {
    ForEachCall(op, [&](CallId id, int count) {
      const Call& call = step.program.calls[id.value];
      auto& [bytes, calls] = sent[step.program.kinds[call.kind].name];
      bytes += count * call.full.count();
      calls += count;
    });
  }
  return sent;
}

TEST(Grid, FlopOfAllRanksAreThoseOfTheModel) {
  for (unsigned seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE(TraceOf(seed));
    Scenario s = RandomCombination(seed);
    s.model.lora.reset();  // ranks divide one side of an adapter's products only
    const Scenario view = RankView(s);
    Scenario whole = s;
    whole.parallel = {};
    for (const Part part : {Part::kQkv, Part::kAttention, Part::kAttentionOutput, Part::kMlpIn,
                            Part::kMlpOut, Part::kHead}) {
      const double ranks = s.parallel.tensor * s.parallel.context;
      EXPECT_NEAR(ranks * ForwardFlops(part, view).count() / ForwardFlops(part, whole).count(), 1.0,
                  1e-12);
    }
    EXPECT_NEAR(
        s.parallel.model_ranks() * FlopsOfStep(s).model.count() / FlopsOfStep(whole).model.count(),
        1.0, 1e-12);
  }
}

TEST(Grid, RanksHoldTheModelOnce) {
  for (unsigned seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE(TraceOf(seed));
    Scenario s = RandomCombination(seed);
    s.model.lora.reset();
    const ModelLayout whole = Layout(s.model);
    const ModelLayout rank = Layout(RankModel(s.model, s.parallel));
    ASSERT_EQ(whole.weights.size(), rank.weights.size());
    for (std::size_t w = 0; w < whole.weights.size(); ++w) {
      // Divided, or held by every rank: norms, positions, biases of what is summed.
      const std::int64_t ratio = whole.weights[w].elements() / rank.weights[w].elements();
      EXPECT_TRUE(ratio == 1 || ratio == s.parallel.tensor) << whole.weights[w].name;
      const std::string& name = whole.weights[w].name;
      const bool replicated = name == "positions" || name.ends_with("router");
      if (!whole.weights[w].is_vector() && !replicated) {
        EXPECT_EQ(ratio, s.parallel.tensor) << whole.weights[w].name;
      }
    }
    std::int64_t stages = 0;
    for (int stage = 0; stage < s.parallel.pipeline; ++stage) {
      stages += StageLayout(rank, s.model.layers, s.parallel, stage).parameters();
    }
    EXPECT_EQ(stages, rank.parameters());
  }
}

TEST(Grid, MemoryIsNeverBelowTheStates) {
  for (unsigned seed = 1; seed <= kSeeds / 3; ++seed) {
    SCOPED_TRACE(TraceOf(seed));
    const Scenario s = RandomCombination(seed);
    const PreparedStep step = Prepare(s);
    EXPECT_GE(step.memory.peak, step.always.allocated() + step.always.context);
    // 16 bytes a parameter, sharded over all ranks at best.
    const double least = 16.0 * static_cast<double>(step.parameters) / s.world_size();
    EXPECT_GE(static_cast<double>(step.memory.peak.count()), least);
    // What a step takes it gives back.
    EXPECT_EQ(step.memory.after_step, step.always.allocated() + step.always.buffers);
  }
}

TEST(Grid, DegreeOneIsOff) {
  for (unsigned seed = 1; seed <= kSeeds / 3; ++seed) {
    SCOPED_TRACE(TraceOf(seed));
    Scenario off = RandomCombination(seed);
    off.parallel = {};
    off.training.gradient_accumulation_steps = 2;
    Scenario one = off;
    // What has nothing to act on.
    one.parallel.sequence_parallel = true;
    one.parallel.order = RankOrder::kTensorPipelineData;
    const PreparedStep a = Prepare(off);
    const PreparedStep b = Prepare(one);
    EXPECT_EQ(Sent(a), Sent(b));
    EXPECT_EQ(a.memory.peak, b.memory.peak);
    EXPECT_EQ(a.program.ops.size(), b.program.ops.size());
  }
}

TEST(Grid, HybridShardingOverAllRanksIsFullSharding) {
  for (unsigned seed = 1; seed <= kSeeds / 3; ++seed) {
    SCOPED_TRACE(TraceOf(seed));
    Scenario full = RandomCombination(seed);
    full.parallel = {};
    full.fsdp.emplace();
    full.cluster.nodes = 1;
    Scenario hybrid = full;
    hybrid.fsdp->shard_size = full.cluster.node.gpus;
    const PreparedStep a = Prepare(full);
    const PreparedStep b = Prepare(hybrid);
    EXPECT_EQ(Sent(a), Sent(b));
    EXPECT_EQ(a.memory.peak, b.memory.peak);
    EXPECT_EQ(a.program.ops.size(), b.program.ops.size());
  }
}

// Every link of a collective's groups carries what leaves and what comes in: sums over stages.
TEST(Grid, EveryCallFitsItsGroups) {
  for (unsigned seed = 1; seed <= kSeeds / 3; ++seed) {
    SCOPED_TRACE(TraceOf(seed));
    const Scenario s = RandomCombination(seed);
    const PreparedStep step = Prepare(s);
    for (std::size_t i = 0; i < step.calls.size(); ++i) {
      const CallKind& kind = step.program.kinds[step.program.calls[i].kind];
      const LoweredCall& call = step.calls[i];
      EXPECT_LE(call.bound, call.alone);
      const bool to_host =
          kind.op == CollectiveOp::kCopyToHost || kind.op == CollectiveOp::kCopyToGpu;
      EXPECT_TRUE(to_host || kind.group.size > 1 || call.stages.empty());
      EXPECT_TRUE(s.cluster.nodes > 1 || call.node_egress == Bytes());
    }
  }
}

}  // namespace
}  // namespace zerosim
