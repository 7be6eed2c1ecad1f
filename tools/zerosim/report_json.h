// The result of `zerosim run --json`. Its keys are a contract: they may be added to, never renamed.
// What each means: `zerosim explain KEY`.
#pragma once

#include <nlohmann/json.hpp>

#include "sim/step_report.h"

namespace zerosim {

// The report as JSON: times in seconds, sizes in bytes, the unit at the end of each key. Numbers
// are exact (shortest decimal that reads back the same).
nlohmann::ordered_json ReportJson(const StepReport& report);

}  // namespace zerosim
