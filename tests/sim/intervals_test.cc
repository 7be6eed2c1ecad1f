#include "sim/intervals.h"

#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace zerosim {
namespace {

std::vector<Interval> Of(const std::vector<std::pair<double, double>>& pairs) {
  std::vector<Interval> intervals;
  intervals.reserve(pairs.size());
  for (const auto& [start, end] : pairs) {
    intervals.push_back({Seconds::Count(start), Seconds::Count(end)});
  }
  return intervals;
}

std::vector<std::pair<double, double>> PairsOf(const std::vector<Interval>& intervals) {
  std::vector<std::pair<double, double>> pairs;
  pairs.reserve(intervals.size());
  for (const Interval& i : intervals) pairs.emplace_back(i.start.seconds(), i.end.seconds());
  return pairs;
}

using Pairs = std::vector<std::pair<double, double>>;

TEST(UnionOf, MergesWhatOverlapsOrTouchesAndDropsWhatIsEmpty) {
  EXPECT_EQ(PairsOf(UnionOf({})), Pairs());
  EXPECT_EQ(PairsOf(UnionOf(Of({{5, 5}, {7, 6}}))), Pairs());
  EXPECT_EQ(PairsOf(UnionOf(Of({{4, 6}, {0, 1}, {1, 2}, {5, 8}, {3, 3}}))),
            (Pairs{{0, 2}, {4, 8}}));
  // One inside of another does not end it.
  EXPECT_EQ(PairsOf(UnionOf(Of({{0, 10}, {2, 3}, {9, 11}}))), (Pairs{{0, 11}}));
}

TEST(LengthOf, AddsUp) {
  EXPECT_EQ(LengthOf({}), Seconds());
  EXPECT_EQ(LengthOf(Of({{0, 2}, {4, 8}})), Seconds::Count(6));
}

TEST(LengthOutside, LeavesOutWhatIsCovered) {
  const auto of = Of({{0, 4}, {6, 10}});

  EXPECT_EQ(LengthOutside(of, {}), Seconds::Count(8));
  EXPECT_EQ(LengthOutside({}, of), Seconds());
  EXPECT_EQ(LengthOutside(of, of), Seconds());
  // 1 s of the first, the gap, and 1 s of the second.
  EXPECT_EQ(LengthOutside(of, Of({{3, 7}})), Seconds::Count(6));
  EXPECT_EQ(LengthOutside(of, Of({{-1, 1}, {2, 3}, {5, 5.5}, {9, 20}})), Seconds::Count(5));
  EXPECT_EQ(LengthOutside(of, Of({{-5, 0}, {4, 6}, {10, 11}})), Seconds::Count(8));
}

}  // namespace
}  // namespace zerosim
