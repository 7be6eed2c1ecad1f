#include "models/quantization/quantization.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>

#include <fmt/format.h>

namespace zerosim {
namespace {

// Elements that DeepSpeed aims at for a group (CUDAQuantizer.target_group_size), and the multiple
// that its kernels need.
constexpr std::int64_t kTargetGroup = 8000;
constexpr std::int64_t kKernelMultiple = 8;

void Validate(std::int64_t elements, const QuantizationFormat& format) {
  if (elements < 0) {
    throw std::invalid_argument(fmt::format("elements must not be negative, got {}", elements));
  }
  if (format.bits < 1 || format.bits > 16) {
    throw std::invalid_argument(fmt::format("bits must be 1 to 16, got {}", format.bits));
  }
  if (format.group_size && *format.group_size <= 0) {
    throw std::invalid_argument(
        fmt::format("group_size must be positive, got {}", *format.group_size));
  }
}

// The least divisor of n (n >= 1) that is at least `low`, or 0 if low > n.
std::int64_t DivisorFrom(std::int64_t n, std::int64_t low) {
  std::int64_t best = 0;
  const auto offer = [&](std::int64_t divisor) {
    if (divisor >= low && (best == 0 || divisor < best)) best = divisor;
  };
  for (std::int64_t d = 1; d * d <= n; ++d) {
    if (n % d != 0) continue;
    offer(d);
    offer(n / d);
  }
  return best;
}

QuantizedSize SizeOf(std::int64_t elements, const QuantizationFormat& format, std::int64_t groups,
                     std::int64_t group_size, bool accepted) {
  const std::int64_t metadata_a_group = format.symmetric ? 4 : 8;
  return {.groups = groups,
          .group_size = group_size,
          .payload = Bytes::Count(CeilDiv(elements * format.bits, 8)),
          .metadata = Bytes::Count(groups * metadata_a_group),
          .deepspeed_accepts = accepted};
}

double NormalCdf(double x) {
  return 0.5 * std::erfc(-x / std::numbers::sqrt2);
}

// Integral of `f` over [0, 12] standard deviations: beyond it nothing of a group that fits into a
// GPU is left (P(|x| > 12) = 4e-33). The step is far below the width of any of the integrands.
constexpr int kIntegralSteps = 2400;
constexpr double kIntegralStep = 12.0 / kIntegralSteps;

template <typename F>
double Integrate(F f) {
  double sum = 0;
  for (int i = 0; i < kIntegralSteps; ++i) sum += f((i + 0.5) * kIntegralStep);
  return sum * kIntegralStep;
}

}  // namespace

QuantizedSize QuantizedSizeOf(std::int64_t elements, const QuantizationFormat& format) {
  Validate(elements, format);
  if (elements == 0) return {};
  if (format.group_size) {
    return SizeOf(elements, format, CeilDiv(elements, *format.group_size), *format.group_size,
                  true);
  }
  const std::int64_t start = CeilDiv(elements, kTargetGroup);
  // n is a multiple of 8*g exactly if g divides n/8. Groups start at the target or below and only
  // become smaller, so DeepSpeed's later doubling of groups above the target never acts.
  const std::int64_t groups =
      elements % kKernelMultiple == 0 ? DivisorFrom(elements / kKernelMultiple, start) : 0;
  if (groups == 0) {
    return SizeOf(elements, format, start, CeilDiv(elements, start), false);
  }
  return SizeOf(elements, format, groups, elements / groups, true);
}

QuantizedSize QuantizedSizeOf(std::int64_t elements, const QuantizationFormat& format,
                              std::int64_t deepspeed_groups) {
  if (format.group_size) return QuantizedSizeOf(elements, format);
  Validate(elements, format);
  if (deepspeed_groups <= 0) {
    throw std::invalid_argument(
        fmt::format("deepspeed_groups must be positive, got {}", deepspeed_groups));
  }
  if (elements == 0) return {};
  return SizeOf(elements, format, deepspeed_groups, CeilDiv(elements, deepspeed_groups),
                elements % deepspeed_groups == 0);
}

double RelativeSquaredError(const QuantizationFormat& format, std::int64_t group_size) {
  Validate(0, format);
  if (group_size <= 0) {
    throw std::invalid_argument(fmt::format("group_size must be positive, got {}", group_size));
  }
  const auto n = static_cast<double>(group_size);
  if (format.symmetric) {
    // E[m^2] of m = max |x| is the integral of 2t P(m > t). The step is m / 2^(bits-1).
    const double largest_squared = Integrate(
        [n](double t) { return 2 * t * (1 - std::pow(std::erf(t / std::numbers::sqrt2), n)); });
    // The positive maximum has no code of its own and is cut by a step: one value of every second
    // group errs by a step instead of a step/sqrt(12).
    const double clipped = 1 + 6 / n;
    return largest_squared / std::pow(4.0, format.bits - 1) / 12 * clipped;
  }
  // The range is the largest minus the smallest, alike and (but for tiny groups) independent:
  // E[range^2] = 2 E[M^2] + 2 E[M]^2 for M = max x. The step is range / (2^bits - 1).
  const auto above = [n](double t) { return 1 - std::pow(NormalCdf(t), n); };
  const auto below = [n](double t) { return std::pow(NormalCdf(-t), n); };
  const double mean = Integrate([&](double t) { return above(t) - below(t); });
  const double square = Integrate([&](double t) { return 2 * t * (above(t) + below(t)); });
  const double codes = std::pow(2.0, format.bits) - 1;
  return 2 * (square + mean * mean) / (codes * codes) / 12;
}

}  // namespace zerosim
