#include "models/quantization/quantization.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace zerosim {
namespace {

constexpr QuantizationFormat kInt8{.bits = 8, .group_size = {}, .symmetric = true};

struct DeepSpeedRow {
  const char* name;
  std::int64_t elements;
  std::int64_t groups;
  std::int64_t group_size;
};

class DeepSpeedGroups : public ::testing::TestWithParam<DeepSpeedRow> {};

// Worked by the rule of CUDAQuantizer.quantize (DeepSpeed edaa722): the least number of groups from
// ceil(n/8000) on of which 8 divide n.
TEST_P(DeepSpeedGroups, AreTheFewestThatDivideTheShardByEight) {
  const QuantizedSize size = QuantizedSizeOf(GetParam().elements, kInt8);

  EXPECT_TRUE(size.deepspeed_accepts);
  EXPECT_EQ(size.groups, GetParam().groups);
  EXPECT_EQ(size.group_size, GetParam().group_size);
  EXPECT_EQ(size.payload, Bytes::Count(GetParam().elements));
  EXPECT_EQ(size.metadata, Bytes::Count(4 * GetParam().groups));
}

INSTANTIATE_TEST_SUITE_P(Shards, DeepSpeedGroups,
                         ::testing::Values(
                             // 589824 / 8 = 2^13 * 9; from 74 on the first divisor is 2^5 * 3.
                             DeepSpeedRow{"Square6144On64", 6144 * 6144 / 64, 96, 6144},
                             // 2^20 / 8; from 132 on the first power of two is 256.
                             DeepSpeedRow{"Square4096On16", 4096 * 4096 / 16, 256, 4096},
                             DeepSpeedRow{"OneGroup", 8000, 1, 8000},
                             DeepSpeedRow{"JustTwo", 8016, 2, 4008},
                             // 8 times the prime 104729: only groups of 8 fit.
                             DeepSpeedRow{"Prime", std::int64_t{8} * 104729, 104729, 8}),
                         [](const auto& row) { return row.param.name; });

// The rule as DeepSpeed writes it, one group count after the other.
std::int64_t GroupsByTrial(std::int64_t elements) {
  for (std::int64_t groups = CeilDiv(elements, 8000); groups <= elements; ++groups) {
    if (elements % (8 * groups) == 0) return groups;
  }
  return 0;
}

TEST(QuantizedSize, FindsTheSameGroupsAsTrialOfEveryCount) {
  std::mt19937_64 random(20230622);
  for (int i = 0; i < 300; ++i) {
    const auto elements = static_cast<std::int64_t>(random() % 400'000 + 1);

    const QuantizedSize size = QuantizedSizeOf(elements, kInt8);

    const std::int64_t expected = GroupsByTrial(elements);
    EXPECT_EQ(size.deepspeed_accepts, expected > 0) << elements;
    EXPECT_EQ(size.groups, expected > 0 ? expected : CeilDiv(elements, 8000)) << elements;
  }
}

// 4096 x 4096 over 24 ranks: a shard of 699051, which is odd.
TEST(QuantizedSize, SaysThatDeepSpeedAssertsOnAShardThatEightDoesNotDivide) {
  const QuantizedSize size = QuantizedSizeOf(CeilDiv(std::int64_t{4096} * 4096, 24), kInt8);

  EXPECT_FALSE(size.deepspeed_accepts);
  EXPECT_EQ(size.groups, 88);
  EXPECT_EQ(size.payload, Bytes::Count(699'051));
}

TEST(QuantizedSize, CoversAllElementsWithWholeGroupsWhateverTheFormat) {
  for (const std::int64_t elements : {1, 7, 8, 127, 128, 129, 8001, 699'051, 1'048'576}) {
    for (const int bits : {1, 3, 4, 6, 8, 16}) {
      for (const std::int64_t group : {1, 128, 2048}) {
        for (const bool symmetric : {true, false}) {
          const QuantizationFormat format{
              .bits = bits, .group_size = group, .symmetric = symmetric};

          const QuantizedSize size = QuantizedSizeOf(elements, format);

          EXPECT_GE(size.groups * size.group_size, elements);
          EXPECT_LT((size.groups - 1) * size.group_size, elements);
          EXPECT_GE(8 * size.payload.count(), elements * bits);
          EXPECT_LT(8 * size.payload.count(), elements * bits + 8);
          EXPECT_EQ(size.metadata, Bytes::Count((symmetric ? 4 : 8) * size.groups));
          EXPECT_EQ(size.total(), size.payload + size.metadata);
          EXPECT_TRUE(size.deepspeed_accepts);
        }
      }
    }
  }
}

// qgZ of a 24576 x 6144 gradient: max(rows, columns) groups of 6144, half a byte an element.
TEST(QuantizedSize, TakesTheGroupsThatQgzFixes) {
  const QuantizationFormat int4{.bits = 4, .group_size = {}, .symmetric = true};

  const QuantizedSize size = QuantizedSizeOf(std::int64_t{24576} * 6144, int4, 24576);

  EXPECT_EQ(size.groups, 24576);
  EXPECT_EQ(size.group_size, 6144);
  EXPECT_EQ(size.payload, Bytes::Count(24576 * 6144 / 2));
  EXPECT_EQ(size.metadata, Bytes::Count(std::int64_t{4} * 24576));
  EXPECT_TRUE(size.deepspeed_accepts);
  EXPECT_FALSE(QuantizedSizeOf(1001, int4, 10).deepspeed_accepts);
}

TEST(QuantizedSize, LetsAGroupSizeOfTheFormatWinOverDeepSpeeds) {
  const QuantizationFormat format{.bits = 4, .group_size = 128, .symmetric = true};

  EXPECT_EQ(QuantizedSizeOf(1024, format, 2).groups, 8);
}

TEST(QuantizedSize, IsNothingForNothing) {
  EXPECT_EQ(QuantizedSizeOf(0, kInt8).total(), Bytes());
  EXPECT_EQ(QuantizedSizeOf(0, kInt8, 4).total(), Bytes());
}

TEST(QuantizedSize, RefusesWhatHasNoMeaning) {
  const auto message = [](std::int64_t elements, const QuantizationFormat& format,
                          std::int64_t groups) -> std::string {
    try {
      QuantizedSizeOf(elements, format, groups);
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "no exception";
  };

  EXPECT_EQ(message(-1, kInt8, 1), "elements must not be negative, got -1");
  EXPECT_EQ(message(1, kInt8, 0), "deepspeed_groups must be positive, got 0");
  EXPECT_EQ(message(1, {.bits = 0, .group_size = {}, .symmetric = true}, 1),
            "bits must be 1 to 16, got 0");
  EXPECT_EQ(message(1, {.bits = 8, .group_size = 0, .symmetric = true}, 1),
            "group_size must be positive, got 0");
}

// Quantises `groups` groups of Gaussian values as DeepSpeed does (symmetric) or with the range
// between the least and the largest value (asymmetric): E|x - q(x)|^2 / E|x|^2.
double MeasuredError(const QuantizationFormat& format, int group_size, int groups) {
  std::mt19937_64 random(7);
  std::normal_distribution<double> gaussian;
  double error = 0;
  double energy = 0;
  std::vector<double> x(group_size);
  for (int g = 0; g < groups; ++g) {
    for (double& value : x) value = gaussian(random);
    const auto [least, most] = std::minmax_element(x.begin(), x.end());
    const double codes = std::pow(2.0, format.bits);
    const double half = codes / 2;
    const double largest = std::max(std::abs(*least), std::abs(*most));
    const double step = format.symmetric ? largest / half : (*most - *least) / (codes - 1);
    const double zero = *least;
    for (const double value : x) {
      const double q = format.symmetric
                           ? step * std::clamp(std::round(value / step), -half, half - 1)
                           : zero + step * std::round((value - zero) / step);
      error += (value - q) * (value - q);
      energy += value * value;
    }
  }
  return error / energy;
}

// The law leaves out that values between the last two codes are cut too, which matters below 8
// bits and 1000 elements: 4 %.
TEST(RelativeSquaredError, MeetsQuantisedGaussianValues) {
  for (const bool symmetric : {true, false}) {
    for (const int bits : {4, 8}) {
      for (const int group : {128, 2048}) {
        const QuantizationFormat format{.bits = bits, .group_size = {}, .symmetric = symmetric};

        const double predicted = RelativeSquaredError(format, group);

        EXPECT_NEAR(predicted / MeasuredError(format, group, 1'000'000 / group), 1, 0.04)
            << bits << " bits, group " << group << (symmetric ? "" : ", asymmetric");
      }
    }
  }
}

// A bit halves the step; a larger group has a larger maximum.
TEST(RelativeSquaredError, FallsByFourABitAndGrowsWithTheGroup) {
  const QuantizationFormat int4{.bits = 4, .group_size = {}, .symmetric = true};
  const QuantizationFormat int5{.bits = 5, .group_size = {}, .symmetric = true};

  EXPECT_NEAR(RelativeSquaredError(int4, 2048) / RelativeSquaredError(int5, 2048), 4, 1e-9);
  EXPECT_GT(RelativeSquaredError(int4, 8000), RelativeSquaredError(int4, 2048));
}

}  // namespace
}  // namespace zerosim
