#include "tools/zerosim/nearest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace zerosim {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(NearestNames, OrdersByDistance) {
  // From "abcdef": "abcdxf" is one replacement away, "abcxyf" two.
  EXPECT_THAT(NearestNames("abcdef", {"abcxyf", "abcdxf", "uvwxyz"}),
              ElementsAre("abcdxf", "abcxyf"));
}

TEST(NearestNames, CountsNoCaseDashUnderscoreOrSpace) {
  EXPECT_THAT(NearestNames("Step-Time s", {"step_time_s"}), ElementsAre("step_time_s"));
}

TEST(NearestNames, OffersNothingThatDiffersInMoreThanAThird) {
  EXPECT_THAT(NearestNames("abc", {"axc"}), ElementsAre("axc"));
  EXPECT_THAT(NearestNames("abc", {"axy"}), IsEmpty());
  EXPECT_THAT(NearestNames("", {"a"}), IsEmpty());
}

TEST(NearestNames, OffersAtMostAsManyAsAskedForAndEachOnce) {
  EXPECT_THAT(NearestNames("abc", {"abd", "abd", "abe", "abf"}, 2), ElementsAre("abd", "abe"));
}

}  // namespace
}  // namespace zerosim
