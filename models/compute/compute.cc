#include "models/compute/compute.h"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

#include "models/compute/flops.h"
#include "models/compute/traffic.h"

namespace zerosim {
namespace {

// Backward of fused attention over its forward: five products against two.
constexpr double kFusedBackward = 2.5;

// `groups` products of M rows, N columns and reduction K in one launch.
Seconds ProductTime(double groups, double m, double n, double k, const GpuSpec& gpu,
                    double fraction) {
  const GemmSpec& gemm = gpu.gemm;
  const double shape = 1 + gemm.rows_half / m + gemm.columns_half / n + gemm.reduction_half / k;
  const double rate_fraction = fraction * gemm.peak_fraction / gemm.sustained_slowdown;
  return gemm.launch + shape * (Flops::Count(2 * m * n * k * groups) / (rate_fraction * gpu.peak));
}

// Everything that prices one module of a scenario.
class PartModel {
 public:
  explicit PartModel(const Scenario& scenario)
      : scenario_(scenario),
        model_(scenario.model),
        cluster_(scenario.cluster),
        tokens_(scenario.tokens_per_micro_batch()) {}

  ModuleTime Time(Part part) const {
    ModuleTime time;
    AddGemms(part, time);
    if (IsAttention(part)) AddAttention(part, time);
    const PartTraffic traffic = TrafficOf(part, scenario_);
    AddTraffic(traffic.forward, time.forward, time.forward_kernels);
    AddTraffic(traffic.backward, time.backward, time.backward_kernels);
    time.recompute = RecomputeOf(part, time.forward);
    return time;
  }

 private:
  PassTime RecomputeOf(Part part, const PassTime& forward) const {
    const double passes = RecomputedPasses(part, scenario_);
    if (scenario_.training.checkpointing == Checkpointing::kOperators) {
      return {.gemm = passes * forward.gemm,
              .attention = {},
              .memory_bound = OutsideOfLayers(part) ? Seconds() : forward.memory_bound};
    }
    return passes > 0 ? forward : PassTime();
  }

  // y[T, outputs] = x[T, inputs] w, and its two gradients.
  void AddGemms(Part part, ModuleTime& time) const {
    const LinearShape shape = LinearShapeOf(part, model_);
    if (shape.outputs == 0) return;
    const std::int64_t rows = shape.copies * tokens_;
    if (part == Part::kHead && scenario_.training.loss_chunks > 1) {
      AddChunks(shape, time);
    } else if (shape.groups == 1) {
      time.forward.gemm += Gemm(rows, shape.outputs, shape.inputs);
      time.backward.gemm += Gemm(rows, shape.inputs, shape.outputs);
      if (!model_.lora) time.backward.gemm += Gemm(shape.outputs, shape.inputs, rows);
    } else {
      time.forward.gemm += Grouped(shape, rows, 1);
      time.backward.gemm += Grouped(shape, rows, model_.lora ? 1 : 2);
    }
    time.forward_kernels += 1;
    time.backward_kernels += model_.lora ? 1 : 2;
    AddAdapters(part, shape, time);
  }

  // The same, a chunk of the tokens after the other; the last may be smaller.
  void AddChunks(const LinearShape& shape, ModuleTime& time) const {
    const std::int64_t rows = CeilDiv(tokens_, std::int64_t{scenario_.training.loss_chunks});
    const std::int64_t full = tokens_ / rows;
    const std::int64_t rest = tokens_ % rows;
    const int gradients = model_.lora ? 1 : 2;
    const auto add = [&](std::int64_t count, std::int64_t m) {
      time.forward.gemm += count * Gemm(m, shape.outputs, shape.inputs);
      time.backward.gemm += count * Gemm(m, shape.inputs, shape.outputs);
      if (gradients == 2) time.backward.gemm += count * Gemm(shape.outputs, shape.inputs, m);
    };
    add(full, rows);
    if (rest > 0) add(1, rest);
    const auto more = static_cast<int>(full + (rest > 0 ? 1 : 0) - 1);
    time.forward_kernels += more;
    time.backward_kernels += more * gradients;
  }

