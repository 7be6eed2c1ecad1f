#include <algorithm>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "models/parallel/groups.h"
#include "models/parallel/stages.h"
#include "models/scenario/key_check.h"

namespace zerosim {
namespace {

class GroupCheck : KeyCheck {
 public:
  using KeyCheck::KeyCheck;

  void Run() {
    if (CheckParallelism()) CheckGroups();
  }

 private:
  // Data-parallel ranks that share a node.
  std::int64_t DataRanksOfNode() const { return s_.data_ranks_per_node(); }
  std::string NearestSizes(std::int64_t size) const;
  bool CheckParallelism();
  void CheckDivisions();
  void CheckStages();
  void CheckRuns();
  void CheckExperts();
  void CheckDifferences();
  bool CheckPlacement();
  void CheckGroups();
  void CheckSecondaryInShard();
  void CheckGroup(std::string_view key, std::int64_t size);
};

// Sizes near `size` that a secondary partition can have.
std::string GroupCheck::NearestSizes(std::int64_t size) const {
  const std::int64_t gpus = DataRanksOfNode();
  std::int64_t below = 1;
  std::int64_t above = DataRanks();
  const auto offer = [&](std::int64_t candidate) {
    if (DataRanks() % candidate != 0) return;
    if (candidate < size) below = std::max(below, candidate);
    if (candidate > size) above = std::min(above, candidate);
  };
  for (std::int64_t d = 1; d <= gpus; ++d) {
    if (gpus % d == 0) offer(d);
  }
  for (std::int64_t nodes = 1; nodes * nodes <= s_.cluster.nodes; ++nodes) {
    if (s_.cluster.nodes % nodes != 0) continue;
    offer(gpus * nodes);
    offer(gpus * (s_.cluster.nodes / nodes));
  }
  return fmt::format("nearest are {} and {}", below, above);
}

// Returns false if the ranks cannot be divided as asked: other groups are then no matter.
bool GroupCheck::CheckParallelism() {
  const ParallelSpec& p = s_.parallel;
  if (!KnowRanks() || !Know({"parallelism.tensor", "parallelism.context", "parallelism.pipeline",
                             "parallelism.order"})) {
    return false;
  }
  CheckDivisions();
  if (Ranks() % ModelRanks() != 0) {
    Report("parallelism",
           fmt::format("tensor {} x context {} x pipeline {} are {} ranks, which do not divide "
                       "the {} ranks ({} nodes{} x {} GPUs)",
                       p.tensor, p.context, p.pipeline, ModelRanks(), Ranks(), s_.cluster.nodes,
                       Mention("cluster.nodes", "parallelism"), s_.cluster.node.gpus));
    return false;
  }
  return CheckPlacement();
}

// What tensor and context parallelism divide.
void GroupCheck::CheckDivisions() {
  const ParallelSpec& p = s_.parallel;
  const TransformerSpec& m = s_.model;
  const auto divides = [&](const char* key, int ranks, const char* what, std::int64_t size) {
    if (!Know({what}) || size % ranks == 0) return;
    Report(key, fmt::format("expected a divisor of {} {}{}, got {}", what, size, Mention(what, key),
                            ranks));
  };
  divides("parallelism.tensor", p.tensor, "model.heads", m.heads);
  divides("parallelism.tensor", p.tensor, "model.ffn_hidden", m.ffn_hidden);
  divides("parallelism.context", p.context, "training.sequence_length",
          s_.training.sequence_length);
  if (p.tensor > 1 && p.tensor_overlap == TensorOverlap::kAsync && !p.sequence_parallel &&
      Know({"parallelism.tensor_overlap", "parallelism.sequence"})) {
    Report("parallelism.tensor_overlap",
           "async needs parallelism.sequence: true; an all-reduce of whole sums has no chunks that "
           "products could start with");
  }
  CheckStages();
  CheckExperts();
  CheckDifferences();
  if (Know({"model.kv_heads", "model.heads"}) && m.kv_heads % p.tensor != 0 &&
      p.tensor % m.kv_heads != 0) {
    Report("parallelism.tensor",
           fmt::format("expected a divisor or a multiple of kv_heads {}{}, got {}", m.kv_heads,
                       Mention("model.kv_heads", "parallelism.tensor"), p.tensor));
  }
}

// All ranks reduce gradients in stages 1 and 2, and qgZ's hops lie in the shard group.
void GroupCheck::CheckDifferences() {
  const std::string_view key = "zero.shard_size";
  if (!Know({key}) || s_.fsdp || s_.zero.stage == 3 || !s_.zero.quantizes_gradients()) return;
  if (s_.zero.shard_size == 0 || s_.zero.shard_size == DataRanks()) return;
  Report(key, fmt::format("expected all {} data-parallel ranks with quantized_gradients{} in stage "
                          "{}, got {}",
                          DataRanks(), Mention("zero.quantized_gradients", key), s_.zero.stage,
                          s_.zero.shard_size));
}

void GroupCheck::CheckStages() {
  const ParallelSpec& p = s_.parallel;
  if (p.pipeline == 1 || !Know({"parallelism.virtual_stages"})) return;
  if (Know({"parallelism.layers_per_stage"})) CheckRuns();
  const int micro_batches = s_.training.gradient_accumulation_steps;
  if (p.virtual_stages > 1 && Know({"training.gradient_accumulation_steps"}) &&
      micro_batches % p.pipeline != 0) {
    Report("training.gradient_accumulation_steps",
           fmt::format("expected a multiple of the {} pipeline stages{}, which interleave, got "
                       "{}",
                       p.pipeline,
                       Mention("parallelism.pipeline", "training.gradient_accumulation_steps"),
                       micro_batches));
  }
}

// Runs of layers that stages hold.
void GroupCheck::CheckRuns() {
  const ParallelSpec& p = s_.parallel;
  const std::int64_t runs = std::int64_t{p.pipeline} * p.virtual_stages;
  const std::string_view key = "parallelism.layers_per_stage";
  if (!places_.Has(key)) {
    if (!Know({"model.layers"}) || runs <= MostRuns(s_.model.layers)) return;
    Report(
        "parallelism.pipeline",
        fmt::format("expected at most {} stages x virtual stages, which the {} layers{}, the "
                    "embedding and the head fill, got {} x {}",
                    MostRuns(s_.model.layers), s_.model.layers,
                    Mention("model.layers", "parallelism.pipeline"), p.pipeline, p.virtual_stages));
    return;
  }
  const std::vector<int>& given = p.layers_per_stage;
  const auto count = static_cast<std::int64_t>(given.size());
  if (count != runs) {
    Report(key, fmt::format("expected {} numbers, one for each of {} stages{} x {} virtual "
                            "stages, got {}",
                            runs, p.pipeline, Mention("parallelism.pipeline", key),
                            p.virtual_stages, count));
    return;
  }
  for (std::int64_t run = 1; run + 1 < runs; ++run) {
    if (given[run] > 0) continue;
    Report(key, fmt::format("expected at least 1 layer between the first and the last number, got "
                            "0 at place {}",
                            run + 1));
    return;
  }
  const std::int64_t sum = std::accumulate(given.begin(), given.end(), std::int64_t{0});
  if (!Know({"model.layers"}) || sum == s_.model.layers) return;
  Report(key, fmt::format("expected numbers that add up to the {} layers{}, got {}",
                          s_.model.layers, Mention("model.layers", key), sum));
}

void GroupCheck::CheckExperts() {
  const std::string_view key = "parallelism.expert";
  const int ranks = s_.parallel.expert;
  if (ranks == 1 || !KnowParallelism() || !Know({key})) return;
  if (Know({"model.mixture"}) && !s_.model.mixture) {
    Report(key, fmt::format("expected 1 with a model without experts, got {}", ranks));
    return;
  }
  if (Know({"model.mixture.experts"}) && s_.model.mixture->experts % ranks != 0) {
    Report(key,
           fmt::format("expected a divisor of the {} experts{}, got {}: ranks with unlike numbers "
                       "of experts are not modelled",
                       s_.model.mixture->experts, Mention("model.mixture.experts", key), ranks));
  }
  if (DataRanks() % ranks != 0) {
    Report(key, fmt::format("expected a divisor of the {} data-parallel ranks, got {}", DataRanks(),
                            ranks));
  }
  const bool zero3 = !s_.fsdp && s_.zero.stage == 3;
  if (zero3 && Know({"zero.stage"})) {
    Report("zero.stage", fmt::format("expected 0, 1 or 2 with expert parallelism{}, got 3: "
                                     "DeepSpeed shards experts in stage 3 without it",
                                     Mention(key, "zero.stage")));
  }
  // One copy of the states over all ranks, and every collective in 16 or 32 bit.
  const std::string_view refused[] = {"fsdp.shard_size", "fsdp.secondary_partition_size",
                                      "fsdp.quantized_gradients", "zero.shard_size"};
  for (const std::string_view other : refused) {
    const Entry* entry = places_.Find(other);
    if (entry == nullptr || entry->value.text == "false" || entry->value.text == "1") continue;
    Report(other, fmt::format("does not go with expert parallelism{}", Mention(key, other)));
  }
}

// Groups must lie in whole nodes alike.
bool GroupCheck::CheckPlacement() {
  const ParallelSpec& p = s_.parallel;
  const int gpus = s_.cluster.node.gpus;
  const int tensor_pipeline =
      p.order == RankOrder::kTensorDataPipeline ? p.tensor : p.tensor * p.pipeline;
  const std::pair<const char*, ProcessGroup> groups[] = {
      {"parallelism.tensor", {p.tensor, 1}},
      {"parallelism.context", {p.context, tensor_pipeline}},
      {"parallelism.tensor", {static_cast<int>(DataRanks()), tensor_pipeline}},
      {"parallelism.expert", {p.expert, tensor_pipeline}},
      {"parallelism.expert",
       {std::max(1, static_cast<int>(DataRanks() / p.expert)), p.expert * tensor_pipeline}},
      {"parallelism.pipeline",
       {p.pipeline, p.order == RankOrder::kTensorDataPipeline
                        ? p.tensor * static_cast<int>(DataRanks())
                        : p.tensor}}};
  for (const auto& [key, group] : groups) {
    if (IsRegular(group, gpus)) continue;
    Report(key, fmt::format("groups of {} ranks {} apart do not fill nodes of {} GPUs{} evenly; "
                            "sizes that divide a node or are made of whole nodes do",
                            group.size, group.stride, gpus, Mention("cluster.node.gpus", key)));
    return false;
  }
  return true;
}

// Groups that share a copy of something: of the states, or hpZ's of the weights.
void GroupCheck::CheckGroups() {
  if (s_.fsdp) {
    CheckGroup("fsdp.secondary_partition_size", s_.fsdp->secondary_partition_size);
    CheckGroup("fsdp.shard_size", s_.fsdp->shard_size);
  } else {
    CheckGroup("zero.secondary_partition_size", s_.zero.secondary_partition_size);
    CheckGroup("zero.shard_size", s_.zero.shard_size);
  }
  CheckSecondaryInShard();
}

void GroupCheck::CheckSecondaryInShard() {
  const std::string_view key =
      s_.fsdp ? "fsdp.secondary_partition_size" : "zero.secondary_partition_size";
  const std::string_view shard_key = s_.fsdp ? "fsdp.shard_size" : "zero.shard_size";
  const int shard = s_.fsdp ? s_.fsdp->shard_size : s_.zero.shard_size;
  const int secondary =
      s_.fsdp ? s_.fsdp->secondary_partition_size : s_.zero.secondary_partition_size;
  if (!Know({key, shard_key}) || shard == 0 || secondary <= 1) return;
  if (shard % secondary == 0) return;
  Report(key, fmt::format("expected a divisor of {} {}{}, got {}", shard_key, shard,
                          Mention(shard_key, key), secondary));
}

void GroupCheck::CheckGroup(std::string_view key, std::int64_t size) {
  if (!KnowParallelism() || !Know({key}) || size == 0) return;
  const std::int64_t gpus = DataRanksOfNode();
  const bool divided = DataRanks() != Ranks();
  if (size > DataRanks()) {
    Report(key, fmt::format("expected at most the {}{} ranks, got {}", DataRanks(),
                            divided ? " data-parallel" : "", size));
  } else if (DataRanks() % size != 0 && divided) {
    Report(key, fmt::format("expected a divisor of the {} data-parallel ranks, got {}; {}",
                            DataRanks(), size, NearestSizes(size)));
  } else if (DataRanks() % size != 0) {
    Report(key, fmt::format("expected a divisor of the {} ranks ({} nodes{} x {} GPUs), got {}; {}",
                            Ranks(), s_.cluster.nodes, Mention("cluster.nodes", key), gpus, size,
                            NearestSizes(size)));
  } else if (gpus % size != 0 && size % gpus != 0) {
    Report(key,
           fmt::format("expected a divisor or a multiple of the {} {} of a node{}, got {}; "
                       "{}",
                       gpus, divided ? "data-parallel ranks" : "GPUs",
                       divided ? "" : Mention("cluster.node.gpus", key), size, NearestSizes(size)));
  }
}

}  // namespace

void CheckGroups(const Node& root, Scenario* scenario, Problems* problems) {
  GroupCheck(root, scenario, problems).Run();
}

}  // namespace zerosim
