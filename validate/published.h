// Published measurements: facts of others' training runs, each mapped to a scenario.
//
// A file holds one source: where it was published, the rule by which its rows were split before
// anything was predicted, what was assumed, and one row a measured run. A row is a list of
// overrides
// (`cluster.nodes: 4`) over those of its group and of the file; the format is in
// validate/README.md. Reading is strict, as for scenarios.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "models/core/units.h"
#include "models/scenario/assemble.h"
#include "models/scenario/files.h"

namespace zerosim {

struct PublishedRow {
  std::string id;
  std::string at;                  // place in the source: "README.md:75"
  std::string group;               // of rows that share hardware and source table
  bool calibration = false;        // may be fitted to; else it is held out
  std::vector<Override> scenario;  // later ones win
  std::optional<Seconds> step_time;
  std::optional<Bytes> memory;  // peak of the framework's allocator on one GPU
};

struct SkippedRow {
  std::string id;
  std::string reason;
};

struct PublishedFile {
  std::string name;
  std::string source;
  std::string split;  // the rule, in words
  std::vector<PublishedRow> rows;
  std::vector<SkippedRow> skipped;
};

// Throws ScenarioError with every problem in the file. The scenarios of its rows are not read.
PublishedFile ReadPublished(const std::string& path, const Files& files);

}  // namespace zerosim
