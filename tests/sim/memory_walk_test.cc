#include "sim/memory_walk.h"

#include <cstddef>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

namespace zerosim {
namespace {

StaticMemory Always() {
  StaticMemory always;
  always.parameters = Bytes::Count(100);
  always.gradients = Bytes::Count(20);
  always.optimizer = Bytes::Count(300);
  always.buffers = Bytes::Count(7);
  always.context = Bytes::Count(1000);
  return always;
}

Bytes TermOf(const MemoryByTerm& terms, MemoryTerm term) {
  return terms[static_cast<std::size_t>(term)];
}

TEST(WalkMemory, WithoutEventsIsWhatIsAlwaysThere) {
  const MemoryWalk walk = WalkMemory({}, Always());

  EXPECT_EQ(walk.peak, Bytes::Count(1427));
  EXPECT_EQ(walk.after_step, Bytes::Count(427));
  EXPECT_TRUE(walk.totals.empty());
}

TEST(WalkMemory, FindsTheFirstInstantOfThePeakAndItsTerms) {
  StepProgram program;
  program.memory = {
      {OpId{3}, MemoryTerm::kLiveParameters, Bytes::Count(50)},
      {OpId{5}, MemoryTerm::kActivations, Bytes::Count(30), OpId{7}},  // 1507: the peak
      {OpId{8}, MemoryTerm::kLiveParameters, Bytes::Count(-50)},
      {OpId{9}, MemoryTerm::kLogits, Bytes::Count(50)},  // 1507 again
      {OpId{9}, MemoryTerm::kLogits, Bytes::Count(-50)},
      {OpId{11}, MemoryTerm::kActivations, Bytes::Count(-25)},
  };

  const MemoryWalk walk = WalkMemory(program, Always());

  const std::int64_t totals[] = {1477, 1507, 1457, 1507, 1457, 1432};
  ASSERT_EQ(walk.totals.size(), 6u);
  for (std::size_t i = 0; i < 6; ++i) EXPECT_EQ(walk.totals[i], Bytes::Count(totals[i])) << i;
  EXPECT_EQ(walk.peak, Bytes::Count(1507));
  EXPECT_EQ(walk.peak_op, OpId{5});
  EXPECT_EQ(walk.peak_next, OpId{7});
  EXPECT_EQ(TotalOf(walk.peak_terms), walk.peak);
  EXPECT_EQ(TermOf(walk.peak_terms, MemoryTerm::kLiveParameters), Bytes::Count(50));
  EXPECT_EQ(TermOf(walk.peak_terms, MemoryTerm::kActivations), Bytes::Count(30));
  EXPECT_EQ(TermOf(walk.peak_terms, MemoryTerm::kLogits), Bytes());
  EXPECT_EQ(TermOf(walk.peak_terms, MemoryTerm::kParameters), Bytes::Count(100));
  EXPECT_EQ(TermOf(walk.peak_terms, MemoryTerm::kGradients), Bytes::Count(20));
  EXPECT_EQ(TermOf(walk.peak_terms, MemoryTerm::kOptimizer), Bytes::Count(300));
  EXPECT_EQ(TermOf(walk.peak_terms, MemoryTerm::kBuffers), Bytes::Count(7));
  EXPECT_EQ(TermOf(walk.peak_terms, MemoryTerm::kContext), Bytes::Count(1000));
  // What is never freed stays: 5 bytes of activations.
  EXPECT_EQ(walk.after_step, Bytes::Count(432));
}

TEST(WalkMemory, OfAStepThatOnlyFreesPeaksBeforeIt) {
  StepProgram program;
  program.memory = {{OpId{3}, MemoryTerm::kGradients, Bytes::Count(-20)}};

  const MemoryWalk walk = WalkMemory(program, Always());

  EXPECT_EQ(walk.peak, Bytes::Count(1427));
  EXPECT_EQ(walk.peak_op, OpId{0});
  EXPECT_EQ(walk.after_step, Bytes::Count(407));
}

}  // namespace
}  // namespace zerosim
