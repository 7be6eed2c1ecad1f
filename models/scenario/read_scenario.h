// From YAML to a Scenario, with every problem at once.
//
// The format, key by key, is in keys.h and scenarios/README.md. Reading is strict: unknown and
// repeated keys, missing units, values out of range and groups that do not divide are errors at
// their own line and column. A key that has no effect in this scenario is a warning.
#pragma once

#include <string>
#include <vector>

#include "models/scenario/assemble.h"
#include "models/scenario/files.h"
#include "models/scenario/scenario.h"

namespace zerosim {

struct ReadResult {
  Scenario scenario;
  std::vector<std::string> warnings;  // "file:line:column: warning: ..."
  std::vector<std::string> notes;     // "file:line:column: note: ...", of imported configurations
  std::string canonical_text;         // of all inputs as merged; hash it to name the question
};

// Reads the scenario at `path`, with `set` over it. Throws ScenarioError with all problems, a
// missing file among them.
ReadResult ReadScenario(const std::string& path, const std::vector<Override>& set,
                        const Catalog& catalog);

// The same for a text that lies at `path` among `files`.
ReadResult ReadScenarioText(const std::string& text, const std::string& path,
                            const std::vector<Override>& set, const Catalog& catalog,
                            const Files& files);

// The cluster alone of a scenario's file, or of one that has no more than a section "cluster".
struct ClusterResult {
  std::string name;
  ClusterSpec cluster;
  std::string canonical_text;
};
ClusterResult ReadClusterOf(const std::string& path, const std::vector<Override>& set,
                            const Catalog& catalog);

}  // namespace zerosim
