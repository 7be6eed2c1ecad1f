// Predictions beside what was measured, as text and as JSON.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "models/scenario/assemble.h"
#include "models/scenario/files.h"
#include "tools/zerosim/predict.h"
#include "validate/published.h"

namespace zerosim {

// One row of a published file, with what was predicted for it.
struct ValidatedRow {
  std::string file;  // PublishedFile::name
  PublishedRow row;
  std::string gpu;  // kind, as the catalog calls it
  Prediction predicted;

  // predicted / measured - 1, of what was measured.
  std::optional<double> step_error() const;
  std::optional<double> memory_error() const;
};

// The scenario of a row. Throws ScenarioError; what it says of the overrides names the row.
Scenario ScenarioOf(const PublishedRow& row, const std::string& path, const Catalog& catalog,
                    const Files& files);

// Means, quantiles and the ten worst rows; with `all` every row, and what was skipped and why.
std::string ValidationText(const std::vector<PublishedFile>& files,
                           const std::vector<ValidatedRow>& rows, bool all);

nlohmann::ordered_json ValidationJson(const std::vector<PublishedFile>& files,
                                      const std::vector<ValidatedRow>& rows);

}  // namespace zerosim
