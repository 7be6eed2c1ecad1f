// What the schedules alone catch, without a sanitizer.
#include <gtest/gtest.h>

#include "tests/kernels/executor/marks.h"
#include "tests/kernels/executor/orders.h"
#include "tests/kernels/executor/planted.h"

namespace zerosim::kernels {
namespace {

using executor::LaunchOptions;
using executor::Order;

constexpr int kSeeds = 20;

// A wrong result shows a fault of memory; launch.h says which orders give one.
struct Wrong {
  const char* name;
  bool forward;
  bool reverse;
  int at_least;  // of 20 random orders
  int at_most;
};

class OfMemory : public testing::TestWithParam<Wrong> {};

TEST_P(OfMemory, GivesWrongResultsInTheOrdersThatShowIt) {
  const Wrong& expected = GetParam();
  const Planted planted = PlantedOf(expected.name);
  LaunchOptions forward;
  LaunchOptions reverse;
  reverse.order = Order::kReverse;

  EXPECT_EQ(!planted.run(forward).right, expected.forward);
  EXPECT_EQ(!planted.run(reverse).right, expected.reverse);
  int wrong = 0;
  for (const LaunchOptions& options : RandomOrders(kSeeds)) {
    const Outcome outcome = planted.run(options);
    EXPECT_EQ(outcome.message, "") << Trace(options);
    wrong += outcome.right ? 0 : 1;
  }
  EXPECT_GE(wrong, expected.at_least);
  EXPECT_LE(wrong, expected.at_most);
}

INSTANTIATE_TEST_SUITE_P(Planted, OfMemory,
                         testing::Values(Wrong{"missing_barrier", true, true, 20, 20},
                                         Wrong{"missing_loop_barrier", true, true, 15, 20},
                                         Wrong{"missing_syncwarp", true, true, 20, 20},
                                         Wrong{"uninitialised_shared", true, true, 20, 20},
                                         // Only ThreadSanitizer finds these:
                                         Wrong{"race_between_blocks", false, false, 0, 0},
                                         Wrong{"shuffle_for_syncwarp", false, false, 0, 0},
                                         Wrong{"same_value_race", false, false, 0, 0},
                                         Wrong{"plain_increment", false, false, 0, 0}),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(Controls, RunCleanInEveryOrder) {
  for (const Planted& control : Controls()) {
    for (const LaunchOptions& options : AllOrders(kSeeds)) {
      const Outcome outcome = control.run(options);
      EXPECT_EQ(outcome.message, "") << control.name << ", " << Trace(options);
      EXPECT_TRUE(outcome.right) << control.name << ", " << Trace(options);
    }
  }
}

TEST(Controls, LargeOnesRunClean) {
  for (const Planted& control : LargeControls()) {
    const Outcome outcome = control.run(LaunchOptions());
    EXPECT_EQ(outcome.message, "") << control.name;
    EXPECT_TRUE(outcome.right) << control.name;
  }
}

// Returns the place of a mark in planted_rules.cc.
std::string At(const std::string& mark) {
  return PlaceOf("planted_rules.cc", mark);
}

std::string MessageOf(const std::string& name) {
  return PlantedOf(name).run(LaunchOptions()).message;
}

TEST(Rules, ABarrierIsOneForAllThreads) {
  EXPECT_EQ(MessageOf("divergent_barrier"),
            At("else") +
                ": __syncthreads: thread (16,0,0) of block (0,0,0): thread (0,0,0) waits in "
                "__syncthreads at " +
                At("then") + "; all threads must meet at the same barrier");
}

TEST(Rules, AMaskNamesNoLaneThatHasExited) {
  EXPECT_EQ(
      MessageOf("shuffle_with_exited"),
      At("exited") +
          ": __shfl_xor_sync: thread (0,0,0) of block (0,0,0): mask 0xffffffff names lane 16, "
          "which has exited");
}

TEST(Rules, AMaskNamesNoLaneThatHadExitedBefore) {
  LaunchOptions reverse;
  reverse.order = Order::kReverse;
  EXPECT_EQ(
      PlantedOf("shuffle_with_exited").run(reverse).message,
      At("exited") +
          ": __shfl_xor_sync: thread (15,0,0) of block (0,0,0): mask 0xffffffff names lane 16, "
          "which has exited");
}

TEST(Rules, AMaskOfLanesThatNeverComeIsADeadlock) {
  EXPECT_EQ(
      MessageOf("mask_of_absent"),
      "deadlock in block (0,0,0): 0 of 32 threads have exited; 16, of which the first is thread "
      "(0,0,0), wait in __shfl_down_sync at " +
          At("absent") +
          " with mask 0xffffffff; 16, of which the first is thread (16,0,0), wait in "
          "__syncthreads at " +
          At("absent barrier"));
}

TEST(Rules, MasksThatOverlapAreADeadlock) {
  EXPECT_EQ(
      MessageOf("overlapping_masks"),
      "deadlock in block (0,0,0): 29 of 32 threads have exited; 1, of which the first is thread "
      "(0,0,0), waits in __syncwarp at " +
          At("mask 3") +
          " with mask 0x00000003; 1, of which the first is thread (1,0,0), waits in "
          "__syncwarp at " +
          At("mask 6") +
          " with mask 0x00000006; 1, of which the first is thread (2,0,0), waits in "
          "__syncwarp at " +
          At("mask 5") + " with mask 0x00000005");
}

TEST(Rules, AMaskNamesItsCaller) {
  EXPECT_EQ(
      MessageOf("mask_without_caller"),
      At("caller") +
          ": __shfl_sync: thread (16,0,0) of block (0,0,0): mask 0x0000ffff does not name the "
          "caller, lane 16");
}

TEST(Rules, LanesOfAMaskMeetInOneOperation) {
  EXPECT_EQ(MessageOf("different_operations"),
            At("syncwarp") +
                ": __syncwarp: thread (1,0,0) of block (0,0,0): lane 0 of mask 0xffffffff waits in "
                "__ballot_sync at " +
                At("vote") + "; all lanes of a mask must meet in the same operation");
}

TEST(Rules, AShuffleReadsALaneOfItsMask) {
  EXPECT_EQ(MessageOf("read_outside_mask"),
            At("outside") +
                ": __shfl_sync: thread (1,0,0) of block (0,0,0): reads lane 2, which its mask does "
                "not name");
}

TEST(Rules, AShuffleReadsALaneThatTheBlockHas) {
  EXPECT_EQ(MessageOf("read_outside_block"),
            At("no lane") +
                ": __shfl_down_sync: thread (11,0,0) of block (0,0,0): reads lane 19, which the "
                "block does not have");
}

TEST(Rules, TheWidthOfAShuffleIsAPowerOfTwo) {
  EXPECT_EQ(
      MessageOf("odd_width"),
      At("width") +
          ": __shfl_xor_sync: thread (0,0,0) of block (0,0,0): width 12 is not a power of two "
          "from 1 to 32");
}

TEST(Rules, SharedMemoryEnds) {
  EXPECT_EQ(MessageOf("too_much_shared"),
            At("exhausted") +
                ": ZEROSIM_SHARED: thread (0,0,0) of block (0,0,0): 45060 bytes beside 4096 of "
                "static and 0 of dynamic shared memory; a block has 49152 of static, in at most 64 "
                "arrays, and 232448 in all");
}

TEST(Rules, VectorsAreAligned) {
  EXPECT_EQ(
      MessageOf("misaligned_store"),
      At("vector store") +
          ": __stcs: thread (0,0,0) of block (0,0,0): the address is 4 more than a multiple of 16");
  EXPECT_EQ(
      MessageOf("misaligned_load"),
      At("vector load") +
          ": __ldg: thread (0,0,0) of block (0,0,0): the address is 4 more than a multiple of 8");
}

TEST(Rules, AreFoundBrokenInEveryOrder) {
  for (const Planted& planted : PlantedInRules()) {
    for (const LaunchOptions& options : AllOrders(kSeeds)) {
      EXPECT_NE(planted.run(options).message, "") << planted.name << ", " << Trace(options);
    }
  }
}

// Fibres that a fault left half-way are not used again.
TEST(Rules, ALaunchAfterAFaultIsClean) {
  EXPECT_NE(MessageOf("mask_of_absent"), "");

  const Outcome after = PlantedOf("loop_barrier").run(LaunchOptions());
  EXPECT_EQ(after.message, "");
  EXPECT_TRUE(after.right);
}

}  // namespace
}  // namespace zerosim::kernels
