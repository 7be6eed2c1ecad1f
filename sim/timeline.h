// When every operation of a program ran: what an engine returns.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/core/ids.h"
#include "models/core/units.h"

namespace zerosim {

struct Interval {
  Seconds start;  // when its dependencies were met
  Seconds end;
};

// The transfer of one stage of a collective, without its latency.
struct Flow {
  OpId op;
  int stage = 0;
  Interval when;
};

struct Timeline {
  std::vector<Interval> ops;  // one for each of StepProgram::ops
  std::vector<Flow> flows;    // in the order of their ends; fluid engine only
  Seconds end;
  std::string engine;           // "fluid" or "message"
  std::int64_t activities = 0;  // that SimGrid simulated
  int link_classes = 0;         // that the engine needed
  Seconds wall;                 // of the engine, on this machine
};

}  // namespace zerosim
