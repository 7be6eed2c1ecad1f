// What portable.cuh says of memory: atomics, hinted accesses, shared arrays.
#include <cmath>
#include <cstdint>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/executor/launch.h"
#include "kernels/portable.cuh"
#include "tests/kernels/executor/orders.h"

namespace zerosim::kernels {
namespace {

using executor::LaunchOptions;
using executor::LaunchResult;

constexpr int kSeeds = 3;

__global__ void Atomics(int* added, int* before, unsigned* least, unsigned* most, float* sum) {
  const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  before[t] = atomicAdd(added, 3);
  atomicMin(least, 1000 - t);
  atomicMax(most, t);
  atomicAdd(sum, 1);
}

TEST(MemoryWords, AtomicsReturnWhatWasThere) {
  for (const LaunchOptions& options : AllOrders(kSeeds)) {
    int added = 0;
    int before[256];
    unsigned least = ~0u;
    unsigned most = 0;
    float sum = 0;
    ASSERT_EQ(
        executor::Launch(options, 4, 64, 0, Atomics, &added, before, &least, &most, &sum).message,
        "");
    EXPECT_EQ(added, 3 * 256);
    EXPECT_EQ(least, 1000u - 255);
    EXPECT_EQ(most, 255u);
    EXPECT_EQ(sum, 256);
    const std::set<int> distinct(before, before + 256);
    EXPECT_EQ(distinct.size(), 256u);
    EXPECT_EQ(*distinct.rbegin(), 3 * 255);
  }
}

template <class T>
__global__ void CopyHinted(const T* from, T* to) {
  __stcs(to, __ldg(from));
  __stcg(to + 1, __ldcs(from + 1));
  to[2] = __ldcg(from + 2);
}

template <class T>
void ExpectCopies() {
  alignas(16) unsigned char from[3 * sizeof(T)];
  alignas(16) unsigned char to[3 * sizeof(T)] = {};
  for (std::size_t i = 0; i < sizeof(from); ++i) from[i] = static_cast<unsigned char>(i + 1);
  const LaunchResult result =
      executor::Launch(LaunchOptions(), 1, 1, 0, CopyHinted<T>, reinterpret_cast<const T*>(from),
                       reinterpret_cast<T*>(to));
  EXPECT_EQ(result.message, "");
  EXPECT_EQ(std::memcmp(from, to, sizeof(from)), 0) << sizeof(T);
}

TEST(MemoryWords, HintedLoadsAndStoresTakeTypesOfAllSizes) {
  ExpectCopies<unsigned char>();
  ExpectCopies<__half>();
  ExpectCopies<__nv_bfloat16>();
  ExpectCopies<float>();
  ExpectCopies<uint2>();
  ExpectCopies<uint4>();
}

// Two instantiations of one declaration are two arrays, as are two declarations; every thread sees
// the same.
template <class T>
__device__ T* SharedOf() {
  ZEROSIM_SHARED(T, values, 3);
  return values;
}

__global__ void SharedArrays(const void** out) {
  ZEROSIM_DYNAMIC_SHARED(float, dynamic);
  const void** const mine = out + 4 * threadIdx.x;
  mine[0] = SharedOf<float>();
  mine[1] = SharedOf<int>();
  mine[2] = SharedOf<double>();
  mine[3] = dynamic;
}

TEST(MemoryWords, SharedArraysAreOneForEachDeclarationAndBlock) {
  for (const LaunchOptions& options : AllOrders(kSeeds)) {
    const void* out[4 * 64];
    ASSERT_EQ(executor::Launch(options, 1, 64, 16, SharedArrays, out).message, "");
    const std::set<const void*> first(out, out + 4);
    EXPECT_EQ(first.size(), 4u);
    EXPECT_EQ(std::set<const void*>(out, out + 4 * 64), first);
    // No more aligned than CUDA promises.
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(out[0]) % 8, 4u);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(out[2]) % 16, 8u);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(out[3]) % 32, 16u);
  }
}

__global__ void ReadUnwritten(int* nans) {
  ZEROSIM_SHARED(float, values, 2);
  ZEROSIM_DYNAMIC_SHARED(__half, halves);
  atomicAdd(nans, std::isnan(values[threadIdx.x]) ? 1 : 0);
  atomicAdd(nans, std::isnan(__half2float(halves[threadIdx.x])) ? 1 : 0);
  __syncthreads();
  values[threadIdx.x] = 0;
  halves[threadIdx.x] = __float2half_rn(0);
}

TEST(MemoryWords, SharedMemoryOfEachBlockBeginsAsNan) {
  int nans = 0;
  ASSERT_EQ(
      executor::Launch(LaunchOptions(), 3, 2, 2 * sizeof(__half), ReadUnwritten, &nans).message,
      "");
  EXPECT_EQ(nans, 3 * 2 * 2);
}

}  // namespace
}  // namespace zerosim::kernels
