// Conversions between fp32 and the 16-bit types, and the types themselves where the toolkit is
// missing.
//
// They equal the toolkit's for every value of 16 bits and every float:
// tests/kernels/executor/half_test.cc.
#pragma once

#include <cstdint>
#include <cstring>

namespace zerosim::kernels::executor {

// To nearest, ties to even. Every NaN becomes 0x7fff.
std::uint16_t HalfOfFloat(float x);
std::uint16_t Bfloat16OfFloat(float x);

// Exact. Of a NaN in half precision the payload goes, not that of a bfloat16.
float FloatOfHalf(std::uint16_t bits);
float FloatOfBfloat16(std::uint16_t bits);

}  // namespace zerosim::kernels::executor

#if __has_include(<cuda_fp16.h>) && !defined(ZEROSIM_WITHOUT_CUDA_HEADERS)
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#else

// NOLINTBEGIN(readability-identifier-naming): CUDA's names
struct __half {
  unsigned short bits;
};
struct __nv_bfloat16 {
  unsigned short bits;
};
// NOLINTEND(readability-identifier-naming)

inline unsigned short __half_as_ushort(__half x) {
  return x.bits;
}
inline __half __ushort_as_half(unsigned short bits) {
  return {bits};
}
inline unsigned short __bfloat16_as_ushort(__nv_bfloat16 x) {
  return x.bits;
}
inline __nv_bfloat16 __ushort_as_bfloat16(unsigned short bits) {
  return {bits};
}

inline float __half2float(__half x) {
  return zerosim::kernels::executor::FloatOfHalf(x.bits);
}
inline __half __float2half_rn(float x) {
  return {zerosim::kernels::executor::HalfOfFloat(x)};
}
inline __half __float2half(float x) {
  return __float2half_rn(x);
}
inline float __bfloat162float(__nv_bfloat16 x) {
  return zerosim::kernels::executor::FloatOfBfloat16(x.bits);
}
inline __nv_bfloat16 __float2bfloat16_rn(float x) {
  return {zerosim::kernels::executor::Bfloat16OfFloat(x)};
}
inline __nv_bfloat16 __float2bfloat16(float x) {
  return __float2bfloat16_rn(x);
}

#endif
