// The results of zerosim collective as a picture.
#pragma once

#include <vector>

#include "tools/zerosim/chart.h"
#include "tools/zerosim/collective_table.h"

namespace zerosim {

// busbw against size, a line an answer and, beside a log, its points once: all answers' are of one
// log. What all answers share is in the title and what tells them apart in the labels. Requires at
// least one answer.
Chart ChartOf(const std::vector<CollectiveAnswer>& answers);

}  // namespace zerosim
