// CUDA's vocabulary for a host compiler: everything that kernels say, included by portable.cuh.
//
// Functions and variables are in namespace zerosim::kernels, where the kernels are. Macros remain
// for what decorates a declaration; with the toolkit's headers they are the toolkit's.
#pragma once

#include <cstring>

#include "kernels/executor/arithmetic.h"
#include "kernels/executor/half.h"
#include "kernels/executor/indices.h"
#include "kernels/executor/memory.h"
#include "kernels/executor/operations.h"
#include "kernels/executor/synchronization.h"
#include "kernels/executor/vector_types.h"

#if !defined(__global__)
#define __global__
#endif
#if !defined(__device__)
#define __device__
#endif
#if !defined(__host__)
#define __host__
#endif
#if !defined(__forceinline__)
#define __forceinline__ inline __attribute__((always_inline))
#endif
#if !defined(__launch_bounds__)
#define __launch_bounds__(...)
#endif

// The lambda's static variable is another in each declaration and each instantiation around it.
#define ZEROSIM_SHARED(type, name, count)                                                       \
  type(&name)[count] = *static_cast<type(*)[count]>(::zerosim::kernels::executor::StaticShared( \
      [] {                                                                                      \
        static const char kKey = 0;                                                             \
        return static_cast<const void*>(&kKey);                                                 \
      }(),                                                                                      \
      sizeof(type) * (count), alignof(type),                                                    \
      ::zerosim::kernels::executor::Place{"ZEROSIM_SHARED", __FILE__, __LINE__}))
#define ZEROSIM_DYNAMIC_SHARED(type, name) \
  type* const name = static_cast<type*>(::zerosim::kernels::executor::DynamicShared())

#define ZEROSIM_UNROLL
#define ZEROSIM_UNROLL_BY(count)
