// Unions of time intervals: how long something ran, and how much of it nothing else covered.
#pragma once

#include <vector>

#include "sim/timeline.h"

namespace zerosim {

// Disjoint intervals in ascending order that cover the same instants. Empty ones are dropped.
std::vector<Interval> UnionOf(std::vector<Interval> intervals);

// Total length of disjoint intervals.
Seconds LengthOf(const std::vector<Interval>& disjoint);

// The length of `of` that lies outside of `without`. Both must come from UnionOf.
Seconds LengthOutside(const std::vector<Interval>& of, const std::vector<Interval>& without);

}  // namespace zerosim
