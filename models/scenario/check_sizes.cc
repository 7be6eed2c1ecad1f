#include <string>
#include <string_view>

#include <fmt/format.h>

#include "models/core/units_text.h"
#include "models/scenario/key_check.h"

namespace zerosim {
namespace {

constexpr double kMostParameters = 1e14;
constexpr double kMostActivationBytes = 1e17;
// ZeRO++ on 18B takes 7 s and 1.2 GB; experts and latent attention, with more modules a layer, 15 s
// and 1.9 GB.
constexpr std::int64_t kMostLayerPasses = 15'000;
// Of a pipeline in which a pass through a stage is one operation (stage_passes.h).
constexpr std::int64_t kMostFoldedPasses = 150'000;

class SizeCheck : KeyCheck {
 public:
  using KeyCheck::KeyCheck;

  void Run() {
    CheckHeads();
    CheckPositions();
    if (CheckParameters()) CheckActivations();
    CheckPasses();
    CheckOffload();
    CheckGlobalBatch();
  }

 private:
  void CheckHeads();
  void CheckPositions();
  bool CheckParameters();
  void CheckActivations();
  void CheckPasses();
  void CheckOffload();
  void CheckGlobalBatch();
};

void SizeCheck::CheckHeads() {
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

void SizeCheck::CheckPositions() {
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
bool SizeCheck::CheckParameters() {
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

void SizeCheck::CheckActivations() {
  const TransformerSpec& m = s_.model;
  if (!Know({"model.layers", "model.hidden", "model.heads", "model.ffn_hidden",
             "model.head_dimension", "model.mixture", "model.latent_attention", "model.vocabulary",
             "training.sequence_length", "training.micro_batch_size"})) {
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

void SizeCheck::CheckOffload() {
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

void SizeCheck::CheckPasses() {
  const TransformerSpec& m = s_.model;
  if (!Know({"model.layers", "training.gradient_accumulation_steps"})) return;
  const std::int64_t passes = std::int64_t{m.layers} * s_.training.gradient_accumulation_steps;
  const bool folds = s_.parallel.pipeline > 1 && !s_.fsdp && s_.zero.stage < 2;
  const std::int64_t most = folds ? kMostFoldedPasses : kMostLayerPasses;
  if (passes <= most) return;
  const std::string_view steps = "training.gradient_accumulation_steps";
  const std::string_view layers = "model.layers";
  const bool many_steps = s_.training.gradient_accumulation_steps > 1;
  Report(many_steps ? steps : layers,
         fmt::format("{} layer{}{} x {} micro-step{}{} are {} passes through a layer; expected at "
                     "most {}, which take about 10 s and 2 GB to simulate",
                     m.layers, m.layers == 1 ? "" : "s", many_steps ? Mention(layers, steps) : "",
                     s_.training.gradient_accumulation_steps, many_steps ? "s" : "",
                     many_steps ? "" : Mention(steps, layers), passes, most));
}

void SizeCheck::CheckGlobalBatch() {
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

}  // namespace

void CheckSizes(const Node& root, Scenario* scenario, Problems* problems) {
  SizeCheck(root, scenario, problems).Run();
}

}  // namespace zerosim
