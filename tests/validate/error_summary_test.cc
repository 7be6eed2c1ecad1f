#include "validate/error_summary.h"

#include <gtest/gtest.h>

namespace zerosim {
namespace {

TEST(Summarize, TakesMagnitudesButForTheBias) {
  const ErrorSummary s = Summarize({-0.4, 0.1, 0.2, -0.1});

  EXPECT_EQ(s.count, 4u);
  EXPECT_DOUBLE_EQ(s.mean, 0.2);
  EXPECT_DOUBLE_EQ(s.median, 0.1);  // half of the rows are no worse
  EXPECT_DOUBLE_EQ(s.p90, 0.4);
  EXPECT_DOUBLE_EQ(s.worst, 0.4);
  EXPECT_DOUBLE_EQ(s.bias, -0.05);
}

TEST(Summarize, LeavesOutATenthAtTheNinetiethPercentile) {
  EXPECT_DOUBLE_EQ(Summarize({.01, .02, .03, .04, .05, .06, .07, .08, .09, .9}).p90, 0.09);
}

TEST(Summarize, OfNothingIsZero) {
  EXPECT_EQ(Summarize({}).count, 0u);
  EXPECT_EQ(Summarize({}).worst, 0);
}

}  // namespace
}  // namespace zerosim
