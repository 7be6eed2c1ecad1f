#include "models/parallel/stages.h"

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include <fmt/format.h>

namespace zerosim {

std::vector<int> LayersOfRuns(int layers, const ParallelSpec& parallel) {
  const int runs = parallel.pipeline * parallel.virtual_stages;
  if (!parallel.layers_per_stage.empty()) {
    const std::vector<int>& given = parallel.layers_per_stage;
    const bool gap = given.size() > 2 && std::any_of(given.begin() + 1, given.end() - 1,
                                                     [](int held) { return held < 1; });
    const int sum = std::accumulate(given.begin(), given.end(), 0);
    if (static_cast<int>(given.size()) != runs || sum != layers || gap) {
      throw std::invalid_argument(fmt::format("{} runs of {} layers given for {} runs of {}{}",
                                              given.size(), sum, runs, layers,
                                              gap ? ", one of them empty" : ""));
    }
    return given;
  }
  if (runs < 1 || runs > MostRuns(layers)) {
    throw std::invalid_argument(fmt::format("{} runs of {} layers", runs, layers));
  }
  std::vector<int> held(static_cast<std::size_t>(runs), layers / runs);
  if (layers % runs == 0) return held;
  const int counted = layers + 2;
  for (int run = 0; run < runs; ++run) held[run] = counted / runs + (run < counted % runs ? 1 : 0);
  --held.front();
  --held.back();
  return held;
}

std::vector<int> RunOfLayers(int layers, const ParallelSpec& parallel) {
  const std::vector<int> held = LayersOfRuns(layers, parallel);
  std::vector<int> run_of;
  run_of.reserve(static_cast<std::size_t>(layers));
  for (int run = 0; run < static_cast<int>(held.size()); ++run) {
    run_of.insert(run_of.end(), static_cast<std::size_t>(held[run]), run);
  }
  return run_of;
}

}  // namespace zerosim
