#include "models/scenario/validate.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <initializer_list>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "models/core/units_text.h"
#include "models/parallel/groups.h"
#include "models/parallel/scenario_groups.h"
#include "models/scenario/assemble.h"

namespace zerosim {
namespace {

constexpr std::int64_t kMostRanks = 16'777'216;
constexpr double kMostParameters = 1e14;
constexpr double kMostActivationBytes = 1e17;
// ZeRO++ on 18B takes 7 s and 1.2 GB; experts and latent attention, with more modules a layer, 15 s
// and 1.9 GB.
constexpr std::int64_t kMostLayerPasses = 15'000;

// Finds where keys of a tree were written.
class Places {
 public:
  explicit Places(const Node& root) : root_(root) {}

  const Entry* Find(std::string_view path) const {
    const Node* node = &root_;
    while (true) {
      const std::size_t dot = path.find('.');
      const auto entry = std::ranges::find(node->entries, path.substr(0, dot), &Entry::key);
      if (entry == node->entries.end()) return nullptr;
      if (dot == std::string_view::npos) return &*entry;
      node = &entry->value;
      path.remove_prefix(dot + 1);
    }
  }

  bool Has(std::string_view path) const { return Find(path) != nullptr; }

  // Whether the value at `path`, given or not, and the sections around it are what was meant.
  bool Trusts(std::string_view path) const {
    const Node* node = &root_;
    while (!node->in_doubt && node->kind != Node::Kind::kUnresolved) {
      const std::size_t dot = path.find('.');
      node = path.empty() ? nullptr : node->Find(path.substr(0, dot));
      if (node == nullptr) return true;
      path = dot == std::string_view::npos ? "" : path.substr(dot + 1);
    }
    return false;
  }

  // The place of the value (of a section, its key), or of the nearest section around it that is
  // given.
  Location Of(std::string_view path) const {
    if (const Entry* entry = Find(path)) {
      return entry->value.is_text() ? entry->value.where : entry->where;
    }
    const std::size_t dot = path.rfind('.');
    return dot == std::string_view::npos ? root_.where : Of(path.substr(0, dot));
  }

  // " (line 10)", with the file's name if it is not `from`, and "" for what is not given.
  std::string Mention(std::string_view path, const Location& from) const {
    const Entry* entry = Find(path);
    if (entry == nullptr) return " (the default)";
    const Location at = Of(path);
    if (at.line == 0) return fmt::format(" ({})", at.file);
    if (at.file == from.file) return fmt::format(" (line {})", at.line);
    return fmt::format(" ({}:{})", at.file, at.line);
  }

 private:
  const Node& root_;
};

// Checks between keys. Each first asks for the keys that it needs: the values of others may be
// anything.
class Checker {
 public:
  Checker(const Node& root, Scenario* scenario, Problems* problems)
      : places_(root), s_(*scenario), problems_(problems) {}

  void Run() {
    CheckWorld();
    CheckFabric();
    CheckHeads();
    CheckPositions();
    if (CheckParameters()) CheckActivations();
    CheckPasses();
    CheckGlobalBatch();
    if (CheckParallelism()) CheckGroups();
    CheckOffload();
  }

 private:
  bool Know(std::initializer_list<std::string_view> paths) const {
    return std::ranges::all_of(paths, [&](std::string_view path) {
      return !problems_->IsDoubted(path) && places_.Trusts(path);
    });
  }
  void Report(std::string_view path, const std::string& what) {
    problems_->Add(places_.Of(path), fmt::format("{}: {}", path, what));
  }
  std::string Mention(std::string_view path, std::string_view from) const {
    return places_.Mention(path, places_.Of(from));
  }
  std::int64_t Ranks() const {
    return std::int64_t{s_.cluster.nodes} * std::int64_t{s_.cluster.node.gpus};
  }
  bool KnowRanks() const {
    return Know({"cluster.nodes", "cluster.node.gpus"}) && Ranks() <= kMostRanks;
  }

