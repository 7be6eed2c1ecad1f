#include "models/scenario/validate.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "models/core/units_text.h"

namespace zerosim {
namespace {

constexpr std::int64_t kMostRanks = 16'777'216;
constexpr double kMostParameters = 1e14;
constexpr double kMostActivationBytes = 1e17;
constexpr std::int64_t kMostLayerPasses = 200'000;

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

class Checker {
 public:
  Checker(const Node& root, Scenario* scenario, Problems* problems)
      : places_(root), s_(*scenario), problems_(problems) {}

  void Run() {
    CheckWorld();
    CheckFabric();
    CheckHeads();
    CheckPositions();
    CheckSize();
    CheckGlobalBatch();
    CheckSecondary();
  }

 private:
  void Report(std::string_view path, const std::string& what) {
    problems_->Add(places_.Of(path), fmt::format("{}: {}", path, what));
  }
  std::string Mention(std::string_view path, std::string_view from) const {
    return places_.Mention(path, places_.Of(from));
  }
  std::int64_t Ranks() const {
    return std::int64_t{s_.cluster.nodes} * std::int64_t{s_.cluster.node.gpus};
  }

  void CheckWorld() {
    if (Ranks() <= kMostRanks) return;
    Report("cluster.nodes",
           fmt::format("{} nodes x {} GPUs{} are {} ranks; expected at most {}, which are {} nodes",
                       s_.cluster.nodes, s_.cluster.node.gpus,
                       Mention("cluster.node.gpus", "cluster.nodes"), Ranks(), kMostRanks,
                       kMostRanks / s_.cluster.node.gpus));
  }

  void CheckFabric() {
    const int wanted = s_.cluster.fabric.nics_per_node;
    const int there = s_.cluster.node.nics;
    if (s_.cluster.nodes == 1 || wanted <= there) return;
    Report("cluster.fabric.nics_per_node",
           fmt::format("expected at most the {} NICs of the node{}, got {}", there,
                       Mention("cluster.node.nics", "cluster.fabric.nics_per_node"), wanted));
  }

  void CheckHeads() {
    const TransformerSpec& m = s_.model;
    if (m.hidden % m.heads != 0) {
      Report("model.heads", fmt::format("expected a divisor of hidden {}{}, got {}", m.hidden,
                                        Mention("model.hidden", "model.heads"), m.heads));
    }
    if (m.heads % m.kv_heads != 0) {
      Report("model.kv_heads", fmt::format("expected a divisor of heads {}{}, got {}", m.heads,
                                           Mention("model.heads", "model.kv_heads"), m.kv_heads));
    }
  }

  void CheckPositions() {
    TransformerSpec& m = s_.model;
    if (m.position != Position::kLearned) {
      m.max_positions = 0;
      return;
    }
    if (!places_.Has("model.max_positions")) m.max_positions = s_.training.sequence_length;
    if (m.max_positions >= s_.training.sequence_length) return;
    Report("training.sequence_length",
           fmt::format("expected at most the {} positions that the model has learned{}, got {}",
                       m.max_positions, Mention("model.max_positions", "training.sequence_length"),
                       s_.training.sequence_length));
  }

  // Sizes whose products would leave 64 bits, or whose program would not fit in memory.
  void CheckSize() {
    const TransformerSpec& m = s_.model;
    const auto h = static_cast<double>(m.hidden);
    const double parameters = m.layers * (4 * h * h + 3 * h * static_cast<double>(m.ffn_hidden)) +
                              2 * h * static_cast<double>(m.vocabulary + m.max_positions);
    if (parameters > kMostParameters) {
      Report("model", fmt::format("about {:.2g} parameters; expected at most {:.2g}", parameters,
                                  kMostParameters));
      return;
    }
    const double tokens = static_cast<double>(s_.training.sequence_length) *
                          static_cast<double>(s_.training.micro_batch_size);
    const double scores = tokens * static_cast<double>(s_.training.sequence_length) * m.heads;
    const double bytes =
        m.layers * (tokens * (40 * h + 8 * static_cast<double>(m.ffn_hidden)) + 12 * scores) +
        24 * tokens * static_cast<double>(m.vocabulary);
    if (bytes > kMostActivationBytes) {
      Report("training.sequence_length",
             fmt::format("{:.2g} bytes of activations a GPU with {} sequences of {} tokens; "
                         "expected at most {:.2g}",
                         bytes, s_.training.micro_batch_size, s_.training.sequence_length,
                         kMostActivationBytes));
    }
    const std::int64_t passes = std::int64_t{m.layers} * s_.training.gradient_accumulation_steps;
    if (passes > kMostLayerPasses) {
      Report("training.gradient_accumulation_steps",
             fmt::format("{} layers{} x {} micro-steps are {} passes through a layer; expected at "
                         "most {}",
                         m.layers, Mention("model.layers", "training.gradient_accumulation_steps"),
                         s_.training.gradient_accumulation_steps, passes, kMostLayerPasses));
    }
  }