  // y += (x A) B: two thin products, of which B's outputs are added to y; backward four, of which
  // A's is added to the gradient of x.
  void AddAdapters(Part part, const LinearShape& base, ModuleTime& time) const {
    const Adapters adapters = AdaptersOf(part, base.outputs, model_);
    if (adapters.matrices == 0) return;
    LinearShape down = base;
    down.outputs = adapters.matrices * model_.lora->rank;
    LinearShape up = base;
    up.inputs = model_.lora->rank;
    up.outputs = adapters.outputs;
    const std::int64_t rows = base.copies * tokens_;
    for (const LinearShape& shape : {down, up}) {
      if (base.groups > 1) {
        time.forward.gemm += Grouped(shape, rows, 1);
        time.backward.gemm += Grouped(shape, rows, 2);
      } else {
        time.forward.gemm += Gemm(rows, shape.outputs, shape.inputs);
        time.backward.gemm +=
            Gemm(rows, shape.inputs, shape.outputs) + Gemm(shape.outputs, shape.inputs, rows);
      }
    }
    const auto matrices = static_cast<int>(adapters.matrices);
    time.forward_kernels += 2 * matrices;
    time.backward_kernels += 4 * matrices;
    const auto copies = static_cast<double>(base.copies);
    AddTraffic(TokenPasses(6 * copies * static_cast<double>(adapters.outputs), matrices, scenario_),
               time.forward, time.forward_kernels);
    AddTraffic(TokenPasses(6 * copies * static_cast<double>(base.inputs), matrices, scenario_),
               time.backward, time.backward_kernels);
  }

  // `products` products over all groups, one launch each: the outputs; or both gradients. The
  // average group has rows / groups rows, at least one. Not below the time that weights and rows
  // take from memory, which GemmSpec does not know of because it was fitted to single products.
  Seconds Grouped(const LinearShape& shape, std::int64_t rows, int products) const {
    const auto groups = static_cast<double>(std::min(shape.groups, rows));
    const double m = static_cast<double>(rows) / groups;
    const auto n = static_cast<double>(shape.outputs);
    const auto k = static_cast<double>(shape.inputs);
    const double fraction = cluster_.calibration.gemm_fraction.value;
    const GpuSpec& gpu = cluster_.node.gpu;
    const double bytes = 2 * (groups * n * k + static_cast<double>(rows) * (n + k));
    const Seconds moved = Seconds::Count(bytes / (cluster_.calibration.memory_fraction.value *
                                                  gpu.memory_bandwidth.bytes_per_second()));
    if (products == 1) return std::max(moved, ProductTime(groups, m, n, k, gpu, fraction));
    return std::max(moved, ProductTime(groups, m, k, n, gpu, fraction)) +
           std::max(moved, ProductTime(groups, n, k, m, gpu, fraction));
  }

  void AddAttention(Part part, ModuleTime& time) const {
    const GpuSpec& gpu = cluster_.node.gpu;
    if (scenario_.compute.flash_attention && !gpu.attention.empty()) {
      const std::int64_t widest = std::max(model_.head_dimension(), model_.value_dimension());
      const Seconds forward = FusedAttention(part, RowFor(gpu, widest));
      time.forward.attention += forward;
      time.backward.attention += kFusedBackward * forward;
      time.forward_kernels += 1;
      time.backward_kernels += 2;
      return;
    }
    // Two products batched over heads, timed as one of the same FLOP over all heads; four backward.
    // A window is masked and not skipped.
    const std::int64_t sequence = scenario_.training.sequence_length;
    const Seconds products = Gemm(tokens_, sequence, model_.query_hidden()) +
                             Gemm(tokens_, model_.attention_hidden(), sequence);
    time.forward.attention += products;
    time.backward.attention += 2 * products;
    time.forward_kernels += 2;
    time.backward_kernels += 4;
  }

  Seconds FusedAttention(Part part, const AttentionSpec& row) const {
    const auto sequence = static_cast<double>(scenario_.training.sequence_length);
    const auto window = static_cast<double>(AttendedTokens(part, scenario_));
    const bool skips = scenario_.compute.causal_skip;
    // What the causal mask leaves of the window, on average: the first tokens have less behind
    // them. Half of the sequence if the window holds it.
    const double seen = skips ? 1 - window / (2 * sequence) : 1;
    const auto widths = static_cast<double>(model_.query_hidden() + model_.attention_hidden());
    const Flops flops = Flops::Count(2 * seen * static_cast<double>(tokens_) * window * widths);
    const FlopsPerSecond rate = skips ? row.rate : row.full_rate.value_or(row.rate);
    const double half_sequence =
        skips ? row.half_sequence : row.full_half_sequence.value_or(row.half_sequence);
    return (1 + half_sequence / window) * (flops / rate);
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
  (IsAttention(part) ? time.forward.attention : time.forward.gemm) = forward;
  (IsAttention(part) ? time.backward.attention : time.backward.gemm) =
      BackwardFlops(part, scenario) / rate;
  const double passes = RecomputedPasses(part, scenario);
  time.recompute = {.gemm = passes * time.forward.gemm,
                    .attention = passes * time.forward.attention,
                    .memory_bound = {}};
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
  return ProductTime(1, static_cast<double>(m), static_cast<double>(n), static_cast<double>(k), gpu,
                     fraction);
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

}  // namespace zerosim
