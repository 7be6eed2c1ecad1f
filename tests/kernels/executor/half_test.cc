// The conversions of half.h: against the definition of the formats, and against the toolkit's where
// it is there.
#include "kernels/executor/half.h"

#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>

#include <gtest/gtest.h>

namespace zerosim::kernels::executor {
namespace {

std::uint32_t BitsOf(float x) {
  std::uint32_t bits;
  std::memcpy(&bits, &x, sizeof(bits));
  return bits;
}

float FloatOf(std::uint32_t bits) {
  float x;
  std::memcpy(&x, &bits, sizeof(x));
  return x;
}

// A format of 16 bits with so many of fraction (IEEE 754, 3.4).
struct Format {
  int fraction_bits;
  float (*to_float)(std::uint16_t);
  std::uint16_t (*of_float)(float);

  int bias() const { return (1 << (14 - fraction_bits)) - 1; }
  std::uint16_t infinity() const {
    return static_cast<std::uint16_t>(0x7fff >> fraction_bits << fraction_bits);
  }
  double ValueOf(int magnitude) const {
    const int exponent = magnitude >> fraction_bits;
    const int fraction = magnitude & ((1 << fraction_bits) - 1);
    if (exponent == 0) return std::ldexp(fraction, 1 - bias() - fraction_bits);
    return std::ldexp((1 << fraction_bits) + fraction, exponent - bias() - fraction_bits);
  }
};

const Format kFormats[] = {{10, FloatOfHalf, HalfOfFloat}, {7, FloatOfBfloat16, Bfloat16OfFloat}};

TEST(Half, EveryFiniteValueIsTheFormats) {
  for (const Format& format : kFormats) {
    for (int m = 0; m < format.infinity(); ++m) {
      const auto bits = static_cast<std::uint16_t>(m);
      const auto negative = static_cast<std::uint16_t>(m | 0x8000);
      ASSERT_EQ(static_cast<double>(format.to_float(bits)), format.ValueOf(m)) << m;
      ASSERT_EQ(BitsOf(format.to_float(negative)), BitsOf(format.to_float(bits)) | 0x80000000) << m;
      ASSERT_EQ(format.of_float(format.to_float(bits)), bits);
      ASSERT_EQ(format.of_float(format.to_float(negative)), negative);
    }
  }
}

// Between two neighbours the middle goes to the even one, and what is nearer to one goes to it;
// rounding is monotonic, so that this says what becomes of every float.
TEST(Half, RoundsToNearestEven) {
  for (const Format& format : kFormats) {
    for (int m = 0; m < format.infinity(); ++m) {
      // The least value past the largest finite one takes the place of infinity.
      const auto middle = static_cast<float>((format.ValueOf(m) + format.ValueOf(m + 1)) / 2);
      ASSERT_EQ(format.of_float(middle), m % 2 == 0 ? m : m + 1) << m;
      ASSERT_EQ(format.of_float(std::nextafter(middle, 0.0f)), m) << m;
      ASSERT_EQ(format.of_float(std::nextafter(middle, HUGE_VALF)), m + 1) << m;
    }
  }
}

TEST(Half, InfinityAndNan) {
  for (const Format& format : kFormats) {
    const float infinity = std::numeric_limits<float>::infinity();
    EXPECT_EQ(format.of_float(infinity), format.infinity());
    EXPECT_EQ(format.of_float(-infinity), format.infinity() | 0x8000);
    EXPECT_EQ(format.to_float(format.infinity()), infinity);
    for (const std::uint32_t nan : {0x7f800001u, 0x7fffffffu, 0xff800001u, 0xffc12345u}) {
      EXPECT_EQ(format.of_float(FloatOf(nan)), 0x7fff) << nan;
    }
    EXPECT_TRUE(std::isnan(format.to_float(static_cast<std::uint16_t>(format.infinity() + 1))));
  }
}

#if __has_include(<cuda_fp16.h>)

void ExpectAsToolkit(std::uint32_t bits) {
  const float x = FloatOf(bits);
  ASSERT_EQ(HalfOfFloat(x), __half_as_ushort(__float2half_rn(x))) << std::hex << bits;
  ASSERT_EQ(Bfloat16OfFloat(x), __bfloat16_as_ushort(__float2bfloat16_rn(x))) << std::hex << bits;
}

TEST(Half, EveryValueBecomesTheToolkitsFloat) {
  for (int i = 0; i < 0x10000; ++i) {
    const auto bits = static_cast<std::uint16_t>(i);
    ASSERT_EQ(BitsOf(FloatOfHalf(bits)), BitsOf(__half2float(__ushort_as_half(bits)))) << i;
    ASSERT_EQ(BitsOf(FloatOfBfloat16(bits)), BitsOf(__bfloat162float(__ushort_as_bfloat16(bits))))
        << i;
  }
}

// Two million floats, of all exponents alike; with ZEROSIM_EXHAUSTIVE=1 all of them, in some
// minutes.
TEST(Half, FloatsBecomeTheToolkitsValue) {
  if (std::getenv("ZEROSIM_EXHAUSTIVE") != nullptr) {
    std::uint32_t bits = 0;
    do {
      ExpectAsToolkit(bits);
      if (HasFatalFailure()) return;
    } while (++bits != 0);
    return;
  }
  std::mt19937 random(1);
  for (int i = 0; i < 2'000'000; ++i) {
    ExpectAsToolkit(static_cast<std::uint32_t>(random()));
    if (HasFatalFailure()) return;
  }
}

#else

TEST(Half, FloatsBecomeTheToolkitsValue) {
  GTEST_SKIP() << "the CUDA toolkit's headers are missing";
}

#endif

}  // namespace
}  // namespace zerosim::kernels::executor
