// What portable.cuh says of arithmetic, against PTX's definitions. Compiled with a test framework
// in one file on purpose: no word may leak into it.
#include <climits>
#include <cmath>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "kernels/portable.cuh"

// CUDA's words are free outside of zerosim::kernels.
namespace elsewhere {
struct Indices {
  int threadIdx = 1, blockIdx = 2, blockDim = 3, gridDim = 4, warpSize = 5;
};
int max(Indices indices) {
  return indices.threadIdx + indices.blockIdx;
}
}  // namespace elsewhere

namespace zerosim::kernels {
namespace {

const float kInfinity = std::numeric_limits<float>::infinity();
const float kNan = std::numeric_limits<float>::quiet_NaN();

TEST(Arithmetic, WordsStayInTheirNamespace) {
  EXPECT_EQ(elsewhere::max(elsewhere::Indices()), 3);
}

TEST(Arithmetic, FloatToIntRoundsToEvenAndSaturates) {
  const struct {
    float x;
    int nearest;
    int toward_zero;
  } cases[] = {
      {0.5f, 0, 0},
      {1.5f, 2, 1},
      {2.5f, 2, 2},
      {-0.5f, 0, 0},
      {-1.5f, -2, -1},
      {-2.5f, -2, -2},
      {0.49999997f, 0, 0},
      {8388609.0f, 8388609, 8388609},
      {2147483520.0f, 2147483520, 2147483520},
      {2147483648.0f, INT_MAX, INT_MAX},
      {1e30f, INT_MAX, INT_MAX},
      {-2147483648.0f, INT_MIN, INT_MIN},
      {-1e30f, INT_MIN, INT_MIN},
      {kInfinity, INT_MAX, INT_MAX},
      {-kInfinity, INT_MIN, INT_MIN},
      {kNan, 0, 0},
      {-kNan, 0, 0},
      {1e-45f, 0, 0},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(__float2int_rn(c.x), c.nearest) << c.x;
    EXPECT_EQ(__float2int_rz(c.x), c.toward_zero) << c.x;
  }
}

TEST(Arithmetic, MaxAndMinPreferNumbersAndOrderZeros) {
  for (const float nan : {kNan, -kNan}) {
    EXPECT_EQ(fmaxf(nan, 1), 1);
    EXPECT_EQ(fmaxf(1, nan), 1);
    EXPECT_EQ(fminf(nan, 1), 1);
    EXPECT_EQ(fminf(1, nan), 1);
    EXPECT_TRUE(std::isnan(fmaxf(nan, nan)));
    EXPECT_EQ(max(nan, 1.0f), 1);
    EXPECT_EQ(min(1.0f, nan), 1);
  }
  for (const bool swap : {false, true}) {
    const float a = swap ? -0.0f : 0.0f;
    EXPECT_FALSE(std::signbit(fmaxf(a, -a)));
    EXPECT_TRUE(std::signbit(fminf(a, -a)));
    EXPECT_EQ(fmaxf(a + 2, 1), 2);
    EXPECT_EQ(fminf(1, a + 2), 1);
  }
  EXPECT_TRUE(std::signbit(fmaxf(-0.0f, -0.0f)));
  EXPECT_FALSE(std::signbit(fminf(0.0f, 0.0f)));
  EXPECT_EQ(max(-3, 2), 2);
  EXPECT_EQ(min(-3ll, 2ll), -3);
}

// One rounding, which two operations would not give: (1 + e)^2 - 1 with e = 2^-12.
TEST(Arithmetic, FmaRoundsOnceAndProductsDoNotFuse) {
  const float a = 1 + 0x1p-12f;
  EXPECT_EQ(__fmaf_rn(a, a, -1), 0x1p-11f + 0x1p-24f);
  EXPECT_EQ(__fadd_rn(__fmul_rn(a, a), -1), 0x1p-11f);
  EXPECT_EQ(__fsub_rn(a * a, 1), 0x1p-11f);
  EXPECT_EQ(__fdiv_rn(1, 3), 0x1.555556p-2f);
  EXPECT_EQ(__frcp_rn(3), 0x1.555556p-2f);
  EXPECT_EQ(__fsqrt_rn(2), 0x1.6a09e6p+0f);
}

TEST(Arithmetic, BitsOfFloatsAndBack) {
  EXPECT_EQ(__float_as_uint(-1.5f), 0xbfc00000u);
  EXPECT_EQ(__float_as_int(-0.0f), INT_MIN);
  EXPECT_EQ(__uint_as_float(0x3f800000u), 1);
  EXPECT_EQ(__int_as_float(0x40490fdb), 3.14159274f);
}

TEST(Arithmetic, CountsOfBits) {
  EXPECT_EQ(__popc(0), 0);
  EXPECT_EQ(__popc(0xf0f0f0f1u), 17);
  EXPECT_EQ(__clz(0), 32);
  EXPECT_EQ(__clz(1), 31);
  EXPECT_EQ(__clz(-1), 0);
  EXPECT_EQ(__ffs(0), 0);
  EXPECT_EQ(__ffs(0b1000), 4);
  EXPECT_EQ(__umulhi(0xffffffffu, 0xffffffffu), 0xfffffffeu);
  EXPECT_EQ(__int2float_rn(16777217), 16777216);
  EXPECT_EQ(__uint2float_rn(0xffffffffu), 0x1p32f);
}

// The examples of the PTX ISA's table of prmt's modes, with bytes b7 ... b0.
TEST(Arithmetic, BytePermutation) {
  const unsigned x = 0x33221100;
  const unsigned y = 0x77665544;
  EXPECT_EQ(__byte_perm(x, y, 0x3210), x);
  EXPECT_EQ(__byte_perm(x, y, 0x7654), y);
  EXPECT_EQ(__byte_perm(x, y, 0x6543), 0x66554433u);  // four bytes from the third on
  EXPECT_EQ(__byte_perm(x, y, 0x0123), 0x00112233u);
  // A nibble of 8 and more repeats the sign of its byte.
  EXPECT_EQ(__byte_perm(0x00008000, y, 0x9981), 0xffff0080u);
}

}  // namespace
}  // namespace zerosim::kernels
