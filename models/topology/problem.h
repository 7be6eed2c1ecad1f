// What is wrong with a topology that a user described, as values: nothing here throws for it.
#pragma once

#include <string>
#include <vector>

namespace zerosim {

struct TopologyProblem {
  std::string path;  // of the field, from the checked value on: "levels[1].children"
  std::string what;  // one sentence, no final stop: what is wrong; what would be right
  friend bool operator==(const TopologyProblem&, const TopologyProblem&) = default;
};

using TopologyProblems = std::vector<TopologyProblem>;

// "path: what", one a line.
std::string TextOf(const TopologyProblems& problems);

}  // namespace zerosim
