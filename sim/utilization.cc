#include <algorithm>
#include <cmath>

#include "sim/report.h"

namespace zerosim {

std::vector<UtilizationSeries> UtilizationOf(const PreparedStep& step, const Timeline& timeline) {
  std::vector<UtilizationSeries> all;
  for (std::size_t l = 0; l < step.network.links.size(); ++l) {
    // A transfer uses the link evenly from its start to its end.
    std::vector<std::pair<Seconds, double>> changes;
    for (const Flow& flow : timeline.flows) {
      const LoweredCall& call = step.calls[step.program.ops[flow.op.value].call.value];
      const Seconds length = flow.when.end - flow.when.start;
      if (length <= Seconds()) continue;
      for (const LinkLoad& load : call.stages[flow.stage].loads) {
        if (load.link.value != static_cast<int>(l)) continue;
        const double busy =
            load.occupied / step.network.links[l].capacity.bytes_per_second() / length.seconds();
        changes.emplace_back(flow.when.start, busy);
        changes.emplace_back(flow.when.end, -busy);
      }
    }
    if (changes.empty()) continue;
    std::sort(changes.begin(), changes.end());
    UtilizationSeries series{step.network.links[l].name, {}};
    double now = 0;
    for (std::size_t i = 0; i < changes.size(); ++i) {
      now += changes[i].second;
      if (i + 1 < changes.size() && changes[i + 1].first == changes[i].first) continue;
      // Sums of equal terms with both signs leave dust.
      if (std::abs(now) < 1e-9) now = 0;
      series.points.emplace_back(changes[i].first, now);
    }
    all.push_back(std::move(series));
  }
  return all;
}

}  // namespace zerosim
