// What portable.cuh says of threads: each word against its definition, in every order.
#include <algorithm>
#include <climits>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/executor/launch.h"
#include "kernels/portable.cuh"
#include "tests/kernels/executor/orders.h"

namespace zerosim::kernels {
namespace {

using executor::LaunchOptions;
using executor::LaunchResult;
using executor::Order;

constexpr int kSeeds = 3;

__global__ void Coordinates(int* times, unsigned* sizes) {
  const unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  const unsigned thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  const unsigned threads = blockDim.x * blockDim.y * blockDim.z;
  atomicAdd(&times[block * threads + thread], 1);
  if (block == 0 && thread == 0) {
    const unsigned all[] = {gridDim.x,  gridDim.y,  gridDim.z,         blockDim.x,
                            blockDim.y, blockDim.z, unsigned{warpSize}};
    for (int i = 0; i < 7; ++i) sizes[i] = all[i];
  }
}

TEST(Words, EachThreadOfEachBlockRunsOnce) {
  for (const LaunchOptions& options : AllOrders(kSeeds)) {
    std::vector<int> times(3 * 2 * 5 * 7 * 3 * 2);
    unsigned sizes[7];

    const LaunchResult result = executor::Launch(options, dim3(3, 2, 5), dim3(7, 3, 2), 0,
                                                 Coordinates, times.data(), sizes);

    EXPECT_EQ(result.message, "");
    EXPECT_EQ(times, std::vector<int>(times.size(), 1));
    EXPECT_EQ(std::vector<unsigned>(sizes, sizes + 7),
              (std::vector<unsigned>{3, 2, 5, 7, 3, 2, 32}));
  }
}

enum class Kind { kIndex, kXor, kUp, kDown };

template <Kind kKind>
__global__ void ShuffleOf(int by, int width, long long* out) {
  const long long mine = 1000 + threadIdx.x;
  const auto distance = static_cast<unsigned>(by);
  long long got = 0;
  if (kKind == Kind::kIndex) got = __shfl_sync(0xffffffffu, mine, by, width);
  if (kKind == Kind::kXor) got = __shfl_xor_sync(0xffffffffu, mine, by, width);
  if (kKind == Kind::kUp) got = __shfl_up_sync(0xffffffffu, mine, distance, width);
  if (kKind == Kind::kDown) got = __shfl_down_sync(0xffffffffu, mine, distance, width);
  out[threadIdx.x] = got;
}

// The source lane by PTX's pseudocode of shfl.sync, with c as CUDA's headers make it of the width.
int SourceByPtx(Kind kind, int lane, int by, int width) {
  const int segment_mask = 32 - width;
  const int clamp = kind == Kind::kUp ? 0 : 31;
  const int max_lane = (lane & segment_mask) | (clamp & ~segment_mask);
  const int min_lane = lane & segment_mask;
  int source = lane;
  bool in_range = true;
  switch (kind) {
    case Kind::kUp:
      source = lane - by, in_range = source >= max_lane;
      break;
    case Kind::kDown:
      source = lane + by, in_range = source <= max_lane;
      break;
    case Kind::kXor:
      source = lane ^ by, in_range = source <= max_lane;
      break;
    case Kind::kIndex:
      source = min_lane | (by & ~segment_mask);
      break;
  }
  return in_range ? source : lane;
}

template <Kind kKind>
void ExpectShuffles() {
  for (const int width : {1, 2, 4, 8, 16, 32}) {
    for (int by = 0; by < 32; ++by) {
      LaunchOptions options;
      options.order = by % 2 == 0 ? Order::kRandom : Order::kReverse;
      long long out[64] = {};
      const LaunchResult result =
          executor::Launch(options, 1, 64, 0, ShuffleOf<kKind>, by, width, out);
      ASSERT_EQ(result.message, "");
      for (int t = 0; t < 64; ++t) {
        ASSERT_EQ(out[t], 1000 + t / 32 * 32 + SourceByPtx(kKind, t % 32, by, width))
            << "thread " << t << ", width " << width << ", by " << by;
      }
    }
  }
}

TEST(Words, ShufflesReadTheLaneThatPtxSays) {
  ExpectShuffles<Kind::kIndex>();
  ExpectShuffles<Kind::kXor>();
  ExpectShuffles<Kind::kUp>();
  ExpectShuffles<Kind::kDown>();
}

// A lane goes on to other masks, down to its own, while others have not yet read what it brought to
// the last.
__global__ void ManyMasks(int* out) {
  const int lane = static_cast<int>(threadIdx.x);
  int sum = 0;
  for (int turn = 0; turn < 3; ++turn) {
    sum += __shfl_xor_sync(0xffffffffu, lane + turn, 31);
    for (int width = 16; width > 0; width /= 2) {
      const unsigned lanes = (1u << width) - 1;
      const unsigned mask = lanes << (lane & ~(width - 1));
      sum += 100 * __shfl_sync(mask, lane, 0, width);
      sum += 10000 * __shfl_sync(mask, 1, 0, width);
    }
  }
  out[lane] = sum;
}

TEST(Words, LanesMeetUnderAnyNumberOfMasks) {
  for (const LaunchOptions& options : AllOrders(kSeeds)) {
    int out[32];
    ASSERT_EQ(executor::Launch(options, 1, 32, 0, ManyMasks, out).message, "");
    for (int lane = 0; lane < 32; ++lane) {
      int first_lanes = 0;
      for (int width = 16; width > 0; width /= 2) first_lanes += lane & ~(width - 1);
      EXPECT_EQ(out[lane], 3 * (31 - lane) + 3 + 100 * 3 * first_lanes + 10000 * 3 * 5) << lane;
    }
  }
}

// Halves of the warp vote apart, and thread 40 is alone in a last, partial warp with its like.
__global__ void Votes(unsigned* ballots, int* any, int* all) {
  const unsigned lane = threadIdx.x % 32;
  const unsigned half = lane < 16 ? 0x0000ffffu : 0xffff0000u;
  const bool yes = lane % 3 == 0;
  ballots[threadIdx.x] = __ballot_sync(half, yes);
  any[threadIdx.x] = __any_sync(0xffffffffu, threadIdx.x == 40);
  all[threadIdx.x] = __all_sync(0xffffffffu, threadIdx.x < 40);
}

TEST(Words, VotesCountTheLanesOfTheMask) {
  constexpr int kThreads = 44;
  for (const LaunchOptions& options : AllOrders(kSeeds)) {
    unsigned ballots[kThreads];
    int any[kThreads];
    int all[kThreads];
    ASSERT_EQ(executor::Launch(options, 1, kThreads, 0, Votes, ballots, any, all).message, "");
    const unsigned thirds = 0x49249249;
    for (int t = 0; t < kThreads; ++t) {
      const unsigned half = t % 32 < 16 ? 0x0000ffffu : 0xffff0000u;
      const unsigned existing = t < 32 ? 0xffffffffu : 0xfffu;
      EXPECT_EQ(ballots[t], thirds & half & existing) << t;
      EXPECT_EQ(any[t], t < 32 ? 0 : 1) << t;
      EXPECT_EQ(all[t], t < 32 ? 1 : 0) << t;
    }
  }
}

__global__ void Reductions(unsigned* out) {
  const unsigned x = (threadIdx.x + 1) * 0x9e3779b9u;
  const unsigned mask = threadIdx.x % 2 == 0 ? 0x55555555u : 0xaaaaaaaau;
  unsigned* const mine = out + 7 * threadIdx.x;
  mine[0] = __reduce_add_sync(mask, x);
  mine[1] = __reduce_min_sync(mask, x);
  mine[2] = __reduce_max_sync(mask, x);
  mine[3] = __reduce_and_sync(mask, x);
  mine[4] = __reduce_or_sync(mask, x);
  mine[5] = __reduce_xor_sync(mask, x);
  mine[6] = static_cast<unsigned>(__reduce_min_sync(mask, static_cast<int>(x)));
}

TEST(Words, ReductionsFoldTheLanesOfTheMask) {
  for (const LaunchOptions& options : AllOrders(kSeeds)) {
    std::vector<unsigned> out(7 * 32);
    ASSERT_EQ(executor::Launch(options, 1, 32, 0, Reductions, out.data()).message, "");
    for (unsigned t = 0; t < 32; ++t) {
      unsigned sum = 0, low = ~0u, high = 0, both = ~0u, either = 0, odd = 0;
      int least = INT_MAX;
      for (unsigned i = t % 2; i < 32; i += 2) {
        const unsigned x = (i + 1) * 0x9e3779b9u;
        sum += x;
        low = std::min(low, x);
        high = std::max(high, x);
        both &= x;
        either |= x;
        odd ^= x;
        least = std::min(least, static_cast<int>(x));
      }
      const std::vector<unsigned> expected = {
          sum, low, high, both, either, odd, static_cast<unsigned>(least)};
      EXPECT_EQ(std::vector<unsigned>(&out[7 * t], &out[7 * t] + 7), expected) << t;
    }
  }
}

// Threads past 100 have exited: they are neither waited for nor counted.
__global__ void CountingBarriers(int* out) {
  if (threadIdx.x >= 100) return;
  int* const mine = out + 5 * threadIdx.x;
  mine[0] = __syncthreads_count(threadIdx.x % 4 == 0);
  mine[1] = __syncthreads_or(threadIdx.x == 99);
  mine[2] = __syncthreads_or(threadIdx.x == 101);
  mine[3] = __syncthreads_and(threadIdx.x < 100);
  mine[4] = __syncthreads_and(threadIdx.x < 99);
}

TEST(Words, BarriersCountThePredicatesOfThoseWhoCome) {
  for (const LaunchOptions& options : AllOrders(kSeeds)) {
    std::vector<int> out(5 * 100);
    const LaunchResult result = executor::Launch(options, 1, 128, 0, CountingBarriers, out.data());
    ASSERT_EQ(result.message, "");
    EXPECT_EQ(result.counts.barriers, 5u);
    for (int t = 0; t < 100; ++t) {
      EXPECT_EQ(std::vector<int>(&out[5 * t], &out[5 * t] + 5), (std::vector<int>{25, 1, 0, 1, 0}))
          << t;
    }
  }
}

}  // namespace
}  // namespace zerosim::kernels