  void CheckGlobalBatch() {
    const std::string_view key = "training.global_batch_size";
    const Entry* entry = places_.Find(key);
    if (entry == nullptr) return;
    const std::int64_t given = ParseInteger(entry->value.text).value_or(0);
    const std::int64_t micro = s_.training.micro_batch_size;
    const int steps = s_.training.gradient_accumulation_steps;
    // At most 2^20 x 2^24 x 2^16, which is below 2^63.
    const std::int64_t one_step = micro * Ranks();
    if (given == one_step * steps) return;
    std::string what = fmt::format(
        "expected {} = micro_batch_size {}{} x gradient_accumulation_steps {}{} x ranks {}, got {}",
        one_step * steps, micro, Mention("training.micro_batch_size", key), steps,
        Mention("training.gradient_accumulation_steps", key), Ranks(), given);
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
    const std::int64_t gpus = s_.cluster.node.gpus;
    std::int64_t below = 1;
    std::int64_t above = Ranks();
    const auto offer = [&](std::int64_t candidate) {
      if (Ranks() % candidate != 0) return;
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

  void CheckSecondary() {
    const std::string_view key = "zero.secondary_partition_size";
    const std::int64_t size = s_.zero.secondary_partition_size;
    const std::int64_t gpus = s_.cluster.node.gpus;
    if (size > Ranks()) {
      Report(key, fmt::format("expected at most the {} ranks, got {}", Ranks(), size));
    } else if (Ranks() % size != 0) {
      Report(key,
             fmt::format("expected a divisor of the {} ranks ({} nodes{} x {} GPUs), got {}; {}",
                         Ranks(), s_.cluster.nodes, Mention("cluster.nodes", key), gpus, size,
                         NearestSizes(size)));
    } else if (gpus % size != 0 && size % gpus != 0) {
      Report(key,
             fmt::format("expected a divisor or a multiple of the {} GPUs of a node{}, got {}; "
                         "{}",
                         gpus, Mention("cluster.node.gpus", key), size, NearestSizes(size)));
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

void WarnOfKeysWithoutEffect(const Node& root, const Scenario& scenario, Problems* problems) {
  const Places places(root);
  const auto warn = [&](std::initializer_list<std::string_view> keys, std::string_view why) {
    for (const std::string_view key : keys) {
      const Entry* entry = places.Find(key);
      // A key that says false or 1 asks for nothing.
      if (entry == nullptr || entry->value.text == "false" || entry->value.text == "1") continue;
      problems->Warn(entry->where, fmt::format("{}: no effect {}", key, why));
    }
  };
  const ZeroConfig& zero = scenario.zero;
  const bool one_node = scenario.cluster.nodes == 1;

  if (zero.stage == 0) warn({"zero.gradient_collective"}, "in stage 0, which always all-reduces");
  if (zero.stage < 2) {
    warn({"zero.gradient_precision"},
         fmt::format("in stage {}; it belongs to stages 2 and 3", zero.stage));
  }
  if (zero.stage != 3) {
    warn({"zero.quantized_weights", "zero.quantized_gradients", "zero.secondary_partition_size",
          "zero.secondary_rule", "zero.prefetch_bucket_size", "zero.max_live_parameters",
          "zero.max_reuse_distance", "zero.param_persistence_threshold",
          "zero.overlap.gather_forward", "zero.overlap.gather_backward",
          "zero.overlap.quantized_reduce", "training.first_step"},
         fmt::format("in stage {}; it belongs to stage 3", zero.stage));
  } else {
    warn({"zero.allgather_bucket_size"}, "in stage 3; it belongs to stages 1 and 2");
    if (zero.has_secondary() && zero.secondary_partition_size == scenario.world_size() &&
        !one_node) {
      warn({"zero.secondary_partition_size"},
           fmt::format("over all {} ranks; the secondary shard is then the primary one",
                       scenario.world_size()));
    }
    if (!zero.has_secondary()) {
      warn({"zero.secondary_rule"}, "without secondary_partition_size");
    } else if (scenario.training.gradient_accumulation_steps == 1) {
      warn({"zero.secondary_rule"}, "with one micro-step; both rules are then the same");
    }
    if (!zero.quantized_gradients) {
      warn({"zero.overlap.quantized_reduce"}, "without quantized_gradients");
    } else {
      if (zero.collective() == GradientCollective::kAllReduce && zero.contiguous_gradients) {
        warn({"zero.quantized_gradients"},
             "with gradient_collective all_reduce, except on weights above reduce_bucket_size");
      } else {
        warn({"zero.overlap.reduce"}, "with quantized_gradients; see quantized_reduce");
      }
      if (!zero.quantized_gradients->two_hops) {
        warn({"zero.quantized_gradients.in_node_bits"}, "with one hop");
      }
    }
  }
  if (one_node) {
    warn({"cluster.fabric", "cluster.calibration.all_to_all_fraction", "collectives.algorithm"},
         "with one node");
  }
  if (scenario.model.position != Position::kLearned) {
    warn({"model.max_positions"}, "without learned positions");
  }
  if (scenario.compute.mfu) {
    warn({"compute.flash_attention", "compute.causal_skip", "compute.recompute_skips_last",
          "compute.memory_passes", "compute.loss_bytes"},
         "on times with compute.mfu");
  } else if (scenario.training.checkpointing != Checkpointing::kFull) {
    warn({"compute.recompute_skips_last"}, "without activation_checkpointing: full");
  }
  if (scenario.cluster.node.gpu.attention.empty() && places.Has("compute.flash_attention") &&
      scenario.compute.flash_attention) {
    warn({"compute.flash_attention"}, fmt::format("on {}, for which no fused attention is given",
                                                  scenario.cluster.node.gpu.name));
  }
}

}  // namespace zerosim
