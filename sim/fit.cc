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

}  // namespace

Bytes PeakMemory(const Scenario& scenario) {
  const ModelLayout layout = Layout(scenario.model);
  return WalkMemory(BuildProgram(scenario, layout), StaticMemoryOf(scenario, layout)).peak;
}

std::optional<FittingChange> SmallestFittingChange(const Scenario& scenario) {
  std::vector<Candidate> candidates;
  AddParameterLimits(scenario, &candidates);
  AddSecondary(scenario, &candidates);
  AddMicroBatches(scenario, &candidates);
  AddCheckpointing(scenario, &candidates);
  AddStages(scenario, &candidates);
  AddNodes(scenario, &candidates);
  for (const Candidate& candidate : candidates) {
    const Bytes peak = PeakMemory(candidate.scenario);
    if (peak <= scenario.cluster.node.gpu.memory) return FittingChange{candidate.setting, peak};
  }
  return std::nullopt;
}

}  // namespace zerosim
