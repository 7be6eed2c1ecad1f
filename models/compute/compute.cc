#include "models/compute/compute.h"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

#include "models/compute/flops.h"

namespace zerosim {
namespace {

// Bytes a parameter of the shard that the optimizer's kernels move: 28 for Adam in fp32 (gradient,
// weight and two moments read, three written) and 16 for unscaling and clipping before it.
constexpr double kOptimizerBytes = 28 + 16;

// Bytes of an unfused attention's score in forward: 8 reads and writes of 16 bit by scale, mask,
// softmax, dropout and the products. Backward moves twice that.
constexpr double kScoreBytes = 16;

// Backward of fused attention over its forward: five products against two.
constexpr double kFusedBackward = 2.5;

// A part's kernels that are bound by memory, for one pass.
struct Traffic {
  double bytes = 0;
  int kernels = 0;
};

// What one module does in forward and backward, before it is priced.
struct PartTraffic {
  Traffic forward;
  Traffic backward;
};

// Everything that prices one module of a scenario.
class PartModel {
 public:
  explicit PartModel(const Scenario& scenario)
      : scenario_(scenario),
        model_(scenario.model),
        cluster_(scenario.cluster),
        tokens_(scenario.training.tokens_per_micro_batch()) {}

  ModuleTime Time(Part part) const {
    ModuleTime time;
    AddGemms(part, time);
    if (part == Part::kAttention) AddAttention(time);
    const PartTraffic traffic = TrafficOf(part);
    AddTraffic(traffic.forward, time.forward, time.forward_kernels);
    AddTraffic(traffic.backward, time.backward, time.backward_kernels);
    time.recompute = RecomputeOf(part, time.forward);
    return time;
  }

 private:
  PassTime RecomputeOf(Part part, const PassTime& forward) const {
    const double passes = RecomputedPasses(part, scenario_);
    if (scenario_.training.checkpointing == Checkpointing::kOperators) {
      const bool in_layer =
          part != Part::kEmbedding && part != Part::kFinalNorm && part != Part::kHead;
      return {.gemm = passes * forward.gemm,
              .attention = {},
              .memory_bound = in_layer ? forward.memory_bound : Seconds()};
    }
    return passes > 0 ? forward : PassTime();
  }

  // y[T, outputs] = x[T, inputs] w, and its two gradients.
  void AddGemm(std::int64_t outputs, std::int64_t inputs, ModuleTime& time) const {
    time.forward.gemm += Gemm(tokens_, outputs, inputs);
    time.backward.gemm += Gemm(tokens_, inputs, outputs) + Gemm(outputs, inputs, tokens_);
    time.forward_kernels += 1;
    time.backward_kernels += 2;
  }

  void AddGemms(Part part, ModuleTime& time) const {
    const std::int64_t hidden = model_.hidden;
    switch (part) {
      case Part::kQkv:
        AddGemm(hidden + 2 * KvHidden(), hidden, time);
        break;
      case Part::kAttentionOutput:
        AddGemm(hidden, hidden, time);
        break;
      case Part::kMlpIn:
        AddGemm((model_.gated_mlp ? 2 : 1) * model_.ffn_hidden, hidden, time);
        break;
      case Part::kMlpOut:
        AddGemm(hidden, model_.ffn_hidden, time);
        break;
      case Part::kHead:
        AddGemm(model_.vocabulary, hidden, time);
        break;
      default:
        break;
    }
  }

  void AddAttention(ModuleTime& time) const {
    const GpuSpec& gpu = cluster_.node.gpu;
    if (scenario_.compute.flash_attention && !gpu.attention.empty()) {
      const Seconds forward = FusedAttention(RowFor(gpu, model_.head_dimension()));
      time.forward.attention += forward;
      time.backward.attention += kFusedBackward * forward;
      time.forward_kernels += 1;
      time.backward_kernels += 2;
      return;
    }
    // Two products batched over heads, timed as one of the same FLOP over all heads; four backward.
    const std::int64_t sequence = scenario_.training.sequence_length;
    const Seconds products =
        Gemm(tokens_, sequence, model_.hidden) + Gemm(tokens_, model_.hidden, sequence);
    time.forward.attention += products;
    time.backward.attention += 2 * products;
    time.forward_kernels += 2;
    time.backward_kernels += 4;
  }

