// From a scenario to its report: the one entry of the simulator.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "models/memory/memory.h"
#include "models/program/step_program.h"
#include "models/scenario/scenario.h"
#include "sim/lowering.h"
#include "sim/memory_walk.h"
#include "sim/network.h"
#include "sim/step_report.h"
#include "sim/timeline.h"

namespace zerosim {

enum class Engine : std::uint8_t { kFluid, kMessage };

// Every stage between scenario and report, so that each can be printed.
struct PreparedStep {
  std::int64_t parameters = 0;  // of the whole model
  std::int64_t trainable_parameters = 0;
  ModelLayout layout;  // of one rank's part
  StepProgram program;
  NetworkModel network;
  std::vector<LoweredCall> calls;
  // Of the ranks that need most: their class, what they always have, and the walk over the step.
  int fullest_class = 0;
  StaticMemory always;
  MemoryWalk memory;
};

// Builds and lowers, simulates nothing.
PreparedStep Prepare(const Scenario& scenario);

// Largest memory of a GPU in a step, context included. Simulates nothing.
Bytes PeakMemory(const Scenario& scenario);

// Utilization over time of one link class, averaged over the transfer of each collective.
struct UtilizationSeries {
  std::string link;
  std::vector<std::pair<Seconds, double>> points;  // from each instant on
};

struct SimulationResult {
  PreparedStep step;
  Timeline timeline;
  StepReport report;                           // version and hash are the caller's to fill in
  std::vector<UtilizationSeries> utilization;  // fluid engine only
};

// Once a process (simgrid_session.h). Throws EngineLimit if the message engine can't take the
// scenario, and std::logic_error if the result beats a physical bound (bounds.h).
SimulationResult Simulate(const Scenario& scenario, Engine engine);

// Each stage as text, one line an item.
std::string DumpProgram(const PreparedStep& step);
std::string DumpLowering(const PreparedStep& step);
std::string DumpPlatform(const PreparedStep& step);

}  // namespace zerosim
