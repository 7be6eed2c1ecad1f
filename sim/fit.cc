#include "sim/fit.h"

#include <utility>
#include <vector>

#include <fmt/format.h>

#include "models/memory/memory.h"
#include "models/program/build_program.h"
#include "sim/memory_walk.h"

namespace zerosim {
namespace {

struct Candidate {
  std::string setting;
  Scenario scenario;
};

void AddParameterLimits(const Scenario& s, std::vector<Candidate>* out) {
  if (s.zero.stage != 3) return;
  for (std::int64_t live = s.zero.max_live_parameters / 2; live >= 50'000'000; live /= 2) {
    Scenario changed = s;
    changed.zero.max_live_parameters = live;
    out->push_back({fmt::format("zero.max_live_parameters={}", live), std::move(changed)});
  }
}

void AddSecondary(const Scenario& s, std::vector<Candidate>* out) {
  if (!s.zero.has_secondary()) return;
  Scenario changed = s;
  changed.zero.secondary_partition_size = 1;
  out->push_back({"zero.secondary_partition_size=1", std::move(changed)});
}

void AddMicroBatches(const Scenario& s, std::vector<Candidate>* out) {
  for (std::int64_t size = s.training.micro_batch_size / 2; size >= 1; size /= 2) {
    Scenario changed = s;
    changed.training.micro_batch_size = size;
    out->push_back({fmt::format("training.micro_batch_size={}", size), std::move(changed)});
  }
}

void AddCheckpointing(const Scenario& s, std::vector<Candidate>* out) {
  const auto add = [&](Checkpointing mode, const char* name) {
    if (s.training.checkpointing >= mode) return;
    Scenario changed = s;
    changed.training.checkpointing = mode;
    out->push_back({std::string("training.activation_checkpointing=") + name, std::move(changed)});
  };
  add(Checkpointing::kSelective, "selective");
  add(Checkpointing::kFull, "full");
}

void AddStages(const Scenario& s, std::vector<Candidate>* out) {
  for (int stage = s.zero.stage + 1; stage <= 3; ++stage) {
    Scenario changed = s;
    changed.zero.stage = stage;
    out->push_back({fmt::format("zero.stage={}", stage), std::move(changed)});
  }
}

void AddNodes(const Scenario& s, std::vector<Candidate>* out) {
  for (int times = 2; times <= 64; times *= 2) {
    Scenario changed = s;
    changed.cluster.nodes = s.cluster.nodes * times;
    out->push_back({fmt::format("cluster.nodes={}", changed.cluster.nodes), std::move(changed)});
  }
}

// The peak, if it fits. What is always there is known without building a program.
std::optional<Bytes> FittingPeak(const Scenario& s) {
  const Bytes capacity = s.cluster.node.gpu.memory;
  const StaticMemory always = StaticMemoryOf(s, Layout(s.model));
  if (always.allocated() + always.buffers + always.context > capacity) return std::nullopt;
  const Bytes peak = PeakMemory(s);
  return peak <= capacity ? std::optional(peak) : std::nullopt;
}

}  // namespace

Bytes PeakMemory(const Scenario& scenario) {
  const ModelLayout layout = Layout(scenario.model);
  return WalkMemory(BuildProgram(scenario, layout), StaticMemoryOf(scenario, layout)).peak;
}

std::optional<FittingChange> SmallestFittingChange(const Scenario& scenario) {
  for (const auto add :
       {AddParameterLimits, AddSecondary, AddMicroBatches, AddCheckpointing, AddStages, AddNodes}) {
    // Candidates of one key become ever stronger: if the last is not enough, none is.
    std::vector<Candidate> candidates;
    add(scenario, &candidates);
    if (candidates.empty() || !FittingPeak(candidates.back().scenario)) continue;
    for (const Candidate& candidate : candidates) {
      if (const auto peak = FittingPeak(candidate.scenario)) {
        return FittingChange{candidate.setting, *peak};
      }
    }
  }
  return std::nullopt;
}

}  // namespace zerosim
