// CUDA's scalar intrinsics that kernels use, with the results that PTX defines (PTX ISA; CUDA Math
// API).
//
// Where C++ and CUDA differ, as in the conversion of NaN and of what is too large, this is CUDA.
// Results are the device's to the bit, except that a NaN that arithmetic makes has another payload:
// 0x7fffffff there.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

namespace zerosim::kernels {

inline std::uint32_t __float_as_uint(float x) {
  std::uint32_t bits;
  std::memcpy(&bits, &x, sizeof(bits));
  return bits;
}
inline int __float_as_int(float x) {
  return static_cast<int>(__float_as_uint(x));
}
inline float __uint_as_float(std::uint32_t bits) {
  float x;
  std::memcpy(&x, &bits, sizeof(x));
  return x;
}
inline float __int_as_float(int bits) {
  return __uint_as_float(static_cast<std::uint32_t>(bits));
}

// One rounding each: nvcc may not contract them to a fused multiply-add.
inline float __fadd_rn(float a, float b) {
  return a + b;
}
inline float __fsub_rn(float a, float b) {
  return a - b;
}
inline float __fmul_rn(float a, float b) {
  return a * b;
}
inline float __fdiv_rn(float a, float b) {
  return a / b;
}
inline float __frcp_rn(float a) {
  return 1.0f / a;
}
inline float __fsqrt_rn(float a) {
  return std::sqrt(a);
}
inline float __fmaf_rn(float a, float b, float c) {
  return std::fma(a, b, c);
}

// NaN becomes 0; what is too large, the nearest int (cvt.rni.s32.f32, cvt.rzi.s32.f32).
inline int __float2int_rn(float x) {
  if (std::isnan(x)) return 0;
  if (x >= 0x1p31f) return std::numeric_limits<int>::max();
  if (x <= -0x1p31f) return std::numeric_limits<int>::min();
#if defined(__SSE__)
  return _mm_cvtss_si32(_mm_set_ss(x));
#else
  return static_cast<int>(std::nearbyint(x));
#endif
}
inline int __float2int_rz(float x) {
  if (std::isnan(x)) return 0;
  if (x >= 0x1p31f) return std::numeric_limits<int>::max();
  if (x <= -0x1p31f) return std::numeric_limits<int>::min();
  return static_cast<int>(x);
}
inline float __int2float_rn(int x) {
  return static_cast<float>(x);
}
inline float __uint2float_rn(unsigned x) {
  return static_cast<float>(x);
}

inline int __popc(unsigned x) {
  return __builtin_popcount(x);
}
inline int __clz(int x) {
  return x == 0 ? 32 : __builtin_clz(static_cast<unsigned>(x));
}
inline int __ffs(int x) {
  return __builtin_ffs(x);
}
inline unsigned __umulhi(unsigned a, unsigned b) {
  return static_cast<unsigned>(std::uint64_t{a} * b >> 32);
}
// Each nibble of the selector takes one byte of {y, x}, or, with its high bit, that byte's sign
// (prmt.b32).
inline unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
  const std::uint64_t bytes = std::uint64_t{y} << 32 | x;
  unsigned result = 0;
  for (int i = 0; i < 4; ++i) {
    const unsigned nibble = selector >> (4 * i) & 0xf;
    unsigned byte = static_cast<unsigned>(bytes >> (8 * (nibble & 7))) & 0xff;
    if ((nibble & 8) != 0) byte = (byte & 0x80) != 0 ? 0xff : 0;
    result |= byte << (8 * i);
  }
  return result;
}

// A number beats NaN, and +0 is more than -0 (max.f32, min.f32).
inline float fmaxf(float a, float b) {
  if (a > b) return a;
  if (a < b) return b;
  if (std::isnan(a)) return b;
  return std::isnan(b) || std::signbit(b) ? a : b;
}
inline float fminf(float a, float b) {
  if (a < b) return a;
  if (a > b) return b;
  if (std::isnan(a)) return b;
  return std::isnan(b) || std::signbit(a) ? a : b;
}

// Both of one type, which nvcc does not ask for.
template <class T>
T max(T a, T b) {
  if constexpr (std::is_same_v<T, float>) {
    return fmaxf(a, b);
  } else {
    static_assert(std::is_integral_v<T>);
    return a < b ? b : a;
  }
}
template <class T>
T min(T a, T b) {
  if constexpr (std::is_same_v<T, float>) {
    return fminf(a, b);
  } else {
    static_assert(std::is_integral_v<T>);
    return b < a ? b : a;
  }
}

}  // namespace zerosim::kernels