  bool KnowParallelism() const {
    return KnowRanks() &&
           Know({"parallelism.tensor", "parallelism.context", "parallelism.pipeline",
                 "parallelism.order"}) &&
           Ranks() % ModelRanks() == 0;
  }
  std::int64_t ModelRanks() const {
    const ParallelSpec& p = s_.parallel;
    return std::int64_t{p.tensor} * p.context * p.pipeline;
  }
  std::int64_t SampleRanks() const { return Ranks() / ModelRanks(); }
  std::int64_t DataRanks() const { return SampleRanks() * s_.parallel.context; }
  // Data-parallel ranks that share a node.
  std::int64_t DataRanksOfNode() const { return s_.data_ranks_per_node(); }

  // Whether max_positions is known, which may come from the sequence.
  bool KnowPositions() const {
    if (!Know({"model.position"})) return false;
    if (s_.model.position != Position::kLearned) return true;
    return Know({"model.max_positions"}) &&
           (places_.Has("model.max_positions") || Know({"training.sequence_length"}));
  }

  void CheckWorld() {
    if (!Know({"cluster.nodes", "cluster.node.gpus"}) || KnowRanks()) return;
    Report("cluster.nodes",
           fmt::format("{} nodes x {} GPUs{} are {} ranks; expected at most {}, which are {} nodes",
                       s_.cluster.nodes, s_.cluster.node.gpus,
                       Mention("cluster.node.gpus", "cluster.nodes"), Ranks(), kMostRanks,
                       kMostRanks / s_.cluster.node.gpus));
  }

  void CheckFabric() {
    if (!Know({"cluster.nodes", "cluster.fabric"}) || s_.cluster.nodes == 1) return;
    if (!places_.Has("cluster.fabric")) {
      if (!Know({"cluster.node.nic_bandwidth"}) ||
          s_.cluster.node.nic_bandwidth > BytesPerSecond()) {
        return;
      }
      Report("cluster.fabric",
             "missing; more than one node needs one, such as "
             "{nics_per_node: 8, nic_bandwidth: 200 Gbps, latency: 5 us}, or a node whose NICs are "
             "known by cluster.node.nics and cluster.node.nic_bandwidth");
      return;
    }
    const int wanted = s_.cluster.fabric.nics_per_node;
    const int there = s_.cluster.node.nics;
    if (!Know({"cluster.fabric.nics_per_node", "cluster.node.nics"}) || wanted <= there) return;
    Report("cluster.fabric.nics_per_node",
           fmt::format("expected at most the {} NICs of the node{}, got {}", there,
                       Mention("cluster.node.nics", "cluster.fabric.nics_per_node"), wanted));
  }

  void CheckHeads() {
    const TransformerSpec& m = s_.model;
    if (Know({"model.hidden", "model.heads", "model.head_dimension", "model.latent_attention"}) &&
        !m.latent_attention && m.own_head_dimension == 0 && m.hidden % m.heads != 0) {
      Report("model.heads", fmt::format("expected a divisor of hidden {}{}, got {}", m.hidden,
                                        Mention("model.hidden", "model.heads"), m.heads));
    }
    if (Know({"model.heads", "model.kv_heads"}) && m.heads % m.kv_heads != 0) {
      Report("model.kv_heads", fmt::format("expected a divisor of heads {}{}, got {}", m.heads,
                                           Mention("model.heads", "model.kv_heads"), m.kv_heads));
    }
    if (m.mixture && m.mixture->experts_per_token > m.mixture->experts) {
      Report("model.mixture.experts_per_token",
             fmt::format("expected at most the {} experts{}, got {}", m.mixture->experts,
                         Mention("model.mixture.experts", "model.mixture.experts_per_token"),
                         m.mixture->experts_per_token));
    }
  }

  void CheckPositions() {
    TransformerSpec& m = s_.model;
    if (!Know({"model.position"})) return;
    if (m.position != Position::kLearned) {
      m.max_positions = 0;
      return;
    }
    if (!Know({"model.max_positions", "training.sequence_length"})) return;
    if (!places_.Has("model.max_positions")) m.max_positions = s_.training.sequence_length;
    if (m.max_positions >= s_.training.sequence_length) return;
    Report("training.sequence_length",
           fmt::format("expected at most the {} positions that the model has learned{}, got {}",
                       m.max_positions, Mention("model.max_positions", "training.sequence_length"),
                       s_.training.sequence_length));
  }

