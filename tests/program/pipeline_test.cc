#include "models/program/pipeline.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include <gtest/gtest.h>

namespace zerosim {
namespace {

std::string Text(const std::vector<Pass>& passes) {
  std::string text;
  for (const Pass& pass : passes) {
    text += (pass.backward ? 'B' : 'F') + std::to_string(pass.micro_batch);
    if (pass.chunk > 0) text += '\'';
    text += ' ';
  }
  return text;
}

TEST(PassesOfStage, IsOneForwardOneBackwardAfterTheWarmUp) {
  EXPECT_EQ(Text(PassesOfStage(0, 4, 6, 1)), "F0 F1 F2 F3 B0 F4 B1 F5 B2 B3 B4 B5 ");
  EXPECT_EQ(Text(PassesOfStage(3, 4, 6, 1)), "F0 B0 F1 B1 F2 B2 F3 B3 F4 B4 F5 B5 ");
  EXPECT_EQ(Text(PassesOfStage(0, 4, 2, 1)), "F0 F1 B0 B1 ");
  EXPECT_EQ(Text(PassesOfStage(0, 1, 2, 1)), "F0 B0 F1 B1 ");
}

// The figure of arXiv 2104.04473, section 2.2: two stages, two chunks each, four micro-batches.
TEST(PassesOfStage, GoesRoundTheLayersInRunsOfTheStages) {
  EXPECT_EQ(Text(PassesOfStage(1, 2, 4, 2)),
            "F0 F1 F0' B0' F1' B1' F2 B0 F3 B1 F2' B2' F3' B3' B2 B3 ");
  EXPECT_EQ(Text(PassesOfStage(0, 2, 4, 2)),
            "F0 F1 F0' F1' F2 B0' F3 B1' F2' B0 F3' B1 B2' B3' B2 B3 ");
}

struct Shape {
  int stages;
  int micro_batches;
  int chunks;
};

class PipelineTest : public testing::TestWithParam<Shape> {};

TEST_P(PipelineTest, RunsEveryPassOnceAndForwardFirst) {
  const auto [stages, micro_batches, chunks] = GetParam();
  for (int s = 0; s < stages; ++s) {
    const auto passes = PassesOfStage(s, stages, micro_batches, chunks);
    std::set<std::pair<int, int>> forward;
    std::set<std::pair<int, int>> backward;
    for (const Pass& pass : passes) {
      const std::pair<int, int> key{pass.micro_batch, pass.chunk};
      EXPECT_TRUE((pass.backward ? backward : forward).insert(key).second);
      EXPECT_TRUE(!pass.backward || forward.contains(key));
    }
    EXPECT_EQ(static_cast<int>(forward.size()), micro_batches * chunks);
    EXPECT_EQ(backward, forward);
  }
}

// What a stage holds activations of: at most the stages behind it and itself, in the plain form.
TEST_P(PipelineTest, KeepsFewMicroBatchesInFlight) {
  const auto [stages, micro_batches, chunks] = GetParam();
  if (chunks > 1) return;
  for (int s = 0; s < stages; ++s) {
    int flying = 0;
    int most = 0;
    for (const Pass& pass : PassesOfStage(s, stages, micro_batches, chunks)) {
      flying += pass.backward ? -1 : 1;
      most = std::max(most, flying);
    }
    EXPECT_EQ(most, std::min(micro_batches, stages - s));
  }
}

TEST_P(PipelineTest, NeverWaitsForItself) {
  const auto [stages, micro_batches, chunks] = GetParam();
  std::vector<std::vector<Pass>> order;
  for (int s = 0; s < stages; ++s) order.push_back(PassesOfStage(s, stages, micro_batches, chunks));
  std::vector<std::size_t> next(order.size(), 0);
  std::set<std::pair<int, int>> forward;  // virtual stage, micro-batch
  std::set<std::pair<int, int>> backward;
  bool any = true;
  while (any) {
    any = false;
    for (int s = 0; s < stages; ++s) {
      if (next[s] == order[s].size()) continue;
      const Pass& pass = order[s][next[s]];
      const int place = pass.chunk * stages + s;
      const int last = stages * chunks - 1;
      const bool ready = pass.backward
                             ? place == last || backward.contains({place + 1, pass.micro_batch})
                             : place == 0 || forward.contains({place - 1, pass.micro_batch});
      if (!ready) continue;
      (pass.backward ? backward : forward).insert({place, pass.micro_batch});
      ++next[s];
      any = true;
    }
  }
  for (int s = 0; s < stages; ++s) EXPECT_EQ(next[s], order[s].size()) << "stage " << s;
}

INSTANTIATE_TEST_SUITE_P(Shapes, PipelineTest,
                         testing::Values(Shape{1, 1, 1}, Shape{2, 1, 1}, Shape{4, 8, 1},
                                         Shape{8, 3, 1}, Shape{4, 8, 2}, Shape{3, 9, 4},
                                         Shape{8, 8, 2}, Shape{16, 64, 1}),
                         [](const auto& info) {
                           return std::to_string(info.param.stages) + "x" +
                                  std::to_string(info.param.micro_batches) + "x" +
                                  std::to_string(info.param.chunks);
                         });

}  // namespace
}  // namespace zerosim
