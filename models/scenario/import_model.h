// A model that another framework describes, by itself: what `zerosim import` prints.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace zerosim {

struct ImportedModel {
  std::string yaml;  // the section `model:`, to be pasted into a scenario or the catalog
  std::int64_t parameters = 0;
  std::int64_t active_parameters = 0;
  std::vector<std::string> warnings;  // of what the section leaves out
};

// Reads the config.json `text` of `file`. Throws a ScenarioError with everything that is wrong with
// it, as a scenario that names it would.
ImportedModel ImportHuggingFace(const std::string& text, const std::string& file);

}  // namespace zerosim