  Seconds FusedAttention(const AttentionSpec& row) const {
    const auto sequence = static_cast<double>(scenario_.training.sequence_length);
    const bool skips = scenario_.compute.causal_skip;
    const Flops flops = Flops::Count((skips ? 2 : 4) * static_cast<double>(tokens_) * sequence *
                                     static_cast<double>(model_.hidden));
    const FlopsPerSecond rate = skips ? row.rate : row.full_rate.value_or(row.rate);
    const double half_sequence =
        skips ? row.half_sequence : row.full_half_sequence.value_or(row.half_sequence);
    return (1 + half_sequence / sequence) * (flops / rate);
  }

  // The row of the smallest head dimension that holds this one, as kernels pad; else the largest.
  static const AttentionSpec& RowFor(const GpuSpec& gpu, std::int64_t head_dimension) {
    const AttentionSpec* best = &gpu.attention.front();
    for (const AttentionSpec& row : gpu.attention) {
      const bool row_holds = row.head_dimension >= head_dimension;
      const bool best_holds = best->head_dimension >= head_dimension;
      if (row_holds != best_holds ? row_holds
          : row_holds             ? row.head_dimension < best->head_dimension
                                  : row.head_dimension > best->head_dimension) {
        best = &row;
      }
    }
    return *best;
  }

  // Bytes per token as models/compute/README.md lists them, times tokens and passes.
  PartTraffic TrafficOf(Part part) const {
    const auto hidden = static_cast<double>(model_.hidden);
    const auto ffn = static_cast<double>(model_.ffn_hidden);
    switch (part) {
      case Part::kInputNorm:
      case Part::kPostNorm:
      case Part::kFinalNorm:
        return {.forward = Passes(4 * hidden, 1), .backward = Passes(10 * hidden, 2)};
      case Part::kResidual:
        return {.forward = Passes(6 * hidden, 2), .backward = Passes(6 * hidden, 2)};
      case Part::kActivation:
        return model_.gated_mlp
                   ? PartTraffic{.forward = Passes(6 * ffn, 2), .backward = Passes(10 * ffn, 3)}
                   : PartTraffic{.forward = Passes(4 * ffn, 1), .backward = Passes(6 * ffn, 1)};
      case Part::kAttention:
        return AttentionTraffic();
      case Part::kEmbedding: {
        // The gradient of the table is dense: written once, whatever the batch.
        Traffic backward = Passes(6 * hidden, 2);
        backward.bytes += 2 * static_cast<double>(model_.vocabulary) * hidden;
        return {.forward = Passes(4 * hidden, 2), .backward = backward};
      }
      case Part::kHead: {
        const double bytes = scenario_.compute.loss_bytes / 2 * static_cast<double>(tokens_) *
                             static_cast<double>(model_.vocabulary);
        return {.forward = {.bytes = bytes, .kernels = 3},
                .backward = {.bytes = bytes, .kernels = 3}};
      }
      case Part::kQkv:
      case Part::kAttentionOutput:
      case Part::kMlpIn:
      case Part::kMlpOut:
        return {};
    }
    return {};
  }