  // Sizes whose products would leave 64 bits, or whose program would not fit in memory. Returns
  // false if there are too many parameters: activations are then no matter.
  bool CheckParameters() {
    const TransformerSpec& m = s_.model;
    if (!KnowPositions() || !Know({"model.layers", "model.hidden", "model.heads", "model.kv_heads",
                                   "model.ffn_hidden", "model.head_dimension", "model.mixture",
                                   "model.latent_attention", "model.vocabulary"})) {
      return true;
    }
    const double parameters = ApproximateParameters(m);
    if (parameters <= kMostParameters) return true;
    Report("model", fmt::format("about {:.2g} parameters; expected at most {:.2g}", parameters,
                                kMostParameters));
    return false;
  }

  void CheckActivations() {
    const TransformerSpec& m = s_.model;
    if (!Know({"model.layers", "model.hidden", "model.heads", "model.ffn_hidden",
               "model.head_dimension", "model.mixture", "model.latent_attention",
               "model.vocabulary", "training.sequence_length", "training.micro_batch_size"})) {
      return;
    }
    const auto h = static_cast<double>(m.hidden);
    const double tokens = static_cast<double>(s_.training.sequence_length) *
                          static_cast<double>(s_.training.micro_batch_size);
    const double scores = tokens * static_cast<double>(s_.training.sequence_length) * m.heads;
    double ffn = static_cast<double>(m.ffn_hidden);
    if (m.mixture) {
      ffn += static_cast<double>(m.mixture->experts_per_token) *
                 (static_cast<double>(m.mixture->ffn_hidden) + h) +
             static_cast<double>(m.mixture->shared_ffn_hidden + m.mixture->experts);
    }
    const double widths =
        40 * h + 12.0 * m.heads * static_cast<double>(m.head_dimension() + m.value_dimension());
    const double bytes = m.layers * (tokens * (widths + 8 * ffn) + 12 * scores) +
                         24 * tokens * static_cast<double>(m.vocabulary);
    if (bytes <= kMostActivationBytes) return;
    Report("training.sequence_length",
           fmt::format("{:.2g} bytes of activations a GPU with {} sequences of {} tokens; "
                       "expected at most {:.2g}",
                       bytes, s_.training.micro_batch_size, s_.training.sequence_length,
                       kMostActivationBytes));
  }

  void CheckPasses() {
    const TransformerSpec& m = s_.model;
    if (!Know({"model.layers", "training.gradient_accumulation_steps"})) return;
    const std::int64_t passes = std::int64_t{m.layers} * s_.training.gradient_accumulation_steps;
    if (passes <= kMostLayerPasses) return;
    const std::string_view steps = "training.gradient_accumulation_steps";
    const std::string_view layers = "model.layers";
    const bool many_steps = s_.training.gradient_accumulation_steps > 1;
    Report(
        many_steps ? steps : layers,
        fmt::format("{} layer{}{} x {} micro-step{}{} are {} passes through a layer; expected at "
                    "most {}, which take about 10 s and 2 GB to simulate",
                    m.layers, m.layers == 1 ? "" : "s", many_steps ? Mention(layers, steps) : "",
                    s_.training.gradient_accumulation_steps, many_steps ? "s" : "",
                    many_steps ? "" : Mention(steps, layers), passes, kMostLayerPasses));
  }

  void CheckGlobalBatch() {
    const std::string_view key = "training.global_batch_size";
    const Entry* entry = places_.Find(key);
    if (entry == nullptr || !KnowParallelism() ||
        !Know({key, "training.micro_batch_size", "training.gradient_accumulation_steps"})) {
      return;
    }
    const std::int64_t given = ParseInteger(entry->value.text).value_or(0);
    const std::int64_t micro = s_.training.micro_batch_size;
    const int steps = s_.training.gradient_accumulation_steps;
    // At most 2^20 x 2^24 x 2^16, which is below 2^63.
    const std::int64_t one_step = micro * SampleRanks();
    if (given == one_step * steps) return;
    std::string what = fmt::format(
        "expected {} = micro_batch_size {}{} x gradient_accumulation_steps {}{} x ranks {}, got {}",
        one_step * steps, micro, Mention("training.micro_batch_size", key), steps,
        Mention("training.gradient_accumulation_steps", key), SampleRanks(), given);
    if (given % one_step == 0) {
      what += fmt::format("; gradient_accumulation_steps {} would give it", given / one_step);
    } else if (given < one_step) {
      what += fmt::format("; the least is {}", one_step);
    } else {
      const std::int64_t below = given / one_step;
      what += fmt::format("; nearest are {} and {}, with gradient_accumulation_steps {} and {}",
                          below * one_step, (below + 1) * one_step, below, below + 1);
    }
    Report(key, what);
  }

