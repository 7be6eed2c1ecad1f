#include "models/frameworks/known_problems.h"

#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/scenario/keys.h"
#include "tests/scenario/small_scenario.h"

namespace zerosim {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string> All(const ReadResult& read) {
  std::vector<std::string> all = read.warnings;
  all.insert(all.end(), read.notes.begin(), read.notes.end());
  return all;
}

struct KnownCase {
  const char* name;
  std::vector<Override> set;
  const char* what;
};

class KnownProblemsTest : public testing::TestWithParam<KnownCase> {};

TEST_P(KnownProblemsTest, AreSaidOfTheScenario) {
  EXPECT_THAT(All(ReadSmall(SmallScenario(), GetParam().set)),
              Contains(HasSubstr(GetParam().what)));
  EXPECT_THAT(All(ReadSmall(SmallScenario())), IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(
    Table, KnownProblemsTest,
    testing::Values(
        KnownCase{
            "QuantizedWeightsInBf16",
            {{"zero.quantized_weights", "true"}, {"training.precision", "bf16"}},
            "warning: zero.quantized_weights: DeepSpeed's quantisation kernels take fp16 only: "
            "before 2026-08-19 (8215) bf16 fails, or is read as other values (3992, 4852, "
            "4885, 7775); computed as if they took it"},
        KnownCase{"QuantizedGradientsInBf16",
                  {{"zero.quantized_gradients", "true"}, {"training.precision", "bf16"}},
                  "warning: zero.quantized_gradients: DeepSpeed's quantisation kernels take fp16 "
                  "only: in bf16 a loss of 2409 was seen (4886)"},
        KnownCase{"QuantizedGradientsOnOneNode",
                  {{"zero.quantized_gradients", "true"}, {"cluster.nodes", "1"}},
                  "warning: zero.quantized_gradients: no effect with one node: DeepSpeed quantises "
                  "gradients on several nodes only (4886)"},
        KnownCase{"NodeSize16",
                  {{"zero.quantized_gradients", "true"}},
                  "note: zero.quantized_gradients: DeepSpeed before 2023-08-08 (4085) takes every "
                  "node to have 16 GPUs"},
        KnownCase{"OddNodes",
                  {{"zero.quantized_gradients", "true"}, {"cluster.nodes", "3"}},
                  "note: zero.quantized_gradients: DeepSpeed before pull request 5056 crashes with "
                  "an odd number of nodes (5054)"},
        KnownCase{"SecondaryOnOneNode",
                  {{"zero.secondary_partition_size", "node"}, {"cluster.nodes", "1"}},
                  "warning: zero.secondary_partition_size: gains nothing with one node, whose "
                  "weights never leave it, and costs the memory of a second shard (4886; "
                  "DeepSpeedExamples 613, 717)"},
        KnownCase{"SecondaryWithAccumulation",
                  {{"zero.secondary_partition_size", "node"},
                   {"training.gradient_accumulation_steps", "2"}},
                  "note: zero.secondary_partition_size: DeepSpeed before 2024-01-25 (4906) gathers "
                  "between nodes in every micro-step, and from 2023-08-30 on may read old weights "
                  "(4851); for the former give secondary_rule once_per_micro_step"},
        KnownCase{
            "SecondaryOfSmallWeights",
            {{"zero.secondary_partition_size", "8"}, {"model.hidden", "4"}, {"model.heads", "1"}},
            "warning: zero.secondary_partition_size: weights of fewer elements than the group "
            "has ranks stop DeepSpeed (5642, 6659; 8210)"},
        KnownCase{"SecondaryWithTensorParallelism",
                  {{"zero.secondary_partition_size", "2"}, {"parallelism.tensor", "2"}},
                  "warning: zero.secondary_partition_size: DeepSpeed's groups "
                  "(utils/groups.py) are consecutive ranks of the job, which with tensor "
                  "parallelism hold different parts of the weights"},
        KnownCase{"QuantizedGradientsWithTensorParallelism",
                  {{"zero.quantized_gradients", "true"}, {"parallelism.tensor", "2"}},
                  "warning: zero.quantized_gradients: DeepSpeed sums over all GPUs of the nodes "
                  "(utils/groups.py), which with tensor parallelism hold gradients of different "
                  "weights"},
        KnownCase{"QuantizedGradientsWithMics",
                  {{"zero.quantized_gradients", "true"},
                   {"zero.shard_size", "8"},
                   {"cluster.nodes", "4"}},
                  "warning: zero.quantized_gradients: DeepSpeed sums over all GPUs of the nodes "
                  "(utils/groups.py), not over the ranks of shard_size"},
        KnownCase{
            "PipelineWithSequenceParallelism",
            {{"zero.stage", "1"}, {"parallelism", "{pipeline: 2, tensor: 2, sequence: true}"}},
            "warning: parallelism.sequence: DeepSpeed's pipeline sends each tensor-parallel "
            "rank's part of an activation that is divided already"},
        KnownCase{"PartitionedCheckpointsInAPipeline",
                  {{"zero.stage", "1"},
                   {"parallelism", "{pipeline: 2, tensor: 2}"},
                   {"training.activation_checkpointing", "full"},
                   {"training.partition_checkpoints", "true"}},
                  "note: training.partition_checkpoints: in 2021 DeepSpeed stopped with it"}),
    [](const auto& test) { return test.param.name; });

TEST(KnownProblems, RefuseAPipelineWithShardedGradients) {
  const std::string expected =
      "error: parallelism.pipeline: DeepSpeed refuses pipeline parallelism with ZeRO stages 2 and "
      "3 (3589; Megatron-DeepSpeed 474); expected zero.stage 0 or 1, or fsdp\n";
  EXPECT_THAT(ErrorOf(SmallScenario(), {{"parallelism.pipeline", "2"}}), HasSubstr(expected));
  EXPECT_THAT(ErrorOf(SmallScenario(), {{"parallelism.pipeline", "2"}, {"zero.stage", "1"}}),
              Not(HasSubstr(expected)));
}

TEST(KnownProblems, AreSaidOfAnImportedScenarioAtItsPlaceThere) {
  const ReadResult read = ReadSmall(Small("  stage: 3\n", "  deepspeed_config: ds.json\n"), {},
                                    {{"ds.json",
                                      "{\"bf16\": {\"enabled\": true}, \"zero_optimization\": {\n"
                                      "\"stage\": 3, \"zero_quantized_weights\": true}}"}});
  EXPECT_THAT(read.warnings,
              ElementsAre(HasSubstr("ds.json:2:39: warning: zero.quantized_weights: DeepSpeed's")));
}

TEST(KnownProblems, NameOffloadWithASecondaryShard) {
  const ReadResult read =
      ReadSmall(Small("  stage: 3\n", "  deepspeed_config: ds.json\n"), {},
                {{"ds.json", R"({"fp16": {"enabled": true}, "zero_optimization": {"stage": 3,
"zero_hpz_partition_size": 4, "offload_param": {"device": "cpu"}}})"}});
  EXPECT_THAT(read.warnings,
              testing::Contains(HasSubstr("ds.json:2:31: warning: zero.offload_param: with hpZ the "
                                          "second shard lies in the host's memory too")));
}

TEST(KnownProblems, NameAKeyAndASource) {
  for (const KnownProblem& problem : KnownProblems()) {
    EXPECT_NE(FindKey(problem.key), nullptr) << problem.key;
    EXPECT_THAT(std::string(problem.what), testing::ContainsRegex("[0-9][0-9][0-9][0-9]|\\.py"));
  }
}

}  // namespace
}  // namespace zerosim
