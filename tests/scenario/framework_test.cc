// What a scenario takes over from the framework that it names.
#include <map>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/scenario/small_scenario.h"

namespace zerosim {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

std::map<std::string, std::string> Framework(const std::string& text) {
  return {{"cat/frameworks/tiny.yaml", text}};
}

const char kBoth[] =
    "fsdp: {backward_prefetch: post, no_sync: true}\n"
    "zero: {stage: 3, reduce_bucket_size: 1000}\n"
    "compute: {causal_skip: false, loss_bytes: 8}\n";

TEST(Framework, GivesDefaultsThatTheScenariosOwnKeysOverride) {
  const ReadResult read = ReadSmall(Small("zero:\n  stage: 3\n",
                                          "framework: tiny\nfsdp: {no_sync: false}\n"
                                          "compute: {loss_bytes: 9}\n"),
                                    {}, Framework(kBoth));

  EXPECT_EQ(read.scenario.framework, "tiny");
  EXPECT_FALSE(read.scenario.compute.causal_skip);
  EXPECT_EQ(read.scenario.compute.loss_bytes, 9);
  ASSERT_TRUE(read.scenario.fsdp.has_value());
  EXPECT_EQ(read.scenario.fsdp->backward_prefetch, BackwardPrefetch::kPost);
  EXPECT_FALSE(read.scenario.fsdp->no_sync);
}

TEST(Framework, LeavesTheOtherStrategyOut) {
  const ReadResult read = ReadSmall("framework: tiny\n" + SmallScenario(), {}, Framework(kBoth));

  EXPECT_FALSE(read.scenario.fsdp.has_value());
  EXPECT_EQ(read.scenario.zero.reduce_bucket_size, 1000);
}

TEST(Framework, GivesAStrategyToAScenarioThatHasNone) {
  const ReadResult read = ReadSmall(Small("zero:\n  stage: 3\n", "framework: tiny\n"), {},
                                    Framework("fsdp: {sharding: shard_grad_op}\n"));

  ASSERT_TRUE(read.scenario.fsdp.has_value());
  EXPECT_EQ(read.scenario.fsdp->sharding, FsdpStrategy::kShardGradOp);
}

TEST(Framework, MayBeSetFromTheCommandLine) {
  const ReadResult read = ReadSmall(SmallScenario(), {{"framework", "tiny"}}, Framework(kBoth));

  EXPECT_EQ(read.scenario.compute.loss_bytes, 8);
}

TEST(Framework, WarnsOfNoDefaultWithoutEffect) {
  const ReadResult read = ReadSmall("framework: tiny\n" + SmallScenario(), {},
                                    Framework("compute: {recompute_skips_last: true}\n"));

  EXPECT_THAT(read.warnings, IsEmpty());
}

TEST(Framework, ThatIsNotThereIsTheOnlyProblem) {
  EXPECT_EQ(ErrorOf(Small("zero:\n  stage: 3\n", "framework: tyni\n"), {}, Framework(kBoth)),
            "s.yaml:9:12: error: framework: no framework \"tyni\" in the catalog; did you mean "
            "\"tiny\"?\n"
            "  framework: tyni\n"
            "             ^\n");
}

TEST(Framework, HasNothingToSayOfClustersAndModels) {
  EXPECT_EQ(ErrorOf("framework: tiny\n" + SmallScenario(), {},
                    Framework("compute: {loss_bytes: 8}\nmodel: {layers: 3}\n")),
            "cat/frameworks/tiny.yaml:2:1: error: model: not a framework's to say; expected "
            "compute, fsdp, zero, collectives\n"
            "  model: {layers: 3}\n"
            "  ^\n");
}

TEST(Framework, HasItsMistakesAtTheirOwnPlace) {
  EXPECT_THAT(
      ErrorOf("framework: tiny\n" + SmallScenario(), {}, Framework("compute: {los_bytes: 8}\n")),
      HasSubstr("cat/frameworks/tiny.yaml:1:11: error: compute.los_bytes: no such key; did "
                "you mean \"loss_bytes\"?"));
}

}  // namespace
}  // namespace zerosim
