#include "kernels/executor/schedule.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

namespace zerosim::kernels::executor {
namespace {

// The order in which `num_threads` ready threads are taken.
std::vector<int> TakenFrom(Schedule& schedule, int num_threads) {
  schedule.BeginBlock();
  for (int t = 0; t < num_threads; ++t) schedule.Push(t);
  std::vector<int> taken;
  taken.reserve(static_cast<std::size_t>(num_threads));
  for (int t = schedule.Pop(); t >= 0; t = schedule.Pop()) taken.push_back(t);
  return taken;
}

std::vector<int> Iota(int n) {
  std::vector<int> numbers(static_cast<std::size_t>(n));
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

TEST(Schedule, EachOrderTakesEachThreadOnce) {
  for (const int num_threads : {1, 31, 32, 33, 1000, 1024}) {
    Schedule schedule;
    schedule.BeginLaunch(Order::kForward, 1);
    const std::vector<int> forward = Iota(num_threads);
    EXPECT_EQ(TakenFrom(schedule, num_threads), forward);

    schedule.BeginLaunch(Order::kReverse, 1);
    std::vector<int> taken = TakenFrom(schedule, num_threads);
    EXPECT_EQ(taken, std::vector<int>(forward.rbegin(), forward.rend()));

    schedule.BeginLaunch(Order::kRandom, 1);
    taken = TakenFrom(schedule, num_threads);
    std::sort(taken.begin(), taken.end());
    EXPECT_EQ(taken, forward);
  }
}

TEST(Schedule, EqualSeedsGiveEqualOrdersAndOthersOthers) {
  Schedule schedule;
  schedule.BeginLaunch(Order::kRandom, 7);
  const std::vector<int> once = TakenFrom(schedule, 256);
  const std::vector<int> next_block = TakenFrom(schedule, 256);
  schedule.BeginLaunch(Order::kRandom, 7);
  EXPECT_EQ(TakenFrom(schedule, 256), once);
  schedule.BeginLaunch(Order::kRandom, 8);
  EXPECT_NE(TakenFrom(schedule, 256), once);
  EXPECT_NE(next_block, once);
}

// In some blocks a warp runs to its end before the next begins, in others warps take turns.
TEST(Schedule, StickinessDiffersFromBlockToBlock) {
  Schedule schedule;
  schedule.BeginLaunch(Order::kRandom, 1);
  std::vector<int> switches;
  switches.reserve(32);
  for (int block = 0; block < 32; ++block) {
    const std::vector<int> taken = TakenFrom(schedule, 1024);
    int count = 0;
    for (std::size_t i = 1; i < taken.size(); ++i) count += taken[i] / 32 != taken[i - 1] / 32;
    switches.push_back(count);
  }
  EXPECT_EQ(*std::min_element(switches.begin(), switches.end()), 31);
  EXPECT_GT(*std::max_element(switches.begin(), switches.end()), 900);
}

std::vector<std::uint64_t> BlocksOf(Order order, std::uint64_t seed, std::uint64_t first,
                                    std::uint64_t count) {
  std::vector<std::uint64_t> blocks;
  blocks.reserve(count);
  for (BlockSequence sequence(order, seed, first, count); !sequence.done();) {
    blocks.push_back(sequence.Next());
  }
  return blocks;
}

TEST(BlockSequence, HasEachBlockOnceInEveryOrder) {
  for (std::uint64_t count = 0; count < 40; ++count) {
    std::vector<std::uint64_t> forward(count);
    std::iota(forward.begin(), forward.end(), 100);
    EXPECT_EQ(BlocksOf(Order::kForward, 1, 100, count), forward);
    EXPECT_EQ(BlocksOf(Order::kReverse, 1, 100, count),
              std::vector<std::uint64_t>(forward.rbegin(), forward.rend()));
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      std::vector<std::uint64_t> random = BlocksOf(Order::kRandom, seed, 100, count);
      std::sort(random.begin(), random.end());
      EXPECT_EQ(random, forward) << "seed " << seed;
    }
  }
}

// The largest grid has 2147483647 * 65535 * 65535 blocks.
TEST(BlockSequence, DoesNotOverflow) {
  const std::uint64_t count = 2147483647ull * 65535 * 65535;
  for (const Order order : {Order::kForward, Order::kReverse, Order::kRandom}) {
    BlockSequence sequence(order, 3, 0, count);
    std::uint64_t before = sequence.Next();
    for (int i = 0; i < 1000; ++i) {
      const std::uint64_t block = sequence.Next();
      ASSERT_LT(block, count);
      ASSERT_NE(block, before);
      before = block;
    }
  }
}

}  // namespace
}  // namespace zerosim::kernels::executor
