#include "models/parallel/stages.h"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace zerosim {
namespace {

using testing::ElementsAre;

ParallelSpec Stages(int pipeline, int virtual_stages = 1, std::vector<int> given = {}) {
  ParallelSpec parallel;
  parallel.pipeline = pipeline;
  parallel.virtual_stages = virtual_stages;
  parallel.layers_per_stage = std::move(given);
  return parallel;
}

TEST(LayersOfRuns, AreEqualWhereRunsDivideTheLayers) {
  EXPECT_THAT(LayersOfRuns(8, Stages(4)), ElementsAre(2, 2, 2, 2));
  EXPECT_THAT(LayersOfRuns(8, Stages(2, 2)), ElementsAre(2, 2, 2, 2));
  EXPECT_THAT(LayersOfRuns(5, Stages(1)), ElementsAre(5));
}

// arXiv 2407.21783, section 3.3.2: one layer less on the first and on the last stage, so that with
// runs of one layer the first holds the embedding alone and the last the head.
TEST(LayersOfRuns, AreThoseOfLlama3) {
  std::vector<int> expected(16, 8);
  expected.front() = expected.back() = 7;
  EXPECT_EQ(LayersOfRuns(126, Stages(16)), expected);
  std::vector<int> runs(128, 1);
  runs.front() = runs.back() = 0;
  EXPECT_EQ(LayersOfRuns(126, Stages(16, 8)), runs);
}

// arXiv 2210.02414: 9 x 8 - 2 layers.
TEST(LayersOfRuns, AreThoseOfGlm130b) {
  EXPECT_THAT(LayersOfRuns(70, Stages(8)), ElementsAre(8, 9, 9, 9, 9, 9, 9, 8));
}

// What torchtitan's generate_llm_fqn_per_model_part gives by hand: 32 + 2 on 5 are 6, and 4 left.
TEST(LayersOfRuns, GiveWhatIsLeftToTheFirst) {
  EXPECT_THAT(LayersOfRuns(32, Stages(5)), ElementsAre(6, 7, 7, 7, 5));
}

TEST(LayersOfRuns, AddUpAndDifferByOneWithTheEndsCounted) {
  for (int layers = 1; layers <= 40; ++layers) {
    for (int runs = 1; runs <= MostRuns(layers); ++runs) {
      std::vector<int> held = LayersOfRuns(layers, Stages(runs));
      EXPECT_EQ(static_cast<int>(held.size()), runs);
      EXPECT_EQ(std::accumulate(held.begin(), held.end(), 0), layers);
      EXPECT_GE(*std::min_element(held.begin(), held.end()), 0);
      if (layers % runs == 0) {
        EXPECT_EQ(held, std::vector<int>(runs, layers / runs));
        continue;
      }
      ++held.front();
      ++held.back();
      const auto [least, most] = std::minmax_element(held.begin(), held.end());
      EXPECT_LE(*most - *least, 1) << layers << " on " << runs;
      EXPECT_GE(*least, 1);
    }
    EXPECT_THROW(LayersOfRuns(layers, Stages(MostRuns(layers) + 1)), std::invalid_argument);
  }
}

TEST(LayersOfRuns, AreThoseThatAreGiven) {
  EXPECT_THAT(LayersOfRuns(6, Stages(4, 1, {0, 5, 1, 0})), ElementsAre(0, 5, 1, 0));
  EXPECT_THROW(LayersOfRuns(6, Stages(3, 1, {3, 3})), std::invalid_argument);
  EXPECT_THROW(LayersOfRuns(6, Stages(3, 1, {2, 2, 3})), std::invalid_argument);
  EXPECT_THROW(LayersOfRuns(6, Stages(3, 1, {3, 0, 3})), std::invalid_argument);
}

TEST(RunOfLayers, CountsThroughTheRuns) {
  EXPECT_THAT(RunOfLayers(4, Stages(2, 3)), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(RunOfLayers(5, Stages(3, 1, {1, 3, 1})), ElementsAre(0, 1, 1, 1, 2));
}

}  // namespace
}  // namespace zerosim
