#include "models/core/units_text.h"

#include <limits>

#include <gtest/gtest.h>

namespace zerosim {
namespace {

TEST(ParseRate, AcceptsBitsAndBytes) {
  EXPECT_EQ(ParseRate("400 Gbps"), BytesPerSecond::Count(50e9));
  EXPECT_EQ(ParseRate("50 GB/s"), BytesPerSecond::Count(50e9));
  EXPECT_EQ(ParseRate("8Mbps"), BytesPerSecond::Count(1e6));
  EXPECT_EQ(ParseRate("1 GiB/s"), BytesPerSecond::Count(1024.0 * 1024 * 1024));
}

TEST(ParseRate, RequiresAUnitExceptAfterZero) {
  EXPECT_EQ(ParseRate("400"), std::nullopt);
  EXPECT_EQ(ParseRate("0"), BytesPerSecond::Count(0));
}

TEST(ParseRate, RefusesWhatIsNoRate) {
  for (const char* text :
       {"", " ", "Gbps", "4OO Gbps", "400 gbps", "400 GB", "400 Gbps.", "-1 GB/s", "nan GB/s",
        "inf GB/s", "1e999 GB/s", "1e308 TB/s", "400  Gb ps"}) {
    EXPECT_EQ(ParseRate(text), std::nullopt) << text;
  }
}

TEST(ParseDuration, KnowsNanosecondsToSeconds) {
  EXPECT_EQ(ParseDuration("5 ns"), Seconds::Count(5 * 1e-9));
  EXPECT_EQ(ParseDuration("5 us"), Seconds::Count(5 * 1e-6));
  EXPECT_EQ(ParseDuration("5 ms"), Seconds::Count(5 * 1e-3));
  EXPECT_EQ(ParseDuration("5 s"), Seconds::Count(5));
  EXPECT_EQ(ParseDuration("5 m"), std::nullopt);
}

TEST(ParseSize, TellsDecimalFromBinaryPrefixes) {
  EXPECT_EQ(ParseSize("80 GB"), Bytes::Count(80'000'000'000));
  EXPECT_EQ(ParseSize("80 GiB"), Bytes::Count(85'899'345'920));
  EXPECT_EQ(ParseSize("31.75 GiB"), Bytes::Count(34'091'302'912));
  EXPECT_EQ(ParseSize("1.5 B"), Bytes::Count(2));  // to the nearest byte
}

TEST(ParseSize, RefusesMoreThanAnIntegerHolds) {
  EXPECT_EQ(ParseSize("9000 PB"), Bytes::Count(9'000'000'000'000'000'000));
  EXPECT_EQ(ParseSize("9300 PB"), std::nullopt);
}

TEST(ParseFlopRate, KnowsPrefixes) {
  EXPECT_EQ(ParseFlopRate("125 TFLOP/s"), FlopsPerSecond::Count(125e12));
  EXPECT_EQ(ParseFlopRate("125 TFLOPS"), std::nullopt);  // FLOPS is a count or a rate
}

TEST(ParseInteger, AcceptsExponentsOfWholeNumbersOnly) {
  EXPECT_EQ(ParseInteger("1024"), 1024);
  EXPECT_EQ(ParseInteger("-3"), -3);
  EXPECT_EQ(ParseInteger("1e7"), 10'000'000);
  EXPECT_EQ(ParseInteger("1.5"), std::nullopt);
  EXPECT_EQ(ParseInteger("1e30"), std::nullopt);  // not exact in a double
  EXPECT_EQ(ParseInteger("0x10"), std::nullopt);
  EXPECT_EQ(ParseInteger("7 "), std::nullopt);
}

TEST(FormatSeconds, WritesThreeDigitsInTheUnitThatFits) {
  EXPECT_EQ(FormatSeconds(Seconds::Count(10.885)), "10.9 s");
  EXPECT_EQ(FormatSeconds(Seconds::Millis(10.885)), "10.9 ms");
  EXPECT_EQ(FormatSeconds(Seconds::Micros(1)), "1.00 us");
  EXPECT_EQ(FormatSeconds(Seconds::Count(0)), "0 s");
  EXPECT_EQ(FormatSeconds(Seconds::Count(1e-12)), "0.001 ns");
  EXPECT_EQ(FormatSeconds(Seconds::Count(86400)), "86400 s");
  EXPECT_EQ(FormatSeconds(Seconds::Millis(-2)), "-2.00 ms");
  EXPECT_EQ(FormatSeconds(Seconds::Count(std::numeric_limits<double>::infinity())), "inf s");
}

TEST(FormatSeconds, RoundsUpIntoTheNextUnit) {
  EXPECT_EQ(FormatSeconds(Seconds::Micros(999.7)), "1.00 ms");
  EXPECT_EQ(FormatSeconds(Seconds::Micros(999.4)), "999 us");
  EXPECT_EQ(FormatSeconds(Seconds::Millis(9.999)), "10.0 ms");
}

TEST(FormatBytes, WritesDecimalPrefixes) {
  EXPECT_EQ(FormatBytes(Bytes::Count(36'875'919'360)), "36.9 GB");
  EXPECT_EQ(FormatBytes(Bytes::Count(999)), "999 B");
  EXPECT_EQ(FormatBytes(Bytes::Count(1000)), "1.00 KB");
  EXPECT_EQ(FormatBytes(Bytes::Count(0)), "0 B");
}

TEST(FormatRate, WritesBytes) {
  EXPECT_EQ(FormatRate(BytesPerSecond::GigabitsPerSecond(100)), "12.5 GB/s");
  EXPECT_EQ(FormatFlopRate(FlopsPerSecond::TeraflopsPerSecond(125)), "125 TFLOP/s");
}

TEST(FormatQuantities, CanBeReadBack) {
  double v = 1.37e-9;
  for (int i = 0; i < 14; ++i, v *= 7.3) {  // to about a thousand seconds
    const auto back = ParseDuration(FormatSeconds(Seconds::Count(v)));
    ASSERT_TRUE(back) << v;
    EXPECT_NEAR(back->seconds() / v, 1, 0.005) << v;  // three digits: half of the last
  }
}

TEST(FormatNumber, AvoidsExponents) {
  EXPECT_EQ(FormatNumber(0.885), "0.885");
  EXPECT_EQ(FormatNumber(5e8), "500000000");
  EXPECT_EQ(FormatNumber(-2), "-2");
}

}  // namespace
}  // namespace zerosim
