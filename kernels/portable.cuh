// What every kernel includes first: CUDA for nvcc, and for a host compiler the same words by the
// grid executor (kernels/executor/launch.h). So one text is compiled for the GPU and tested on any
// machine.
//
// A kernel is plain CUDA C++17 in namespace zerosim::kernels, but for these words:
//
//   ZEROSIM_SHARED(type, name, count);    __shared__ type name[count]
//   ZEROSIM_DYNAMIC_SHARED(type, name);   the launch's extern __shared__, aligned to 16, as a type*
//   ZEROSIM_UNROLL                        #pragma unroll, for the loop that follows
//   ZEROSIM_UNROLL_BY(count)              #pragma unroll count
//
// A host compiler would take __shared__ for nothing and give each thread an array of its own.
// `type` holds no comma: give it a name first. What CUDA has and kernels/executor/*.h has not does
// not compile for the host.
#pragma once

#if defined(__CUDACC__)

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#define ZEROSIM_SHARED(type, name, count) __shared__ type name[count]
#define ZEROSIM_DYNAMIC_SHARED(type, name)                                \
  extern __shared__ __align__(16) unsigned char zerosim_dynamic_shared[]; \
  type* const name = reinterpret_cast<type*>(zerosim_dynamic_shared)
#define ZEROSIM_PRAGMA(text) _Pragma(#text)
#define ZEROSIM_UNROLL _Pragma("unroll")
#define ZEROSIM_UNROLL_BY(count) ZEROSIM_PRAGMA(unroll count)

#else
#include "kernels/executor/cuda_words.h"
#endif
