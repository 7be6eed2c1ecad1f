#include "models/program/build_program.h"

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "models/parallel/rank_view.h"
#include "models/program/trace.h"
#include "tests/sim/scenarios.h"

namespace zerosim {
namespace {

StepProgram Build(const Scenario& s) {
  return BuildProgram(s, Layout(s.model));
}

std::map<std::string, int> CallsByName(const StepProgram& program) {
  std::map<std::string, int> calls;
  for (const Call& call : program.calls) {
    const CallKind& kind = program.kinds[call.kind];
    ++calls[kind.name + "/" + kind.group_name];
  }
  return calls;
}

// Forward, recomputation and backward of embedding, layers and head.
std::string OrderOf(const std::vector<Visit>& trace) {
  std::string order;
  for (const Visit& v : trace) {
    if (v.part != Part::kQkv && v.part != Part::kHead && v.part != Part::kEmbedding) continue;
    order += v.action == Action::kForward ? 'F' : v.action == Action::kRecompute ? 'R' : 'B';
    order += v.layer < 0 ? (v.part == Part::kHead ? 'h' : 'e') : static_cast<char>('0' + v.layer);
    order += ' ';
  }
  return order;
}

TEST(TraceOf, RecomputesEachLayerBeforeItsBackward) {
  Scenario s = SmallScenario(1, 1);
  s.model.layers = 2;
  const ModelLayout layout = Layout(s.model);

  EXPECT_EQ(OrderOf(TraceOf(layout, Checkpointing::kFull)), "Fe F0 F1 Fh Bh R1 B1 R0 B0 Be ");
}

TEST(TraceOf, RecomputesOneOfSoManyLayers) {
  Scenario s = SmallScenario(1, 1);
  s.model.layers = 3;
  const ModelLayout layout = Layout(s.model);

  EXPECT_EQ(OrderOf(TraceOf(layout, Checkpointing::kFull, /*checkpoint_every=*/2)),
            "Fe F0 F1 F2 Fh Bh R2 B2 B1 R0 B0 Be ");
}

TEST(TraceOf, EveryWeightHasItsGradientOnceAndATiedOneAtItsLastUse) {
  Scenario s = SmallScenario(1, 1);
  const ModelLayout layout = Layout(s.model);

  const auto trace = TraceOf(layout, Checkpointing::kNone);

  std::map<int, int> count;
  for (const Visit& v : trace) {
    for (const int w : v.gradients) ++count[w];
  }
  EXPECT_EQ(count.size(), layout.weights.size());
  for (const auto& [w, n] : count) EXPECT_EQ(n, 1) << layout.weights[w].name;
  ASSERT_EQ(trace.back().part, Part::kEmbedding);
  EXPECT_TRUE(std::ranges::count(trace.back().gradients, 0) == 1) << "the tied embedding";
}

TEST(BuildProgram, DependsOnEarlierOperationsOnly) {
  Scenario s = SmallScenario(2, 4);
  EnableZeroPlusPlus(&s);
  const StepProgram program = Build(s);

  for (std::size_t i = 0; i < program.ops.size(); ++i) {
    for (const OpId dep : program.ops[i].deps) {
      EXPECT_GE(dep.value, 0);
      EXPECT_LT(dep.value, static_cast<int>(i));
    }
  }
}

// FSDP2 reads and writes 2 bytes of every element that it gathers: of all in forward, and in
// backward of what is not the root's.
TEST(BuildProgram, CopiesWhatIsGatheredIntoParametersOfTheirOwn) {
  Scenario s = SmallScenario(1, 4);
  s.model.tied_embeddings = false;
  s.training.checkpointing = Checkpointing::kNone;
  s.cluster.calibration.kernel_launch.value = 0;
  s.fsdp.emplace().separate_embeddings = false;
  const auto compute = [](const StepProgram& program) {
    Seconds sum;
    for (const Op& op : program.ops) {
      if (op.kind == OpKind::kKernel && op.stream == Stream::kCompute) sum += op.time;
    }
    return sum;
  };
  const Seconds flat = compute(Build(s));

  s.fsdp->per_parameter = true;
  const Seconds copies = compute(Build(s)) - flat;

  const ModelLayout layout = Layout(s.model);
  std::int64_t blocks = 0;
  for (const Weight& w : layout.weights) {
    if (w.name.starts_with("layers.")) blocks += w.elements();
  }
  const double bytes = 4.0 * static_cast<double>(layout.parameters() + blocks);
  EXPECT_NEAR(copies.seconds() * s.cluster.node.gpu.memory_bandwidth.bytes_per_second() / bytes,
              1.0, 1e-9);
}

TEST(BuildProgram, IsOfOneSizeForAnyNumberOfGpus) {
  Scenario small = SmallScenario(2, 8);
  Scenario large = SmallScenario(16384, 8);
  EnableZeroPlusPlus(&small);
  EnableZeroPlusPlus(&large);
  // Vectors shorter than the world are padded by one kernel each; nothing else is added.
  EXPECT_LT(Build(large).ops.size(), Build(small).ops.size() * 6 / 5);
}

TEST(BuildProgram, WithoutZeroPlusPlusIsZero3) {
  Scenario plain = SmallScenario(2, 4);
  Scenario off = plain;
  off.zero.secondary_partition_size = 1;
  off.zero.quantized_weights.reset();
  off.zero.quantized_gradients.reset();

  EXPECT_EQ(CallsByName(Build(plain)), CallsByName(Build(off)));
}

TEST(BuildProgram, HpzGathersBetweenNodesOncePerOptimizerStep) {
  Scenario s = SmallScenario(2, 4);
  s.zero.secondary_partition_size = 4;
  s.zero.prefetch_bucket_size = 0;
  s.zero.max_reuse_distance = 0;
  s.training.checkpointing = Checkpointing::kNone;
  s.training.gradient_accumulation_steps = 3;
  const StepProgram program = Build(s);

  Bytes world;
  Bytes secondary;
  for (const Call& call : program.calls) {
    const CallKind& kind = program.kinds[call.kind];
    if (kind.name.rfind("weights_", 0) != 0) continue;
    (kind.group_name == "world" ? world : secondary) += call.payload;
  }
  // Once for each weight, and 2k - 1 = 5 times in the node; a tied embedding is gathered for the
  // head as well, in the node from the first time on.
  const Weight embedding = Layout(s.model).weights[0];
  const Bytes tied = Bytes::Count(2 * embedding.elements());
  EXPECT_EQ(secondary, 5 * world + 6 * tied);
}

TEST(BuildProgram, The2023RuleGathersBetweenNodesEveryForward) {
  Scenario s = SmallScenario(2, 4);
  s.zero.secondary_partition_size = 4;
  s.zero.secondary_rule = SecondaryRule::kOncePerMicroStep;
  s.training.gradient_accumulation_steps = 2;
  const StepProgram program = Build(s);

  for (const Call& call : program.calls) {
    const CallKind& kind = program.kinds[call.kind];
    if (kind.name == "weights_forward") {
      EXPECT_EQ(kind.group_name, "world");
    }
  }
}

TEST(BuildProgram, QgzFallsBackForVectorsAndOddMatrices) {
  Scenario s = SmallScenario(3, 4);  // 24 divides no power of two
  s.zero.quantized_gradients = GradientQuantization{};
  const StepProgram program = Build(s);

  // Of the matrices only QKV's 3 x 1024 x 1024 elements divide, one a layer.
  EXPECT_EQ(CallsByName(program)["gradients_in_node/node"], 4);
  EXPECT_GT(CallsByName(program)["gradients/world"], 0);
  ASSERT_FALSE(program.warnings.empty());
  EXPECT_EQ(program.warnings[0],
            "qgZ: gradients of 1024 rows x 4096 columns do not divide by 2 x 12 ranks: DeepSpeed "
            "sends them in 16 bit (5056)");
}

TEST(BuildProgram, QgzIsOffOnOneNode) {
  Scenario s = SmallScenario(1, 8);
  s.zero.quantized_gradients = GradientQuantization{};

  EXPECT_EQ(CallsByName(Build(s)).count("gradients_in_node/node"), 0u);
}

TEST(BuildProgram, Stage1ReducesOncePerOptimizerStepAndStage2EveryMicroStep) {
  Scenario s = SmallScenario(2, 4);
  s.training.gradient_accumulation_steps = 4;
  s.zero.stage = 1;
  const int stage1 = CallsByName(Build(s))["gradients/world"];
  s.zero.stage = 2;
  const int stage2 = CallsByName(Build(s))["gradients/world"];

  EXPECT_EQ(stage2, 4 * stage1);
}

TEST(BuildProgram, WarnsOfShardsThatQwzCanNotGroup) {
  Scenario s = SmallScenario(3, 8);  // 1024*1024/24 is no multiple of 8
  s.zero.quantized_weights = QuantizationFormat{};
  const StepProgram program = Build(s);

  ASSERT_FALSE(program.warnings.empty());
  EXPECT_NE(program.warnings[0].find("has no group count that DeepSpeed accepts"),
            std::string::npos);
}

TEST(BuildProgram, NamesKernelsOutsideOfTheBlocksByTheirPart) {
  Scenario s = SmallScenario(2, 4);
  s.zero.stage = 0;
  const StepProgram program = Build(s);

  std::vector<Part> parts;
  for (const Op& op : program.ops) {
    if (op.kind == OpKind::kKernel && op.stream == Stream::kCompute && op.layer < 0 &&
        op.phase != Phase::kOptimizer) {
      parts.push_back(op.part);
    }
  }
  EXPECT_EQ(parts, (std::vector{Part::kEmbedding, Part::kFinalNorm, Part::kHead, Part::kHead,
                                Part::kFinalNorm, Part::kEmbedding}));

  // Logits are allocated for the forward of the head.
  const auto logits = std::ranges::find(program.memory, MemoryTerm::kLogits, &MemoryEvent::term);
  ASSERT_NE(logits, program.memory.end());
  EXPECT_EQ(NameOf(program, logits->next), "forward head");
}

TEST(BuildProgram, FreesEverythingThatItAllocates) {
  std::mt19937 random(20261130);
  for (int round = 0; round < 40; ++round) {
    Scenario s = SmallScenario(1 + static_cast<int>(random() % 3), 4);
    s.zero.stage = static_cast<int>(random() % 4);
    s.training.checkpointing = static_cast<Checkpointing>(random() % 3);
    s.training.gradient_accumulation_steps = 1 + static_cast<int>(random() % 3);
    s.zero.reduce_bucket_size = 1'000'000 << (random() % 8);
    s.zero.max_live_parameters = 3'000'000 << (random() % 8);
    s.training.first_step = random() % 4 == 0;
    if (s.zero.stage == 3 && random() % 2 == 0) EnableZeroPlusPlus(&s);
    const StepProgram program = Build(s);

    std::map<MemoryTerm, Bytes> balance;
    for (const MemoryEvent& event : program.memory) balance[event.term] += event.delta;
    for (const auto& [term, bytes] : balance) {
      EXPECT_EQ(bytes.count(), 0) << "term " << static_cast<int>(term) << ", round " << round;
    }
  }
}

TEST(BuildProgram, RefusesGroupsThatDoNotDivideTheWorld) {
  Scenario s = SmallScenario(2, 4);
  s.zero.secondary_partition_size = 3;
  try {
    Build(s);
    FAIL() << "accepted";
  } catch (const std::invalid_argument& e) {
    EXPECT_STREQ(e.what(), "secondary groups of 3 in a world of 8");
  }
}

// DeepSpeed's reduce_scatter: false: the flat bucket is all-reduced, 2 M on the wire instead of M.
TEST(BuildProgram, AllReducesTheBucketsOfStage3IfAskedTo) {
  Scenario s = SmallScenario(2, 4);
  s.zero.stage = 3;
  const StepProgram scattered = Build(s);
  s.zero.gradient_collective = GradientCollective::kAllReduce;
  s.zero.quantized_gradients = GradientQuantization{};  // never runs
  const StepProgram reduced = Build(s);

  const auto sum = [](const StepProgram& program, CollectiveOp operation) {
    Bytes payload;
    for (const Call& call : program.calls) {
      const CallKind& kind = program.kinds[call.kind];
      if (kind.name == "gradients" && kind.op == operation) payload += call.payload;
    }
    return payload;
  };
  const Bytes gradients = Bytes::Count(2 * Layout(s.model).parameters());
  EXPECT_EQ(sum(scattered, CollectiveOp::kReduceScatter), gradients);
  EXPECT_EQ(sum(reduced, CollectiveOp::kAllReduce), gradients);
  EXPECT_EQ(sum(reduced, CollectiveOp::kReduceScatter), Bytes());
  EXPECT_FALSE(CallsByName(reduced).contains("gradients_in_node/node"));
}

// With MiCS over the ranks that share a copy, whose parts are then summed over the copies.
TEST(BuildProgram, AllReducesBucketsWithinTheRanksOfACopy) {
  Scenario s = SmallScenario(2, 4);
  s.zero.stage = 3;
  s.zero.shard_size = 4;
  s.zero.gradient_collective = GradientCollective::kAllReduce;
  const StepProgram program = Build(s);

  Bytes reduced;
  Bytes replicas;
  for (const Call& call : program.calls) {
    const CallKind& kind = program.kinds[call.kind];
    if (kind.name == "gradients") {
      EXPECT_EQ(kind.op, CollectiveOp::kAllReduce);
      EXPECT_EQ(kind.group, (ProcessGroup{4, 1}));
      reduced += call.payload;
    }
    if (kind.name == "gradients_replicas") replicas += call.payload;
  }
  EXPECT_EQ(reduced, Bytes::Count(2 * Layout(s.model).parameters()));
  EXPECT_EQ(4 * replicas, reduced);
}

// Stages 0 and 1 send gradients as they keep them; DeepSpeed's others in the type of the weights.
TEST(BuildProgram, SendsGradientsInFp32BelowStage2) {
  for (const int stage : {0, 1, 2, 3}) {
    Scenario s = SmallScenario(2, 4);
    s.zero.stage = stage;
    const auto sent = [&] {
      const StepProgram program = Build(s);
      Bytes sum;
      for (const Call& call : program.calls) {
        if (program.kinds[call.kind].name == "gradients") sum += call.payload;
      }
      return sum;
    };
    const Bytes half = sent();
    s.zero.gradient_precision = GradientPrecision::kFp32;
    EXPECT_EQ(sent(), (stage < 2 ? 2 : 1) * half) << stage;
  }
}

// A weight above reduce_bucket_size has no place in the flat buffer, and none has without
// contiguous_gradients: both go the way of reduce_scatter: true, qgZ included.
TEST(BuildProgram, ScattersWhatHasNoFlatBucket) {
  Scenario s = SmallScenario(2, 4);
  s.zero.quantized_gradients = GradientQuantization{};
  s.zero.contiguous_gradients = false;
  const auto scattered = CallsByName(Build(s));
  s.zero.gradient_collective = GradientCollective::kAllReduce;
  EXPECT_EQ(CallsByName(Build(s)), scattered);

  s.zero.contiguous_gradients = true;
  s.zero.reduce_bucket_size = 1024 * 1024;  // below every matrix but one
  const auto mixed = CallsByName(Build(s));
  EXPECT_GT(mixed.at("gradients_in_node/node"), 0);
  EXPECT_LT(mixed.at("gradients_in_node/node"), scattered.at("gradients_in_node/node"));
}

// One gather a layer and micro-step, of 2 h bytes a token.
TEST(BuildProgram, GathersPartitionedCheckpointsBeforeTheyAreUsed) {
  Scenario s = SmallScenario(2, 4);
  s.parallel.tensor = 4;
  s.zero.stage = 1;
  s.training.gradient_accumulation_steps = 3;
  s.training.partition_checkpoints = true;
  s.training.checkpointing = Checkpointing::kSelective;
  EXPECT_FALSE(CallsByName(Build(s)).contains("checkpoint_gather/tensor"));
  s.training.checkpointing = Checkpointing::kFull;
  const StepProgram program = Build(s);

  int gathers = 0;
  for (const Op& op : program.ops) {
    if (op.kind != OpKind::kCollective) continue;
    const Call& call = program.calls[op.call.value];
    if (program.kinds[call.kind].name != "checkpoint_gather") continue;
    EXPECT_EQ(op.phase, Phase::kBackward);
    EXPECT_EQ(call.full, Bytes::Count(2 * s.training.sequence_length * s.model.hidden));
    EXPECT_EQ(program.kinds[call.kind].group, (ProcessGroup{4, 1}));
    ++gathers;
  }
  EXPECT_EQ(gathers, 3 * s.model.layers);
}

// A layer of experts once as one weight of four tensors, once as four weights of the same module.
// Whatever DeepSpeed counts by tensor comes to the same bytes and calls.
class Experts : public testing::TestWithParam<bool> {
 protected:
  struct Sums {
    Bytes full;
    Bytes payload;
    int launches = 0;
    friend bool operator==(const Sums&, const Sums&) = default;
  };

