// What a user sees of a model that ranks cannot divide as asked, and of policies that do not go
// together.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/scenario/small_scenario.h"

namespace zerosim {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Eight ranks and six experts.
std::string Experts(const std::string& parallelism) {
  const std::string model = "model: {layers: 2, hidden: 64, heads: 4, vocabulary: 100}\n";
  std::string text = Small(model,
                           "model: {layers: 2, hidden: 64, heads: 4, vocabulary: 100, mixture: "
                           "{experts: 6, experts_per_token: 2}}\n");
  const std::string stage = "stage: 3";
  text.replace(text.find(stage), stage.size(), "stage: 1");
  return text + "parallelism: " + parallelism + "\n";
}

TEST(ParallelismErrors, RefuseRanksWithUnlikeNumbersOfExperts) {
  EXPECT_EQ(
      ErrorOf(Experts("{expert: 4}")),
      "s.yaml:11:23: error: parallelism.expert: expected a divisor of the 6 experts (line 6), "
      "got 4: ranks with unlike numbers of experts are not modelled\n"
      "  parallelism: {expert: 4}\n"
      "                        ^\n");
  EXPECT_EQ(ErrorOf(Experts("{expert: 2}")), "");
}

TEST(ParallelismErrors, RefuseMoreExpertRanksThanTrainOtherTokens) {
  const std::string error = ErrorOf(Experts("{pipeline: 2, tensor: 4, expert: 2}"));
  EXPECT_THAT(error, HasSubstr("parallelism.expert: expected a divisor of the 1 data-parallel"));
}

TEST(ParallelismErrors, AsynchronousTensorParallelismNeedsSequenceParallelism) {
  EXPECT_EQ(
      ErrorOf(SmallScenario() + "parallelism: {tensor: 2, tensor_overlap: async}\n"),
      "s.yaml:11:42: error: parallelism.tensor_overlap: async needs parallelism.sequence: true; "
      "an all-reduce of whole sums has no chunks that products could start with\n"
      "  parallelism: {tensor: 2, tensor_overlap: async}\n"
      "                                           ^\n");
  EXPECT_EQ(ErrorOf(SmallScenario() +
                    "parallelism: {tensor: 2, sequence: true, tensor_overlap: async}\n"),
            "");
}

TEST(ParallelismErrors, QuantizedGradientsOfStage1NeedOneShardGroup) {
  const auto error = [](const std::string& more) {
    return ErrorOf(Small("stage: 3", "stage: 1\n  quantized_weight_differences: true\n" + more));
  };
  EXPECT_EQ(error("  shard_size: node\n  quantized_gradients: true"),
            "s.yaml:12:15: error: zero.shard_size: expected all 8 data-parallel ranks with "
            "quantized_gradients (line 13) in stage 1, got 4\n"
            "    shard_size: node\n"
            "                ^\n");
  EXPECT_EQ(error("  shard_size: node"), "");
}

TEST(ParallelismWarnings, NamePoliciesWithoutWhatTheyAreOf) {
  EXPECT_THAT(
      ReadSmall(SmallScenario() + "parallelism: {context_method: ring, tensor_overlap: async}\n")
          .warnings,
      ElementsAre(HasSubstr("parallelism.context_method: no effect without context parallelism"),
                  HasSubstr("parallelism.tensor_overlap: no effect without tensor parallelism")));
}

}  // namespace
}  // namespace zerosim
