// threadIdx, blockIdx, blockDim and gridDim, which the executor sets at each switch of fibres.
#pragma once

#include "kernels/executor/vector_types.h"

namespace zerosim::kernels {

// NOLINTBEGIN(readability-identifier-naming): CUDA's names
inline thread_local uint3 threadIdx{};
inline thread_local uint3 blockIdx{};
inline thread_local dim3 blockDim{};
inline thread_local dim3 gridDim{};
inline constexpr int warpSize = 32;
// NOLINTEND(readability-identifier-naming)

}  // namespace zerosim::kernels
