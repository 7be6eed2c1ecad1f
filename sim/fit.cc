#include "sim/fit.h"

#include <utility>
#include <vector>

#include <fmt/format.h>

#include "models/memory/memory.h"
#include "models/parallel/rank_view.h"
#include "models/program/build_program.h"
#include "sim/simulate.h"

namespace zerosim {
namespace {

constexpr std::int64_t kMostRanks = 16'777'216;  // that the reader accepts

struct Candidate {
  std::string setting;
  Scenario scenario;
};

// A change of the micro-batch or of the number of ranks. A global batch that the scenario fixes is
// kept by more or fewer micro-steps; where it can't be, there is no candidate.
void AddBatchChange(std::string setting, Scenario changed, std::vector<Candidate>* out) {
  if (const auto global = changed.training.global_batch_size) {
    const std::int64_t one_step = changed.training.micro_batch_size * changed.sample_ranks();
    if (*global % one_step != 0) return;
    changed.training.gradient_accumulation_steps = static_cast<int>(*global / one_step);
    setting += fmt::format(" --set training.gradient_accumulation_steps={}", *global / one_step);
  }
  out->push_back({std::move(setting), std::move(changed)});
}

// Flat gradient buckets are always there: half of them at a time, down to what holds a large
// matrix.
void AddBuckets(const Scenario& s, std::vector<Candidate>* out) {
  if (s.fsdp || s.zero.stage == 0 || !s.zero.contiguous_gradients) return;
  for (std::int64_t size = s.zero.reduce_bucket_size / 2; size >= 10'000'000; size /= 2) {
    Scenario changed = s;
    changed.zero.reduce_bucket_size = size;
    out->push_back({fmt::format("zero.reduce_bucket_size={}", size), std::move(changed)});
  }
}

void AddParameterLimits(const Scenario& s, std::vector<Candidate>* out) {
  if (s.fsdp || s.zero.stage != 3) return;
  for (std::int64_t live = s.zero.max_live_parameters / 2; live >= 50'000'000; live /= 2) {
    Scenario changed = s;
    changed.zero.max_live_parameters = live;
    out->push_back({fmt::format("zero.max_live_parameters={}", live), std::move(changed)});
  }
}

// What DeepSpeed's default would release after use and a larger value keeps.
void AddReuseDistance(const Scenario& s, std::vector<Candidate>* out) {
  constexpr std::int64_t usual = ZeroConfig{}.max_reuse_distance;
  if (s.fsdp || s.zero.stage != 3 || s.zero.max_reuse_distance <= usual) return;
  Scenario changed = s;
  changed.zero.max_reuse_distance = usual;
  out->push_back({fmt::format("zero.max_reuse_distance={}", usual), std::move(changed)});
}

// What DeepSpeed's default would shard and a larger value leaves whole on every rank.
void AddPersistence(const Scenario& s, std::vector<Candidate>* out) {
  constexpr std::int64_t usual = ZeroConfig{}.param_persistence_threshold;
  if (s.fsdp || s.zero.stage != 3 || s.zero.param_persistence_threshold <= usual) return;
  Scenario changed = s;
  changed.zero.param_persistence_threshold = usual;
  out->push_back({fmt::format("zero.param_persistence_threshold={}", usual), std::move(changed)});
}

void AddSecondary(const Scenario& s, std::vector<Candidate>* out) {
  if (s.secondary_size() == 1) return;
  Scenario changed = s;
  changed.zero.secondary_partition_size = 1;
  if (changed.fsdp) changed.fsdp->secondary_partition_size = 1;
  out->push_back({s.fsdp ? "fsdp.secondary_partition_size=1" : "zero.secondary_partition_size=1",
                  std::move(changed)});
}

void AddMicroBatches(const Scenario& s, std::vector<Candidate>* out) {
  for (std::int64_t size = s.training.micro_batch_size / 2; size >= 1; size /= 2) {
    Scenario changed = s;
    changed.training.micro_batch_size = size;
    AddBatchChange(fmt::format("training.micro_batch_size={}", size), std::move(changed), out);
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
  if (s.fsdp) {
    Scenario changed = s;
    if (s.fsdp->sharding == FsdpStrategy::kFullShard) return;
    changed.fsdp->sharding = FsdpStrategy::kFullShard;
    out->push_back({"fsdp.sharding=full_shard", std::move(changed)});
    return;
  }
  for (int stage = s.zero.stage + 1; stage <= 3; ++stage) {
    Scenario changed = s;
    changed.zero.stage = stage;
    out->push_back({fmt::format("zero.stage={}", stage), std::move(changed)});
  }
}

// One copy of the states over all ranks instead of several.
void AddFullSharding(const Scenario& s, std::vector<Candidate>* out) {
  const int size = s.fsdp ? s.fsdp->shard_size : s.zero.shard_size;
  if (size == 0 || size == s.world_size()) return;
  Scenario changed = s;
  (s.fsdp ? changed.fsdp->shard_size : changed.zero.shard_size) = 0;
  out->push_back({fmt::format("{}.shard_size={}", s.fsdp ? "fsdp" : "zero", s.world_size()),
                  std::move(changed)});
}

// States in the host's memory, where its rate is known and they fit into it.
void AddOffload(const Scenario& s, std::vector<Candidate>* out) {
  if (s.cluster.node.host_memory_bandwidth <= BytesPerSecond()) return;
  const auto add = [&](const Scenario& changed, std::string setting) {
    const StaticMemory always =
        StaticMemoryOf(changed, Layout(RankModel(changed.model, changed.parallel)));
    const Bytes there = s.cluster.node.host_memory;
    if (there > Bytes() && s.cluster.node.gpus * always.host > there) return;
    out->push_back({std::move(setting), changed});
  };
  Scenario changed = s;
  if (s.fsdp) {
    const bool sums = s.training.gradient_accumulation_steps > 1 && !s.fsdp->no_sync;
    if (sums || s.fsdp->offload || s.fsdp->sharding == FsdpStrategy::kNoShard) return;
    changed.fsdp->offload = true;
    return add(changed, "fsdp.offload=true");
  }
  if (s.zero.stage == 0) return;
  if (!s.zero.offload.optimizer) {
    changed.zero.offload.optimizer = changed.zero.offload.optimizer_pinned = true;
    add(changed, "zero.offload_optimizer='{device: cpu, pin_memory: true}'");
  }
}

void AddNodes(const Scenario& s, std::vector<Candidate>* out) {
  for (int times = 2; times <= 64; times *= 2) {
    if (std::int64_t{s.world_size()} * times > kMostRanks) return;
    Scenario changed = s;
    changed.cluster.nodes = s.cluster.nodes * times;
    std::string setting = fmt::format("cluster.nodes={}", changed.cluster.nodes);
    AddBatchChange(std::move(setting), std::move(changed), out);
  }
}

// The peak, if it fits. What is always there is known without building a program.
std::optional<Bytes> FittingPeak(const Scenario& s) {
  const Bytes capacity = s.cluster.node.gpu.memory;
  if (s.parallel.pipeline > 1) {
    const Bytes peak = PeakMemory(s);
    return peak <= capacity ? std::optional(peak) : std::nullopt;
  }
  const StaticMemory always = StaticMemoryOf(s, Layout(RankModel(s.model, s.parallel)));
  if (always.allocated() + always.buffers + always.context > capacity) return std::nullopt;
  const Bytes peak = PeakMemory(s);
  return peak <= capacity ? std::optional(peak) : std::nullopt;
}

}  // namespace

std::optional<FittingChange> SmallestFittingChange(const Scenario& scenario) {
  for (const auto add :
       {AddReuseDistance, AddPersistence, AddParameterLimits, AddBuckets, AddSecondary,
        AddMicroBatches, AddCheckpointing, AddStages, AddFullSharding, AddOffload, AddNodes}) {
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
