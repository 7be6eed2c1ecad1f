#include "models/compute/traffic.h"

namespace zerosim {
namespace {

// Bytes of an unfused attention's score in forward: 8 reads and writes of 16 bit by scale, mask,
// softmax, dropout and the products. Backward moves twice that.
constexpr double kScoreBytes = 16;

class TrafficModel {
 public:
  explicit TrafficModel(const Scenario& scenario)
      : scenario_(scenario), model_(scenario.model), tokens_(scenario.tokens_per_micro_batch()) {}

  // Bytes per token as models/compute/README.md lists them, times tokens and passes.
  PartTraffic Of(Part part) const {
    const auto hidden = static_cast<double>(model_.hidden);
    switch (part) {
      case Part::kInputNorm:
      case Part::kPostNorm:
      case Part::kAttentionNorm:
      case Part::kMlpNorm:
      case Part::kEmbeddingNorm:
      case Part::kFinalNorm:
        return OverSequenceParts(NormTraffic(hidden));
      case Part::kQueryNorm:
        return NormTraffic(static_cast<double>(
            model_.latent_attention ? model_.latent_attention->query_rank : model_.query_hidden()));
      case Part::kKeyNorm:
        return NormTraffic(static_cast<double>(
            model_.latent_attention ? model_.latent_attention->kv_rank : model_.kv_hidden()));
      case Part::kResidual:
        return OverSequenceParts(
            {.forward = Passes(6 * hidden, 2), .backward = Passes(6 * hidden, 2)});
      case Part::kActivation:
        return ActivationTraffic(static_cast<double>(model_.ffn_hidden));
      case Part::kExpertsActivation:
        return ActivationTraffic(
            static_cast<double>(model_.mixture->experts_per_token * model_.mixture->ffn_hidden));
      case Part::kSharedActivation:
        return ActivationTraffic(static_cast<double>(model_.mixture->shared_ffn_hidden));
      case Part::kRouter:
      case Part::kDispatch:
      case Part::kCombine:
        return MixtureTraffic(part);
      case Part::kAttention:
      case Part::kLocalAttention:
        return AttentionTraffic();
      case Part::kEmbedding: {
        // The gradient of the table is dense: written once, whatever the batch.
        const auto width = static_cast<double>(model_.embedding_width > 0 ? model_.embedding_width
                                                                          : model_.hidden);
        if (model_.lora) return {.forward = Passes(4 * width, 2), .backward = {}};
        Traffic backward = Passes(6 * width, 2);
        backward.bytes += 2 * static_cast<double>(model_.vocabulary) * width;
        return {.forward = Passes(4 * width, 2), .backward = backward};
      }
      case Part::kHead: {
        const double bytes = scenario_.compute.loss_bytes / 2 * static_cast<double>(tokens_) *
                             static_cast<double>(model_.vocabulary);
        return {.forward = {.bytes = bytes, .kernels = 3},
                .backward = {.bytes = bytes, .kernels = 3}};
      }
      default:
        return {};
    }
  }

 private:
  // Sequence parallelism gives each rank a part of the tokens.
  PartTraffic OverSequenceParts(PartTraffic traffic) const {
    traffic.forward.bytes /= scenario_.sequence_parts();
    traffic.backward.bytes /= scenario_.sequence_parts();
    return traffic;
  }

  PartTraffic NormTraffic(double width) const {
    return {.forward = Passes(4 * width, 1), .backward = Passes(10 * width, 2)};
  }

  PartTraffic ActivationTraffic(double ffn) const {
    return model_.gated_mlp
               ? PartTraffic{.forward = Passes(6 * ffn, 2), .backward = Passes(10 * ffn, 3)}
               : PartTraffic{.forward = Passes(4 * ffn, 1), .backward = Passes(6 * ffn, 1)};
  }

  // The router's softmax in fp32 and its choice; copies of each token's row to its experts' rows,
  // and their weighted sum.
  PartTraffic MixtureTraffic(Part part) const {
    const MixtureSpec& mixture = *model_.mixture;
    const auto hidden = static_cast<double>(model_.hidden);
    const double copies = static_cast<double>(mixture.experts_per_token) * hidden;
    switch (part) {
      case Part::kRouter: {
        const auto experts = static_cast<double>(mixture.experts);
        return {.forward = Passes(10 * experts, 3), .backward = Passes(10 * experts, 2)};
      }
      case Part::kDispatch:
        return {.forward = Passes(4 * copies, 1), .backward = Passes(2 * copies + 2 * hidden, 1)};
      default: {
        const double shared = mixture.shared_ffn_hidden > 0 ? 6 * hidden : 0;
        return {.forward = Passes(2 * copies + 2 * hidden + shared, 2),
                .backward = Passes(4 * copies + 2 * hidden, 2)};
      }
    }
  }

  PartTraffic AttentionTraffic() const {
    PartTraffic traffic;
    if (model_.position == Position::kRotary) {
      // Of latent attention the rotary part of the queries, and of the one key of all heads.
      const std::int64_t width = model_.latent_attention
                                     ? (model_.heads + 1) * model_.latent_attention->rope_dimension
                                     : model_.query_hidden() + model_.kv_hidden();
      const auto rotated = static_cast<double>(width);
      traffic = {.forward = Passes(4 * rotated, 2), .backward = Passes(4 * rotated, 2)};
    }
    if (!scenario_.compute.flash_attention || scenario_.cluster.node.gpu.attention.empty()) {
      const double bytes = kScoreBytes * static_cast<double>(tokens_) * model_.heads *
                           static_cast<double>(scenario_.training.sequence_length);
      traffic.forward.bytes += bytes;
      traffic.forward.kernels += 3;
      traffic.backward.bytes += 2 * bytes;
      traffic.backward.kernels += 3;
    }
    return traffic;
  }

  Traffic Passes(double bytes_per_token, int kernels) const {
    return TokenPasses(bytes_per_token, kernels, scenario_);
  }

  const Scenario& scenario_;
  const TransformerSpec& model_;
  std::int64_t tokens_;
};

}  // namespace

PartTraffic TrafficOf(Part part, const Scenario& scenario) {
  return TrafficModel(scenario).Of(part);
}

Traffic TokenPasses(double bytes_per_token, int kernels, const Scenario& scenario) {
  return {.bytes = scenario.compute.memory_passes *
                   static_cast<double>(scenario.tokens_per_micro_batch()) * bytes_per_token,
          .kernels = kernels};
}

}  // namespace zerosim
