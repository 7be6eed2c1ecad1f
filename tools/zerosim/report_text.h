#pragma once

#include <string>

#include "sim/step_report.h"

namespace zerosim {

// The report for people, in lines of at most 100 columns except where a name, a path or a source is
// longer. The same report gives the same text: how long the simulation itself took is not in it.
std::string ReportText(const StepReport& report);

}  // namespace zerosim
