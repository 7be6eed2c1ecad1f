// Kernels that break a rule of barriers, masks and limits. The tests name their lines by the marks
// in angle brackets.
#include "kernels/portable.cuh"
#include "tests/kernels/executor/planted.h"

namespace zerosim::kernels {
namespace {

using executor::LaunchOptions;

constexpr unsigned kAll = 0xffffffffu;

__global__ void DivergentBarrier(int*) {
  if (threadIdx.x < 16) {
    __syncthreads();  // <then>
  } else {
    __syncthreads();  // <else>
  }
}

__global__ void ShuffleWithExited(int* out) {
  if (threadIdx.x >= 16) return;
  out[threadIdx.x] = __shfl_xor_sync(kAll, 1, 1);  // <exited>
}

// Only the first half comes; the others wait for them elsewhere.
__global__ void MaskOfAbsent(int* out) {
  if (threadIdx.x < 16) out[0] = __shfl_down_sync(kAll, 1, 1);  // <absent>
  __syncthreads();                                              // <absent barrier>
}

__global__ void MaskWithoutCaller(int* out) {
  out[threadIdx.x] = __shfl_sync(0x0000ffffu, 1, 0);  // <caller>
}

__global__ void DifferentOperations(int* out) {
  if (threadIdx.x % 2 == 0) {
    out[threadIdx.x] = static_cast<int>(__ballot_sync(kAll, 1));  // <vote>
  } else {
    __syncwarp();  // <syncwarp>
  }
}

__global__ void OverlappingMasks(int*) {
  if (threadIdx.x == 0) __syncwarp(0b011);  // <mask 3>
  if (threadIdx.x == 1) __syncwarp(0b110);  // <mask 6>
  if (threadIdx.x == 2) __syncwarp(0b101);  // <mask 5>
}

__global__ void ReadOutsideMask(int* out) {
  if (threadIdx.x < 2) out[threadIdx.x] = __shfl_sync(0b11, 1, 2);  // <outside>
}

__global__ void ReadOutsideBlock(int* out) {
  out[threadIdx.x] = __shfl_down_sync(kAll, 1, 8);  // <no lane>
}

__global__ void OddWidth(int* out) {
  out[threadIdx.x] = __shfl_xor_sync(kAll, 1, 1, 12);  // <width>
}

__global__ void TooMuchShared(int* out) {
  ZEROSIM_SHARED(int, small, 1024);
  ZEROSIM_SHARED(int, large, 11265);  // <exhausted>
  out[0] = small[0] + large[0];
}

__global__ void MisalignedStore(int* out) {
  __stcs(reinterpret_cast<int4*>(out + 1), make_int4(1, 2, 3, 4));  // <vector store>
}
__global__ void MisalignedLoad(int* out) {
  const int2 both = __ldg(reinterpret_cast<const int2*>(out + 3));  // <vector load>
  out[0] = both.x + both.y;
}

template <void (*kKernel)(int*), int kBlockThreads, int kDynamic = 0>
Outcome Run(const LaunchOptions& options) {
  alignas(16) int out[64] = {};
  return {executor::Launch(options, 1, dim3(kBlockThreads), kDynamic, kKernel, out).message, false};
}

}  // namespace

std::vector<Planted> PlantedInRules() {
  return {
      {"divergent_barrier", Run<DivergentBarrier, 32>},
      {"shuffle_with_exited", Run<ShuffleWithExited, 32>},
      {"mask_of_absent", Run<MaskOfAbsent, 32>},
      {"mask_without_caller", Run<MaskWithoutCaller, 32>},
      {"different_operations", Run<DifferentOperations, 32>},
      {"overlapping_masks", Run<OverlappingMasks, 32>},
      {"read_outside_mask", Run<ReadOutsideMask, 32>},
      {"read_outside_block", Run<ReadOutsideBlock, 12>},
      {"odd_width", Run<OddWidth, 32>},
      {"too_much_shared", Run<TooMuchShared, 32>},
      {"misaligned_store", Run<MisalignedStore, 32>},
      {"misaligned_load", Run<MisalignedLoad, 32>},
  };
}

Planted PlantedOf(const std::string& name) {
  for (const auto& list : {PlantedInMemory(), PlantedInRules(), Controls(), LargeControls()}) {
    for (const Planted& planted : list) {
      if (planted.name == name) return planted;
    }
  }
  std::abort();
}

}  // namespace zerosim::kernels
