// What DeepSpeed refuses or gets wrong, by version and number: one table, used for every scenario.
//
// Numbers are issues and pull requests of deepspeedai/DeepSpeed unless said otherwise, files those
// of its source at edaa722. What depends on the shape of single weights (shards that qwZ refuses,
// gradients that qgZ leaves in 16 bit) is warned of where the weights are known, in
// models/program/.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "models/parallel/groups.h"
#include "models/scenario/document.h"
#include "models/scenario/scenario.h"

namespace zerosim {

enum class Severity : std::uint8_t {
  kNote,     // older versions only
  kWarning,  // it runs, but not as one would think, or not in every version
  kError     // DeepSpeed refuses it
};

struct Situation {
  const Scenario* scenario = nullptr;
  ProcessGroups groups;  // of the scenario; of one rank if it has errors
};

struct KnownProblem {
  std::string_view key;  // of the scenario, where it is reported
  Severity severity = Severity::kWarning;
  bool (*holds)(const Situation& situation) = nullptr;
  std::string_view what;
};

std::span<const KnownProblem> KnownProblems();

// Reports those of the table that hold for `scenario`, which was read from `root`, maybe with
// errors.
void ReportKnownProblems(const Node& root, const Scenario& scenario, Problems* problems);

}  // namespace zerosim
