#include "kernels/executor/launch.h"

#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/portable.cuh"

namespace zerosim::kernels {
namespace {

using executor::LaunchOptions;
using executor::LaunchResult;
using executor::LaunchStatus;
using executor::Order;

__global__ void CountThreads(long long* count) {
  atomicAdd(count, 1);
}

LaunchResult Try(dim3 grid, dim3 block, std::size_t dynamic_shared = 0) {
  LaunchOptions options;
  options.max_blocks = 2;
  long long count = 0;
  const LaunchResult result =
      executor::Launch(options, grid, block, dynamic_shared, CountThreads, &count);
  EXPECT_TRUE(result.ok() || count == 0);
  return result;
}

TEST(Launch, TakesWhatCudaTakes) {
  for (const dim3 block : {dim3(1024), dim3(1, 1024), dim3(16, 1, 64)}) {
    EXPECT_EQ(Try(1, block).message, "");
  }
  EXPECT_EQ(Try(dim3(2147483647, 65535, 65535), 1).message, "");
  EXPECT_EQ(Try(1, 1, 227 * 1024).message, "");
}

TEST(Launch, RefusesBlocksThatCudaRefuses) {
  for (const dim3 block : {dim3(1025), dim3(0), dim3(512, 3), dim3(1, 1, 65), dim3(1, 2048, 1)}) {
    const LaunchResult result = Try(1, block);
    EXPECT_EQ(result.status, LaunchStatus::kInvalidConfiguration);
    EXPECT_EQ(result.message, "a block of (" + std::to_string(block.x) + "," +
                                  std::to_string(block.y) + "," + std::to_string(block.z) +
                                  ") threads; 1 to 1024 are allowed, of which 64 in z");
  }
}

TEST(Launch, RefusesGridsThatCudaRefuses) {
  for (const dim3 grid :
       {dim3(0), dim3(1, 0), dim3(1, 1, 0), dim3(2147483648u), dim3(1, 65536), dim3(1, 1, 65536)}) {
    const LaunchResult result = Try(grid, 32);
    EXPECT_EQ(result.status, LaunchStatus::kInvalidConfiguration);
    EXPECT_EQ(result.message, "a grid of (" + std::to_string(grid.x) + "," +
                                  std::to_string(grid.y) + "," + std::to_string(grid.z) +
                                  ") blocks; 1 to 2147483647 are allowed in x, 1 to 65535 in y "
                                  "and z");
  }
}

TEST(Launch, RefusesMoreSharedMemoryThanABlockHas) {
  const LaunchResult result = Try(1, 1, 227 * 1024 + 1);
  EXPECT_EQ(result.status, LaunchStatus::kInvalidConfiguration);
  EXPECT_EQ(result.message, "232449 bytes of dynamic shared memory; 232448 are allowed");
}

__global__ void LaunchAnother(LaunchResult* result, long long* count) {
  *result = executor::Launch(LaunchOptions(), 1, 1, 0, CountThreads, count);
}

TEST(Launch, RefusesLaunchesFromKernels) {
  LaunchResult inner;
  long long count = 0;
  const LaunchResult outer =
      executor::Launch(LaunchOptions(), 1, 1, 0, LaunchAnother, &inner, &count);
  EXPECT_EQ(outer.message, "");
  EXPECT_EQ(inner.message, "a kernel cannot launch a kernel");
  EXPECT_EQ(count, 0);
}

__global__ void NoteBlock(unsigned* x, unsigned* y, unsigned* z, int* count) {
  const int i = atomicAdd(count, 1);
  x[i] = blockIdx.x;
  y[i] = blockIdx.y;
  z[i] = blockIdx.z;
}

// Three blocks of a grid of 2^33 elements and more: the last of one row and the first of the next.
TEST(Launch, RunsAFewBlocksOfALargeGrid) {
  LaunchOptions options;
  options.first_block = 2ull * 2147483647 - 2;
  options.max_blocks = 3;
  unsigned x[3], y[3], z[3];
  int count = 0;

  const LaunchResult result =
      executor::Launch(options, dim3(2147483647, 2, 2), 1, 0, NoteBlock, x, y, z, &count);

  EXPECT_EQ(result.message, "");
  EXPECT_EQ(std::vector<unsigned>(x, x + 3), (std::vector<unsigned>{2147483645, 2147483646, 0}));
  EXPECT_EQ(std::vector<unsigned>(y, y + 3), (std::vector<unsigned>{1, 1, 0}));
  EXPECT_EQ(std::vector<unsigned>(z, z + 3), (std::vector<unsigned>{0, 0, 1}));
}

TEST(Launch, ARangePastTheGridRunsNothing) {
  LaunchOptions options;
  options.first_block = 10;
  long long count = 0;
  EXPECT_TRUE(executor::Launch(options, 10, 32, 0, CountThreads, &count).ok());
  EXPECT_EQ(count, 0);
}

__global__ void SyncTwice(int*) {
  __syncthreads();
  __syncwarp();
}

TEST(Launch, CountsWhatHappened) {
  int unused = 0;
  const LaunchResult result = executor::Launch(LaunchOptions(), 5, 64, 0, SyncTwice, &unused);
  EXPECT_EQ(result.counts.barriers, 5u);
  EXPECT_EQ(result.counts.warp_operations, 5u * 64);
  EXPECT_GE(result.counts.switches, 5u * 2 * 63);
}

TEST(Launch, RemembersTheLastResultAndOptionsOfAHostThread) {
  EXPECT_FALSE(Try(0, 1).ok());
  executor::OptionsOfThread().order = Order::kReverse;

  std::thread([] {
    EXPECT_TRUE(executor::LastResult().ok());
    EXPECT_EQ(executor::OptionsOfThread().order, Order::kForward);
  }).join();

  EXPECT_EQ(executor::LastResult().message,
            "a grid of (0,1,1) blocks; 1 to 2147483647 are allowed in x, 1 to 65535 in y and z");
  EXPECT_EQ(executor::OptionsOfThread().order, Order::kReverse);
}

// Fibres belong to the host thread that made them.
TEST(Launch, HostThreadsLaunchAtOnce) {
  long long counts[4] = {};
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (long long& count : counts) {
    threads.emplace_back([&count] {
      for (int i = 0; i < 10; ++i) {
        EXPECT_TRUE(executor::Launch(LaunchOptions(), 20, 96, 0, CountThreads, &count).ok());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const long long count : counts) EXPECT_EQ(count, 10 * 20 * 96);
}

}  // namespace
}  // namespace zerosim::kernels
