#include <algorithm>
#include <cmath>

#include "sim/report.h"

namespace zerosim {
namespace {

// Changes of how busy the links of a kind are.
class Changes {
 public:
  // A transfer uses links evenly from its start to its end.
  void Add(const Interval& when, double seconds_busy) {
    const Seconds length = when.end - when.start;
    if (length <= Seconds()) return;
    changes_.emplace_back(when.start, seconds_busy / length.seconds());
    changes_.emplace_back(when.end, -seconds_busy / length.seconds());
  }

  std::vector<std::pair<Seconds, double>> Points() && {
    std::sort(changes_.begin(), changes_.end());
    std::vector<std::pair<Seconds, double>> points;
    double now = 0;
    for (std::size_t i = 0; i < changes_.size(); ++i) {
      now += changes_[i].second;
      if (i + 1 < changes_.size() && changes_[i + 1].first == changes_[i].first) continue;
      // Sums of equal terms with both signs leave dust.
      if (std::abs(now) < 1e-9) now = 0;
      points.emplace_back(changes_[i].first, now);
    }
    return points;
  }

 private:
  std::vector<std::pair<Seconds, double>> changes_;
};

}  // namespace

std::vector<UtilizationSeries> UtilizationOf(const PreparedStep& step, const Timeline& timeline) {
  const NetworkModel& network = step.network;
  // Classes of a kind that carry anything: their mean stands for the kind.
  std::vector<bool> used(network.links.size(), false);
  for (const LoweredCall& call : step.calls) {
    for (const LoweredStage& stage : call.stages) {
      for (const LinkLoad& load : stage.loads) used[load.link.value] = true;
    }
  }
  std::vector<UtilizationSeries> all;
  for (int kind = 0; kind < NetworkModel::kNumKinds; ++kind) {
    double classes = 0;
    for (std::size_t l = kind; l < used.size(); l += NetworkModel::kNumKinds) classes += used[l];
    Changes changes;
    const auto add = [&](const LoweredStage& stage, const Interval& when, int count) {
      for (const LinkLoad& load : stage.loads) {
        if (load.link.value % NetworkModel::kNumKinds != kind) continue;
        const double rate = network.links[load.link.value].capacity.bytes_per_second();
        changes.Add(when, count * load.occupied / rate / classes);
      }
    };
    for (const Flow& flow : timeline.flows) {
      const CallId call = step.program.ops[flow.op.value].call;
      add(step.calls[call.value].stages[flow.stage], flow.when, 1);
    }
    for (std::size_t i = 0; i < step.program.ops.size(); ++i) {
      for (const InlineCall& inside : step.program.ops[i].inline_calls) {
        for (const LoweredStage& stage : step.calls[inside.call.value].stages) {
          add(stage, timeline.ops[i], inside.count);
        }
      }
    }
    auto points = std::move(changes).Points();
    if (points.empty()) continue;
    all.push_back({network.KindName(LinkId{kind}), std::move(points)});
  }
  return all;
}

}  // namespace zerosim
