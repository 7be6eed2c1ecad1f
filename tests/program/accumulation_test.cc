// What one optimizer step of k micro-steps sends, by strategy and by when gradients are reduced.
#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "models/memory/memory.h"
#include "models/program/build_program.h"
#include "tests/sim/scenarios.h"

namespace zerosim {
namespace {

// In bytes a parameter: a (once a step) + k b (every micro-step).
struct Row {
  const char* name;
  void (*set)(Scenario*);
  int gradients_once = 0;
  int gradients_each = 0;
  int weights_once = 0;  // all-gathers, refresh of stages 1 and 2 included
  int weights_each = 0;
};

void SetFsdp(FsdpStrategy sharding, bool no_sync, Scenario* s) {
  s->fsdp.emplace();
  s->fsdp->sharding = sharding;
  s->fsdp->no_sync = no_sync;
}

// Stages 0 and 1 reduce in the last micro-step: DeepSpeed's engine skips the others. Stages 2 and 3
// reduce in each, because a rank keeps its part of the gradients only; DeepSpeed refuses no_sync
// with them ("no_sync context manager is incompatible with gradient partitioning"). FSDP leaves the
// choice to no_sync, and reduces in fp32.
const Row kRows[] = {
    {"zero0", [](Scenario* s) { s->zero.stage = 0; }, 2, 0, 0, 0},
    {"zero1", [](Scenario* s) { s->zero.stage = 1; }, 2, 0, 2, 0},
    {"zero2", [](Scenario* s) { s->zero.stage = 2; }, 0, 2, 2, 0},
    {"zero3", [](Scenario* s) { s->zero.stage = 3; }, 0, 2, 0, 4},
    {"fsdp_each", [](Scenario* s) { SetFsdp(FsdpStrategy::kFullShard, false, s); }, 0, 4, 0, 4},
    {"fsdp_last", [](Scenario* s) { SetFsdp(FsdpStrategy::kFullShard, true, s); }, 4, 0, 0, 4},
    {"shard_grad_op_each", [](Scenario* s) { SetFsdp(FsdpStrategy::kShardGradOp, false, s); }, 0, 4,
     0, 2},
    {"shard_grad_op_last", [](Scenario* s) { SetFsdp(FsdpStrategy::kShardGradOp, true, s); }, 4, 0,
     0, 2},
    {"ddp_each", [](Scenario* s) { SetFsdp(FsdpStrategy::kNoShard, false, s); }, 0, 4, 0, 0},
    {"ddp_last", [](Scenario* s) { SetFsdp(FsdpStrategy::kNoShard, true, s); }, 4, 0, 0, 0},
};

class Accumulation : public testing::TestWithParam<Row> {};

TEST_P(Accumulation, SendsWhatTheTableSays) {
  const Row& row = GetParam();
  for (const int k : {1, 2, 4}) {
    SCOPED_TRACE(k);
    Scenario s = SmallScenario(2, 4);
    s.training.checkpointing = Checkpointing::kNone;
    s.model.tied_embeddings = false;
    s.training.gradient_accumulation_steps = k;
    // Each use gathers: nothing stays gathered.
    s.zero.max_reuse_distance = 0;
    s.zero.prefetch_bucket_size = 0;
    s.zero.param_persistence_threshold = 0;
    row.set(&s);
    const ModelLayout layout = Layout(s.model);
    const StepProgram program = BuildProgram(s, layout);

    std::int64_t gradients = 0;
    std::int64_t weights = 0;
    for (const Call& call : program.calls) {
      const std::string& name = program.kinds[call.kind].name;
      (name == "gradients" ? gradients : weights) += call.full.count();
    }
    const std::int64_t p = layout.parameters();
    EXPECT_EQ(gradients, (row.gradients_once + k * row.gradients_each) * p);
    // Embedding and head stand at the ends of both passes: one of them may still be gathered.
    const std::int64_t ends = std::int64_t{2} * (k + 1) * 2 * 32512 * 1024;
    const std::int64_t expected = (row.weights_once + k * row.weights_each) * p;
    EXPECT_LE(weights, expected);
    EXPECT_GE(weights, expected - (row.weights_each == 4 ? ends : 0));
  }
}

INSTANTIATE_TEST_SUITE_P(Strategies, Accumulation, testing::ValuesIn(kRows),
                         [](const auto& row) { return std::string(row.param.name); });

// What skipping the reductions costs: full gradients in 16 bit on every rank until the last one.
TEST(Accumulation, WithoutSyncKeepsFullGradients) {
  for (const bool no_sync : {false, true}) {
    Scenario s = SmallScenario(2, 4);
    s.training.gradient_accumulation_steps = 2;
    SetFsdp(FsdpStrategy::kFullShard, no_sync, &s);
    const ModelLayout layout = Layout(s.model);
    const StepProgram program = BuildProgram(s, layout);

    Bytes now;
    Bytes most;
    for (const MemoryEvent& event : program.memory) {
      if (event.term != MemoryTerm::kGradients) continue;
      now += event.delta;
      most = std::max(most, now);
    }
    const Bytes full = Bytes::Count(2 * layout.parameters());
    if (no_sync) {
      EXPECT_EQ(most, full);
    } else {
      EXPECT_LT(Ratio(most, full), 0.7);
    }
    EXPECT_EQ(now, Bytes());
  }
}

}  // namespace
}  // namespace zerosim
