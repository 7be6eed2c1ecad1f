#include "sim/intervals.h"

#include <algorithm>
#include <cstddef>

namespace zerosim {

std::vector<Interval> UnionOf(std::vector<Interval> intervals) {
  std::erase_if(intervals, [](const Interval& i) { return i.end <= i.start; });
  std::sort(intervals.begin(), intervals.end(),
            [](const Interval& a, const Interval& b) { return a.start < b.start; });
  std::vector<Interval> merged;
  for (const Interval& i : intervals) {
    if (merged.empty() || merged.back().end < i.start) {
      merged.push_back(i);
    } else {
      merged.back().end = std::max(merged.back().end, i.end);
    }
  }
  return merged;
}

Seconds LengthOf(const std::vector<Interval>& disjoint) {
  Seconds length;
  for (const Interval& i : disjoint) length += i.end - i.start;
  return length;
}

Seconds LengthOutside(const std::vector<Interval>& of, const std::vector<Interval>& without) {
  Seconds covered;
  std::size_t k = 0;
  for (const Interval& i : of) {
    while (k < without.size() && without[k].end <= i.start) ++k;
    for (std::size_t j = k; j < without.size() && without[j].start < i.end; ++j) {
      covered += std::min(i.end, without[j].end) - std::max(i.start, without[j].start);
    }
  }
  return LengthOf(of) - covered;
}

}  // namespace zerosim