  // Sizes near `size` that a secondary partition can have.
  std::string NearestSizes(std::int64_t size) const {
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
  bool CheckParallelism() {
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

  void CheckOffload() {
    if (!Know({"zero", "fsdp", "cluster.node.host_memory_bandwidth"})) return;
    if (s_.offloaded_optimizer() > 0 && s_.cluster.node.host_memory_bandwidth <= BytesPerSecond()) {
      const char* const key = s_.fsdp ? "fsdp.offload" : "zero.offload_optimizer";
      Report(key,
             "needs the rate of the node's memory, at which the CPU's optimizer runs: "
             "cluster.node.host_memory_bandwidth, such as 200 GB/s");
    }
    const int steps = s_.training.gradient_accumulation_steps;
    if (s_.fsdp && s_.fsdp->offload && steps > 1 && !s_.fsdp->no_sync &&
        Know({"training.gradient_accumulation_steps", "fsdp.no_sync"})) {
      Report("fsdp.offload",
             fmt::format("expected no_sync: true with {} micro-steps{}: FSDP's offload replaces "
                         "gradients that are on the host instead of adding to them",
                         steps, Mention("training.gradient_accumulation_steps", "fsdp.offload")));
    }
    if (s_.fsdp && s_.fsdp->offload && s_.fsdp->sharding == FsdpStrategy::kNoShard) {
      Report("fsdp.offload", "expected another sharding than no_shard, which has no shards");
    }
  }

  // What tensor and context parallelism divide.
  void CheckDivisions() {
    const ParallelSpec& p = s_.parallel;
    const TransformerSpec& m = s_.model;
    const auto divides = [&](const char* key, int ranks, const char* what, std::int64_t size) {
      if (!Know({what}) || size % ranks == 0) return;
      Report(key, fmt::format("expected a divisor of {} {}{}, got {}", what, size,
                              Mention(what, key), ranks));
    };
    divides("parallelism.tensor", p.tensor, "model.heads", m.heads);
    divides("parallelism.tensor", p.tensor, "model.ffn_hidden", m.ffn_hidden);
    divides("parallelism.context", p.context, "training.sequence_length",
            s_.training.sequence_length);
    CheckStages();
    CheckExperts();
    if (Know({"model.kv_heads", "model.heads"}) && m.kv_heads % p.tensor != 0 &&
        p.tensor % m.kv_heads != 0) {
      Report("parallelism.tensor",
             fmt::format("expected a divisor or a multiple of kv_heads {}{}, got {}", m.kv_heads,
                         Mention("model.kv_heads", "parallelism.tensor"), p.tensor));
    }
  }

  void CheckStages() {
    const ParallelSpec& p = s_.parallel;
    if (p.pipeline == 1 || !Know({"parallelism.virtual_stages"})) return;
    const std::int64_t runs = std::int64_t{p.pipeline} * p.virtual_stages;
    if (Know({"model.layers"}) && s_.model.layers % runs != 0) {
      Report("parallelism.pipeline",
             fmt::format("expected stages whose runs divide the layers {}{}, got {} stages x {} "
                         "virtual stages",
                         s_.model.layers, Mention("model.layers", "parallelism.pipeline"),
                         p.pipeline, p.virtual_stages));
    }
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

  void CheckExperts() {
    const std::string_view key = "parallelism.expert";
    const int ranks = s_.parallel.expert;
    if (ranks == 1 || !KnowParallelism() || !Know({key})) return;
    if (Know({"model.mixture"}) && !s_.model.mixture) {
      Report(key, fmt::format("expected 1 with a model without experts, got {}", ranks));
      return;
    }
    if (Know({"model.mixture.experts"}) && s_.model.mixture->experts % ranks != 0) {
      Report(key,
             fmt::format("expected a divisor of the {} experts{}, got {}",
                         s_.model.mixture->experts, Mention("model.mixture.experts", key), ranks));
    }
    if (DataRanks() % ranks != 0) {
      Report(key, fmt::format("expected a divisor of the {} data-parallel ranks, got {}",
                              DataRanks(), ranks));
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
  bool CheckPlacement() {
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
         {static_cast<int>(DataRanks() / std::max(1, p.expert)), p.expert * tensor_pipeline}},
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
  void CheckGroups() {
    if (s_.fsdp) {
      CheckGroup("fsdp.secondary_partition_size", s_.fsdp->secondary_partition_size);
      CheckGroup("fsdp.shard_size", s_.fsdp->shard_size);
    } else {
      CheckGroup("zero.secondary_partition_size", s_.zero.secondary_partition_size);
      CheckGroup("zero.shard_size", s_.zero.shard_size);
    }
    CheckSecondaryInShard();
  }

  void CheckSecondaryInShard() {
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

  void CheckGroup(std::string_view key, std::int64_t size) {
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
      Report(key,
             fmt::format("expected a divisor of the {} ranks ({} nodes{} x {} GPUs), got {}; {}",
                         Ranks(), s_.cluster.nodes, Mention("cluster.nodes", key), gpus, size,
                         NearestSizes(size)));
    } else if (gpus % size != 0 && size % gpus != 0) {
      Report(key, fmt::format("expected a divisor or a multiple of the {} {} of a node{}, got {}; "
                              "{}",
                              gpus, divided ? "data-parallel ranks" : "GPUs",
                              divided ? "" : Mention("cluster.node.gpus", key), size,
                              NearestSizes(size)));
    }
  }

  const Places places_;
  Scenario& s_;
  Problems* const problems_;
};

}  // namespace

void CheckBetweenSections(const Node& root, Scenario* scenario, Problems* problems) {
  Checker(root, scenario, problems).Run();
}

namespace {

// Why gradients that are to be quantized are not: qgZ's second hop lies between the nodes of a
// shard group. Null if they are.
const char* WhyUnquantized(const Scenario& scenario) {
  if (scenario.cluster.nodes == 1) return "on one node; gradients then travel unquantised";
  if (ProcessGroupsOf(scenario).across.size > 1) return nullptr;
  return "where the ranks of a shard lie in one node; gradients then travel unquantised";
}

// hpZ's group should be smaller than what a shard is spread over. Where it is not, memory and calls
// change, and with qwZ backward then gathers 16 bits a weight.
void WarnOfSecondaryOfAll(const Places& places, const Scenario& scenario, Problems* problems) {
  const std::string_view key =
      scenario.fsdp ? "fsdp.secondary_partition_size" : "zero.secondary_partition_size";
  const ProcessGroups groups = ProcessGroupsOf(scenario);
  if (scenario.secondary_size() == 1 || groups.secondary.size != groups.shard.size) return;
  // The known problems of DeepSpeed say it of one node.
  if (!scenario.fsdp && scenario.cluster.nodes == 1) return;
  // Other strategies do not gather for backward, and say so of the key.
  if (scenario.fsdp && scenario.fsdp->sharding != FsdpStrategy::kFullShard) return;
  problems->Warn(
      places.Find(key)->where,
      fmt::format("{}: a group of all {} ranks{} gathers over the links that it would without hpZ, "
                  "and its shard costs memory{}",
                  key, groups.secondary.size,
                  groups.shard.size == scenario.world_size() ? "" : " of a shard",
                  groups.across.size == 1 ? "" : "; \"node\" keeps backward gathers in the node"));
}

template <typename Warn>
void WarnOfFsdpKeys(const Scenario& scenario, Warn warn) {
  const FsdpConfig& fsdp = *scenario.fsdp;
  warn({"training.first_step"}, "with fsdp, which has no trace to record");
  if (fsdp.sharding == FsdpStrategy::kNoShard) {
    warn({"fsdp.quantized_weights", "fsdp.secondary_partition_size", "fsdp.backward_prefetch",
          "fsdp.forward_prefetch", "fsdp.limit_all_gathers", "fsdp.shard_size"},
         "with no_shard, which gathers nothing");
  }
  if (fsdp.sharding == FsdpStrategy::kShardGradOp) {
    warn({"fsdp.secondary_partition_size", "fsdp.backward_prefetch"},
         "with shard_grad_op, which does not gather for backward");
  }
  if (fsdp.blocks_per_unit > scenario.model.layers) {
    warn({"fsdp.blocks_per_unit"},
         fmt::format("beyond the {} layers of the model", scenario.model.layers));
  }
  if (scenario.model.tied_embeddings) {
    warn({"fsdp.separate_embeddings"}, "with a tied head, which is in the root with the embedding");
  }
  if (scenario.training.gradient_accumulation_steps == 1) {
    warn({"fsdp.no_sync"}, "with one micro-step");
  }
  if (fsdp.quantized_gradients) {
    if (const char* const why = WhyUnquantized(scenario)) {
      warn({"fsdp.quantized_gradients"}, why);
    } else {
      warn({"fsdp.reduce_precision"}, "with quantized_gradients");
    }
  }
}

template <typename Warn>
void WarnOfOffloadKeys(const Scenario& scenario, Warn warn) {
  const ZeroConfig& zero = scenario.zero;
  if (!scenario.fsdp) {
    if (zero.stage == 0) {
      warn({"zero.offload_optimizer"}, "in stage 0; it belongs to stages 1 to 3");
    }
    if (zero.stage != 3) {
      warn({"zero.offload_param", "zero.offload_optimizer.ratio"},
           fmt::format("in stage {}; it belongs to stage 3", zero.stage));
    }
    if (!zero.offload.optimizer) {
      warn({"zero.offload_optimizer.pin_memory", "zero.offload_optimizer.ratio"},
           "without device: cpu");
    }
    if (!zero.offload.parameters) warn({"zero.offload_param.pin_memory"}, "without device: cpu");
  }
  if (!scenario.model.lora) {
    warn({"training.frozen_weights", "zero.quantized_nontrainable_weights"},
         "without training.lora: nothing is frozen");
  } else if (!scenario.fsdp && zero.stage != 3) {
    warn({"zero.quantized_nontrainable_weights"},
         fmt::format("in stage {}; it belongs to stage 3, and training.frozen_weights to all",
                     zero.stage));
  }
  if (!scenario.offloads()) {
    warn({"cluster.calibration.host_memory_fraction"}, "without offload");
  }
}

// Whether the place is in the file of a framework.
bool IsFrameworkDefault(const Location& where) {
  return std::filesystem::path(where.file).parent_path().filename() == kFrameworkFolder;
}

}  // namespace

void WarnOfKeysWithoutEffect(const Node& root, const Scenario& scenario, Problems* problems) {
  const Places places(root);
  const auto warn = [&](std::initializer_list<std::string_view> keys, std::string_view why) {
    for (const std::string_view key : keys) {
      const Entry* entry = places.Find(key);
      // A key that says false or 1 asks for nothing, and neither does a framework's default.
      const bool asks = entry != nullptr && entry->value.text != "false" &&
                        entry->value.text != "1" && entry->value.text != "16bit";
      if (!asks || IsFrameworkDefault(entry->where)) continue;
      problems->Warn(entry->where, fmt::format("{}: no effect {}", key, why));
    }
  };
  const ZeroConfig& zero = scenario.zero;
  WarnOfOffloadKeys(scenario, warn);
  const bool one_node = scenario.cluster.nodes == 1;
  const ProcessGroups groups = ProcessGroupsOf(scenario);

  WarnOfSecondaryOfAll(places, scenario, problems);
  if (zero.stage == 0) warn({"zero.gradient_collective"}, "in stage 0, which always all-reduces");
  if (zero.stage < 2) {
    warn({"zero.gradient_precision"},
         fmt::format("in stage {}; it belongs to stages 2 and 3", zero.stage));
  }
  if (scenario.fsdp) {
    WarnOfFsdpKeys(scenario, warn);
  } else if (zero.stage != 3) {
    warn({"zero.quantized_weights", "zero.quantized_gradients", "zero.secondary_partition_size",
          "zero.secondary_rule", "zero.prefetch_bucket_size", "zero.max_live_parameters",
          "zero.max_reuse_distance", "zero.param_persistence_threshold",
          "zero.overlap.gather_forward", "zero.overlap.gather_backward",
          "zero.overlap.quantized_reduce", "training.first_step"},
         fmt::format("in stage {}; it belongs to stage 3", zero.stage));
  } else {
    warn({"zero.allgather_bucket_size"}, "in stage 3; it belongs to stages 1 and 2");
    if (!zero.has_secondary()) {
      warn({"zero.secondary_rule"}, "without secondary_partition_size");
    } else if (scenario.training.gradient_accumulation_steps == 1) {
      warn({"zero.secondary_rule"}, "with one micro-step; both rules are then the same");
    }
    if (!zero.quantized_gradients) {
      warn({"zero.overlap.quantized_reduce"}, "without quantized_gradients");
    } else if (const char* const why = WhyUnquantized(scenario)) {
      // The known problems of DeepSpeed say it of one node.
      if (!one_node) warn({"zero.quantized_gradients"}, why);
      warn({"zero.overlap.quantized_reduce"}, why);
    } else {
      if (zero.collective() == GradientCollective::kAllReduce && zero.contiguous_gradients) {
        warn({"zero.quantized_gradients"},
             "with gradient_collective all_reduce, except on weights above reduce_bucket_size");
      } else {
        warn({"zero.overlap.reduce"}, "with quantized_gradients; see quantized_reduce");
      }
      if (!one_node && groups.across.size == 1) {
        warn({"zero.quantized_gradients"}, "on ranks of a shard that share a node");
      }
      if (!zero.quantized_gradients->two_hops) {
        warn({"zero.quantized_gradients.in_node_bits"}, "with one hop");
      }
    }
  }
  if (scenario.parallel.pipeline == 1) {
    warn({"parallelism.virtual_stages"}, "without a pipeline");
  }
  if (scenario.parallel.tensor == 1) {
    warn({"parallelism.sequence", "training.partition_checkpoints"}, "without tensor parallelism");
  } else if (scenario.training.checkpointing != Checkpointing::kFull) {
    warn({"training.partition_checkpoints"}, "without activation_checkpointing: full");
  } else if (scenario.parallel.sequence_parallel) {
    warn({"training.partition_checkpoints"},
         "with sequence parallelism, which divides the inputs of blocks too");
  }
  if (scenario.cluster.node.in_node == InNodeFabric::kPcie) {
    warn({"cluster.node.in_node"},
         "yet; pcie is computed like nvswitch, each GPU with its whole gpu_bandwidth");
  }
  if (one_node) {
    warn({"cluster.fabric", "cluster.calibration.all_to_all_fraction", "collectives.algorithm"},
         "with one node");
  }
  if (scenario.model.position != Position::kLearned) {
    warn({"model.max_positions"}, "without learned positions");
  }
  if (scenario.model.latent_attention) {
    warn({"model.head_dimension", "model.kv_heads", "model.query_key_norm"},
         "with latent_attention");
  }
  if (scenario.compute.mfu) {
    warn({"compute.flash_attention", "compute.causal_skip", "compute.recompute_skips_last",
          "compute.memory_passes", "compute.loss_bytes"},
         "on times with compute.mfu");
  } else if (scenario.training.checkpointing != Checkpointing::kFull) {
    warn({"compute.recompute_skips_last"}, "without activation_checkpointing: full");
  }
  if (scenario.training.checkpointing == Checkpointing::kSelective &&
      scenario.compute.flash_attention && !scenario.cluster.node.gpu.attention.empty()) {
    const std::string_view key = "training.activation_checkpointing";
    problems->Warn(
        places.Of(key),
        fmt::format("{}: selective runs attention again for the scores that fused "
                    "attention does not keep: it costs time and saves almost no memory; full "
                    "saves memory, none time",
                    key));
  }
  if (scenario.training.checkpointing == Checkpointing::kNone) {
    warn({"training.checkpoint_every"}, "without activation_checkpointing");
  }
  if (scenario.cluster.node.gpu.attention.empty() && places.Has("compute.flash_attention") &&
      scenario.compute.flash_attention) {
    warn({"compute.flash_attention"}, fmt::format("on {}, for which no fused attention is given",
                                                  scenario.cluster.node.gpu.name));
  }
}

}  // namespace zerosim