  static ModelLayout LayoutOf(bool stacked) {
    ModelLayout layout;
    Module experts{.part = Part::kExpertsIn, .layer = 0, .weights = {}};
    for (int i = 0; i < (stacked ? 1 : 4); ++i) {
      experts.weights.push_back(static_cast<int>(layout.weights.size()));
      layout.weights.push_back({.name = "experts",
                                .rows = 1001,
                                .columns = 512,
                                .count = stacked ? 4 : 1,
                                .active = stacked ? 2 : 1});
    }
    layout.modules.push_back(experts);
    return layout;
  }

  static std::map<std::string, Sums> SumsOf(const Scenario& s, bool stacked) {
    const StepProgram program = BuildProgram(s, LayoutOf(stacked));
    std::map<std::string, Sums> sums;
    for (const Call& call : program.calls) {
      Sums& sum = sums[program.kinds[call.kind].name];
      sum.full += call.full;
      sum.payload += call.payload;
      sum.launches += call.launches;
    }
    return sums;
  }
};

TEST_P(Experts, AreCountedByTheTensor) {
  Scenario s = SmallScenario(2, 4);
  s.model.mixture = MixtureSpec{.experts = 4, .experts_per_token = 2, .ffn_hidden = 256};
  s.zero.stage = 3;
  s.zero.param_persistence_threshold = GetParam() ? 1001 * 512 : 1001 * 512 - 1;
  // A bucket holds one tensor.
  s.zero.reduce_bucket_size = 1001 * 512;
  EXPECT_EQ(SumsOf(s, true), SumsOf(s, false));
  s.zero.quantized_gradients = GradientQuantization{};
  s.zero.secondary_partition_size = 4;
  EXPECT_EQ(SumsOf(s, true), SumsOf(s, false));
  s.zero.gradient_collective = GradientCollective::kAllReduce;
  EXPECT_EQ(SumsOf(s, true), SumsOf(s, false));
  // 1001 x 512 does not divide by 2 x 11 ranks: qgZ's fall-back.
  s = SmallScenario(11, 1);
  s.model.mixture = MixtureSpec{.experts = 4, .experts_per_token = 2, .ffn_hidden = 256};
  s.zero.stage = 3;
  s.zero.quantized_gradients = GradientQuantization{};
  EXPECT_EQ(SumsOf(s, true), SumsOf(s, false));
}

INSTANTIATE_TEST_SUITE_P(Persistent, Experts, testing::Bool());

// The step of DeepSeek-V3's shape stays small: 61 layers of some 20 modules, three passes.
TEST(BuildProgram, OfManyExpertsIsSmall) {
  Scenario s = SmallScenario(2, 4);
  s.model.layers = 61;
  s.model.mixture = MixtureSpec{.experts = 256, .experts_per_token = 8, .ffn_hidden = 256};
  s.zero.stage = 3;

  EXPECT_LT(Build(s).ops.size(), 10'000);
}

// 8 experts of a mixture on 8 ranks, two layers.
Scenario Experts(int expert_parallel) {
  Scenario s = SmallScenario(2, 4);
  s.model.layers = 2;
  s.model.mixture = MixtureSpec{.experts = 8, .experts_per_token = 2, .ffn_hidden = 512};
  s.parallel.expert = expert_parallel;
  s.training.checkpointing = Checkpointing::kNone;
  s.fsdp.emplace();
  return s;
}

StepProgram BuildRank(const Scenario& s) {
  return BuildProgram(s, Layout(RankModel(s.model, s.parallel)));
}

TEST(ExpertParallelism, SendsTokensToTheirExpertsAndBackInEveryPass) {
  const Scenario s = Experts(4);
  const StepProgram program = BuildRank(s);

  int exchanges = 0;
  for (const Call& call : program.calls) {
    const CallKind& kind = program.kinds[call.kind];
    if (kind.name != "tokens_to_experts") continue;
    ++exchanges;
    EXPECT_EQ(kind.group, (ProcessGroup{4, 1}));
    EXPECT_EQ(call.full, Bytes::Count(2 * 2 * s.tokens_per_micro_batch() * s.model.hidden));
  }
  EXPECT_EQ(exchanges, 2 * 2 * 2);  // there and back, forward and backward, two layers
}

TEST(ExpertParallelism, GathersAndReducesExpertsOverThoseThatHoldTheSame) {
  const Scenario s = Experts(4);
  const ModelLayout rank = Layout(RankModel(s.model, s.parallel));
  const std::int64_t experts = rank.trainable_expert_parameters();
  const StepProgram program = BuildRank(s);

  // A quarter of the experts each, all of them together.
  EXPECT_EQ(4 * experts, Layout(s.model).trainable_expert_parameters());
  EXPECT_EQ(rank.parameters() - experts,
            Layout(s.model).parameters() - Layout(s.model).trainable_expert_parameters());
  std::map<std::string, Bytes> payload;
  for (const Call& call : program.calls) {
    const CallKind& kind = program.kinds[call.kind];
    payload[kind.name + "/" + kind.group_name] += call.payload;
    if (kind.group_name != "expert_data") continue;
    EXPECT_EQ(kind.group, (ProcessGroup{2, 4}));
  }
  EXPECT_EQ(payload["gradients/expert_data"], Bytes::Count(2 * experts));
  EXPECT_EQ(payload["gradients/world"], Bytes::Count(2 * (rank.parameters() - experts)));
  EXPECT_EQ(payload["weights_forward/expert_data"], Bytes::Count(2 * experts));
}

TEST(ExpertParallelism, OfOneRankIsNone) {
  EXPECT_EQ(CallsByName(BuildRank(Experts(1))), CallsByName(Build(Experts(1))));
  EXPECT_EQ(CallsByName(BuildRank(Experts(1))).count("tokens_to_experts/expert"), 0u);
}

TEST(ExpertParallelism, OverAllRanksReducesNoExperts) {
  Scenario s = Experts(8);
  s.fsdp.reset();
  s.zero.stage = 2;
  // All ranks divide the experts: each has its own, and no other holds the same.
  const StepProgram program = BuildRank(s);
  for (const Call& call : program.calls) {
    if (program.kinds[call.kind].group_name != "expert_data") continue;
    EXPECT_EQ(program.kinds[call.kind].group.size, 1);
  }
}

}  // namespace
}  // namespace zerosim
