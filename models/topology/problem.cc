#include "models/topology/problem.h"

namespace zerosim {

std::string TextOf(const TopologyProblems& problems) {
  std::string text;
  for (const TopologyProblem& problem : problems) {
    if (!text.empty()) text += '\n';
    text += problem.path + ": " + problem.what;
  }
  return text;
}

}  // namespace zerosim
