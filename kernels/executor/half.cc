#include "kernels/executor/half.h"

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

constexpr std::uint16_t kNan = 0x7fff;

// `value` without its last `count` bits, 1 to 31, to nearest, ties to even.
std::uint32_t RoundOff(std::uint32_t value, int count) {
  const std::uint32_t half = 1u << (count - 1);
  const std::uint32_t odd = value >> count & 1;
  return (value + half - 1 + odd) >> count;
}

}  // namespace

std::uint16_t HalfOfFloat(float x) {
  const std::uint32_t bits = BitsOf(x);
  const std::uint32_t magnitude = bits & 0x7fffffff;
  const auto sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000);
  if (magnitude > 0x7f800000) return kNan;
  std::uint32_t half = 0;
  if (magnitude >= 0x47800000) {  // 2^16: past the largest exponent
    half = 0x7c00;
  } else if (magnitude >= 0x38800000) {  // 2^-14: normal
    half =
        RoundOff(magnitude - (112u << 23), 13);  // the biases differ by 112; may carry to infinity
  } else if (magnitude >= 0x33000000) {          // 2^-25: half of the least subnormal, 2^-24
    const std::uint32_t significand = (magnitude & 0x7fffff) | 0x800000;
    half = RoundOff(significand, 126 - static_cast<int>(magnitude >> 23));
  }
  return static_cast<std::uint16_t>(sign | half);
}

float FloatOfHalf(std::uint16_t bits) {
  const std::uint32_t sign = (bits & 0x8000u) << 16;
  const std::uint32_t exponent = bits >> 10 & 0x1f;
  const std::uint32_t fraction = bits & 0x3ff;
  if (exponent == 0) {
    const float magnitude = static_cast<float>(fraction) * 0x1p-24f;
    return FloatOf(sign | BitsOf(magnitude));
  }
  if (exponent == 0x1f) return FloatOf(fraction == 0 ? sign | 0x7f800000 : 0x7fffffff);
  return FloatOf(sign | (exponent + 112) << 23 | fraction << 13);
}

std::uint16_t Bfloat16OfFloat(float x) {
  const std::uint32_t bits = BitsOf(x);
  if ((bits & 0x7fffffff) > 0x7f800000) return kNan;
  return static_cast<std::uint16_t>(RoundOff(bits, 16));
}

float FloatOfBfloat16(std::uint16_t bits) {
  return FloatOf(std::uint32_t{bits} << 16);
}

}  // namespace zerosim::kernels::executor
