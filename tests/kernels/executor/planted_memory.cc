// The lines that a sanitizer must name are marked with a word in angle brackets.
#include <memory>
#include <numeric>

#include "kernels/portable.cuh"
#include "tests/kernels/executor/planted.h"

namespace zerosim::kernels {
namespace {

using executor::LaunchOptions;
using executor::LaunchResult;

constexpr int kThreads = 128;

// The barriers order the threads of a block, and must not order blocks.
__global__ void RaceBetweenBlocks(int* out) {
  __syncthreads();
  __syncwarp();
  if (threadIdx.x == 0) out[0] = 7;  // <between blocks>
  __syncthreads();
}

Outcome RunRaceBetweenBlocks(const LaunchOptions& options) {
  int out = 0;
  const LaunchResult result = executor::Launch(options, 4, 64, 0, RaceBetweenBlocks, &out);
  return {result.message, out == 7};
}

template <bool kBarrier>
__global__ void ReverseBlock(const int* in, int* out) {
  ZEROSIM_SHARED(int, values, kThreads);
  const int t = static_cast<int>(threadIdx.x);
  values[t] = in[t];  // <barrier write>
  if (kBarrier) __syncthreads();
  out[t] = values[kThreads - 1 - t];  // <barrier read>
}

template <bool kBarrier>
Outcome RunReverseBlock(const LaunchOptions& options) {
  int in[kThreads];
  int out[kThreads] = {};
  std::iota(in, in + kThreads, 100);
  const LaunchResult result =
      executor::Launch(options, 1, kThreads, 0, ReverseBlock<kBarrier>, in, out);
  bool right = true;
  for (int t = 0; t < kThreads; ++t) right = right && out[t] == in[kThreads - 1 - t];
  return {result.message, right};
}

// Sums a value of each warp, several times over; the barrier at the end of the loop keeps a warp
// from writing its next value before all have read this one.
template <bool kBarrier>
__global__ void SumInLoop(int* out) {
  ZEROSIM_SHARED(int, of_warp, kThreads / 32);
  const int warp = static_cast<int>(threadIdx.x) / 32;
  int sum = 0;
  for (int turn = 0; turn < 4; ++turn) {
    if (threadIdx.x % 32 == 0) of_warp[warp] = (turn + 1) * (warp + 1);  // <loop write>
    __syncthreads();
    for (int w = 0; w < kThreads / 32; ++w) sum += of_warp[w];  // <loop read>
    if (kBarrier) __syncthreads();
  }
  out[blockIdx.x * kThreads + threadIdx.x] = sum;
}

template <bool kBarrier>
Outcome RunSumInLoop(const LaunchOptions& options) {
  std::vector<int> out(4 * kThreads);
  const LaunchResult result =
      executor::Launch(options, 4, kThreads, 0, SumInLoop<kBarrier>, out.data());
  bool right = true;
  for (const int sum : out) right = right && sum == (1 + 2 + 3 + 4) * (1 + 2 + 3 + 4);
  return {result.message, right};
}

enum class Exchange { kSyncwarp, kShuffle, kNothing };

// Neighbours exchange values through shared memory. A shuffle makes lanes meet and orders no
// memory.
template <Exchange kExchange>
__global__ void SwapNeighbours(const int* in, int* out) {
  ZEROSIM_SHARED(int, values, 64);
  const int t = static_cast<int>(threadIdx.x);
  values[t] = in[t];  // <warp write>
  if (kExchange == Exchange::kSyncwarp) __syncwarp();
  if (kExchange == Exchange::kShuffle) __shfl_sync(0xffffffffu, t, 0);
  out[64 * blockIdx.x + threadIdx.x] = values[t ^ 1];  // <warp read>
}

template <Exchange kExchange, int kBlocks = 1>
Outcome RunSwapNeighbours(const LaunchOptions& options) {
  int in[64];
  std::vector<int> out(64 * kBlocks);
  std::iota(in, in + 64, 100);
  const LaunchResult result =
      executor::Launch(options, kBlocks, 64, 0, SwapNeighbours<kExchange>, in, out.data());
  bool right = true;
  for (std::size_t i = 0; i < out.size(); ++i) right = right && out[i] == in[i % 64 ^ 1];
  return {result.message, right};
}

// Each thread stores the same value, so that no result shows it.
__global__ void SameValueRace(float* scale) {
  scale[0] = 0.5f;  // <same value>
}

Outcome RunSameValueRace(const LaunchOptions& options) {
  float scale = 0;
  const LaunchResult result = executor::Launch(options, 1, 32, 0, SameValueRace, &scale);
  return {result.message, scale == 0.5f};
}

__global__ void PlainIncrement(int* count) {
  count[0] += 1;  // <increment>
}
__global__ void AtomicIncrement(int* count) {
  atomicAdd(count, 1);
}

template <bool kAtomic>
Outcome RunIncrement(const LaunchOptions& options) {
  int count = 0;
  const LaunchResult result =
      executor::Launch(options, 4, 32, 0, kAtomic ? AtomicIncrement : PlainIncrement, &count);
  return {result.message, count == 4 * 32};
}

// The last element is left out.
__global__ void UninitialisedShared(float* out) {
  ZEROSIM_SHARED(float, values, 32);
  if (threadIdx.x < 31) values[threadIdx.x] = 1;
  __syncthreads();
  out[threadIdx.x] = values[threadIdx.x];
}

Outcome RunUninitialisedShared(const LaunchOptions& options) {
  float out[32] = {};
  const LaunchResult result = executor::Launch(options, 1, 32, 0, UninitialisedShared, out);
  bool right = true;
  for (const float x : out) right = right && x == 1;
  return {result.message, right};
}

// Two arrays, so that one overruns into the other as it does on a GPU.
template <int kShift>
__global__ void ShiftShared(int* out) {
  ZEROSIM_SHARED(int, values, 32);
  ZEROSIM_SHARED(int, others, 32);
  int* const to = values;
  to[threadIdx.x + kShift] = 1;  // <shared overrun>
  others[threadIdx.x] = 2;
  __syncthreads();
  out[threadIdx.x] = others[threadIdx.x];
}

template <int kShift>
Outcome RunShiftShared(const LaunchOptions& options) {
  int out[32] = {};
  const LaunchResult result = executor::Launch(options, 1, 32, 0, ShiftShared<kShift>, out);
  bool right = true;
  for (const int x : out) right = right && x == 2;
  return {result.message, right};
}

__global__ void FillDynamic(int count, int* out) {
  ZEROSIM_DYNAMIC_SHARED(int, values);
  if (static_cast<int>(threadIdx.x) < count) values[threadIdx.x] = 3;  // <dynamic overrun>
  __syncthreads();
  out[threadIdx.x] = values[threadIdx.x % 31];
}

template <int kCount>
Outcome RunFillDynamic(const LaunchOptions& options) {
  int out[32] = {};
  const LaunchResult result =
      executor::Launch(options, 1, 32, 31 * sizeof(int), FillDynamic, kCount, out);
  bool right = true;
  for (const int x : out) right = right && x == 3;
  return {result.message, right};
}

__global__ void ReadTail(const float* in, int count, float* out) {
  if (static_cast<int>(threadIdx.x) < count) out[threadIdx.x] = __ldcs(in + threadIdx.x);  // <tail>
}

// Reads one element too many of a buffer that has 31.
Outcome RunReadTail(const LaunchOptions& options) {
  const std::unique_ptr<float[]> in(new float[31]());
  float out[32] = {};
  const LaunchResult result = executor::Launch(options, 1, 32, 0, ReadTail, in.get(), 32, out);
  return {result.message, out[30] == 0};
}

// A static array of bytes has the alignment of a byte, here and on a GPU.
__global__ void StoreVectorShared(unsigned* out) {
  ZEROSIM_SHARED(unsigned char, bytes, 64);
  auto* const words = reinterpret_cast<unsigned*>(bytes);
  words[threadIdx.x] = threadIdx.x;  // <shared alignment>
  out[threadIdx.x] = words[threadIdx.x];
}

Outcome RunStoreVectorShared(const LaunchOptions& options) {
  unsigned out[16] = {};
  const LaunchResult result = executor::Launch(options, 1, 16, 0, StoreVectorShared, out);
  return {result.message, out[15] == 15};
}

__global__ void SumOfBlock(int* out) {
  ZEROSIM_SHARED(int, values, 1024);
  const unsigned t = threadIdx.x;
  values[t] = static_cast<int>(t);
  for (unsigned half = 512; half > 0; half /= 2) {
    __syncthreads();
    if (t < half) values[t] += values[t + half];
  }
  if (t == 0) out[blockIdx.x] = values[0];
}

Outcome RunLargeBlock(const LaunchOptions& options) {
  int out[3] = {};
  const LaunchResult result = executor::Launch(options, 3, 1024, 0, SumOfBlock, out);
  return {result.message, out[0] == 1023 * 512 && out[1] == out[0] && out[2] == out[0]};
}

}  // namespace

std::vector<Planted> PlantedInMemory() {
  return {
      {"race_between_blocks", RunRaceBetweenBlocks},
      {"missing_barrier", RunReverseBlock<false>},
      {"missing_loop_barrier", RunSumInLoop<false>},
      {"missing_syncwarp", RunSwapNeighbours<Exchange::kNothing>},
      {"shuffle_for_syncwarp", RunSwapNeighbours<Exchange::kShuffle>},
      {"same_value_race", RunSameValueRace},
      {"plain_increment", RunIncrement<false>},
      {"uninitialised_shared", RunUninitialisedShared},
      {"shared_overrun", RunShiftShared<1>},
      {"dynamic_overrun", RunFillDynamic<32>},
      {"read_tail", RunReadTail},
      {"misaligned_shared", RunStoreVectorShared},
  };
}

std::vector<Planted> LargeControls() {
  return {
      // Under ThreadSanitizer addresses of shared memory come again.
      {"many_blocks", RunSwapNeighbours<Exchange::kSyncwarp, 2500>},
      {"large_block", RunLargeBlock},
  };
}

std::vector<Planted> Controls() {
  return {
      {"barrier", RunReverseBlock<true>},
      {"loop_barrier", RunSumInLoop<true>},
      {"syncwarp", RunSwapNeighbours<Exchange::kSyncwarp>},
      {"atomic_increment", RunIncrement<true>},
      {"shared_in_bounds", RunShiftShared<0>},
      {"dynamic_in_bounds", RunFillDynamic<31>},
  };
}

}  // namespace zerosim::kernels