  PartTraffic AttentionTraffic() const {
    PartTraffic traffic;
    if (model_.position == Position::kRotary) {
      const auto rotated = static_cast<double>(model_.hidden + KvHidden());
      traffic = {.forward = Passes(4 * rotated, 2), .backward = Passes(4 * rotated, 2)};
    }
    if (!scenario_.compute.flash_attention || cluster_.node.gpu.attention.empty()) {
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
    return {
        .bytes = scenario_.compute.memory_passes * static_cast<double>(tokens_) * bytes_per_token,
        .kernels = kernels};
  }

  void AddTraffic(const Traffic& traffic, PassTime& pass, int& kernels) const {
    if (traffic.kernels == 0) return;
    const Calibration& calibration = cluster_.calibration;
    const Seconds moved =
        Seconds::Count(traffic.bytes / (calibration.memory_fraction.value *
                                        cluster_.node.gpu.memory_bandwidth.bytes_per_second()));
    const Seconds launched = traffic.kernels * Seconds::Count(calibration.kernel_launch.value);
    pass.memory_bound += std::max(moved, launched);
    kernels += traffic.kernels;
  }

  Seconds Gemm(std::int64_t m, std::int64_t n, std::int64_t k) const {
    return GemmTime(m, n, k, cluster_.node.gpu, cluster_.calibration.gemm_fraction.value);
  }

  std::int64_t KvHidden() const { return model_.kv_heads * model_.head_dimension(); }

  const Scenario& scenario_;
  const TransformerSpec& model_;
  const ClusterSpec& cluster_;
  std::int64_t tokens_;
};

// Replaces the passes' times: all hardware FLOP of a step run at one rate, such that the model's
// FLOP over the step's compute time is `mfu` of the peak.
void SetUtilization(Part part, const Scenario& scenario, double mfu, ModuleTime& time) {
  const StepFlops step = FlopsOfStep(scenario);
  const FlopsPerSecond rate =
      Ratio(step.hardware, step.model) * (mfu * scenario.cluster.node.gpu.peak);
  const Seconds forward = ForwardFlops(part, scenario) / rate;
  time.forward = {};
  time.backward = {};
  time.recompute = {};
  (part == Part::kAttention ? time.forward.attention : time.forward.gemm) = forward;
  (part == Part::kAttention ? time.backward.attention : time.backward.gemm) = 2 * forward;
  if (RecomputedPasses(part, scenario) > 0) time.recompute = time.forward;
}

}  // namespace

Seconds GemmTime(std::int64_t m, std::int64_t n, std::int64_t k, const GpuSpec& gpu,
                 double fraction) {
  if (m <= 0 || n <= 0 || k <= 0) {
    throw std::invalid_argument(
        fmt::format("sizes of a matrix product must be positive, got {} x {} x {}", m, n, k));
  }
  if (!(fraction > 0)) {
    throw std::invalid_argument(fmt::format("fraction must be positive, got {}", fraction));
  }
  const GemmSpec& gemm = gpu.gemm;
  const auto rows = static_cast<double>(m);
  const auto columns = static_cast<double>(n);
  const auto reduction = static_cast<double>(k);
  const double shape =
      1 + gemm.rows_half / rows + gemm.columns_half / columns + gemm.reduction_half / reduction;
  const double rate_fraction = fraction * gemm.peak_fraction / gemm.sustained_slowdown;
  return gemm.launch +
         shape * (Flops::Count(2 * rows * columns * reduction) / (rate_fraction * gpu.peak));
}

ModuleTime TimeOf(Part part, const Scenario& scenario) {
  ModuleTime time = PartModel(scenario).Time(part);
  if (scenario.compute.mfu) SetUtilization(part, scenario, *scenario.compute.mfu, time);
  return time;
}

Seconds MemoryTime(Bytes traffic, const ClusterSpec& cluster) {
  if (traffic == Bytes()) return {};
  const BytesPerSecond rate =
      cluster.calibration.memory_fraction.value * cluster.node.gpu.memory_bandwidth;
  return std::max(traffic / rate, Seconds::Count(cluster.calibration.kernel_launch.value));
}

Seconds OptimizerTime(std::int64_t parameters, const ClusterSpec& cluster) {
  const BytesPerSecond rate =
      cluster.calibration.memory_fraction.value * cluster.node.gpu.memory_bandwidth;
  return Seconds::Count(cluster.calibration.optimizer_fixed.value +
                        kOptimizerBytes * static_cast<double>(parameters) /
                            rate.bytes_per_second());
}

}  // namespace zerosim
