#include <algorithm>
#include <cmath>

#include "models/parallel/scenario_groups.h"
#include "models/quantization/quantization.h"
#include "sim/report_parts.h"

namespace zerosim {
namespace {

// Expected error of independent events: their squares add up.
QuantizationPath PathOf(int events, const QuantizationFormat& format, std::int64_t group_size) {
  QuantizationPath path;
  path.events = events;
  path.bits = format.bits;
  path.group_size = group_size;
  path.relative_error = std::sqrt(events * RelativeSquaredError(format, group_size));
  return path;
}

}  // namespace

void AddQuantization(const Scenario& scenario, const PreparedStep& step, StepReport* report) {
  report->weights_forward.bits = report->weights_backward.bits = report->gradients.bits = 16;
  // The largest matrix of a layer stands for all.
  const Weight* largest = nullptr;
  for (const Weight& w : step.layout.weights) {
    if (!w.is_vector() &&
        (largest == nullptr || w.tensor_elements() > largest->tensor_elements())) {
      largest = &w;
    }
  }
  if (largest == nullptr) return;
  if (largest->bits < 16) {
    // Kept quantised, and never again: one event whatever travels.
    const QuantizationFormat kept = FrozenFormat(largest->bits);
    const QuantizedSize shard = QuantizedSizeOf(
        CeilDiv(largest->tensor_elements(), ProcessGroupsOf(scenario).shard.size), kept);
    report->weights_forward = report->weights_backward = PathOf(1, kept, shard.group_size);
  }
  if (!scenario.fsdp && scenario.zero.sends_differences()) {
    // An event is of the change of a step, and so is its error.
    const QuantizationFormat& format = *scenario.zero.weight_differences;
    const int shards = ProcessGroupsOf(scenario).shard.size;
    const QuantizedSize shard =
        QuantizedSizeOf(CeilDiv(step.layout.trainable_parameters(), shards), format);
    report->weights_forward = report->weights_backward = PathOf(1, format, shard.group_size);
    report->weights_forward.of_difference = report->weights_backward.of_difference = true;
  }
  if (!scenario.shards_weights() && !scenario.quantizes_gradients()) return;
  const ProcessGroups groups = ProcessGroupsOf(scenario);
  const int world = groups.shard.size;
  if (const auto& format = scenario.quantized_weights();
      format && scenario.shards_weights() && largest->bits == 16) {
    const QuantizedSize shard =
        QuantizedSizeOf(CeilDiv(largest->tensor_elements(), world), *format);
    report->weights_forward = PathOf(1, *format, shard.group_size);
    // hpZ's shard holds values that were quantised once, and quantises them again.
    report->weights_backward =
        PathOf(scenario.secondary_size() > 1 ? 2 : 1, *format, shard.group_size);
  }
  // Stage 3 without reduce_scatter sums its buckets in 16 bit.
  const bool sums_buckets = !scenario.fsdp && scenario.zero.stage == 3 &&
                            scenario.zero.collective() == GradientCollective::kAllReduce;
  if (scenario.quantizes_gradients() && groups.across.size > 1 && !sums_buckets) {
    const GradientQuantization& formats = *scenario.quantized_gradients();
    // Stages 1 and 2 quantise a bucket as one.
    const bool by_matrix = scenario.shards_weights();
    const QuantizedSize first =
        by_matrix
            ? QuantizedSizeOf(largest->tensor_elements(), formats.in_node,
                              std::max({largest->rows, largest->columns, std::int64_t{world}}))
            : QuantizedSizeOf(
                  std::min(step.layout.trainable_parameters(), scenario.zero.reduce_bucket_size),
                  formats.in_node, world);
    report->gradients = PathOf(1, formats.in_node, first.group_size);
    if (formats.two_hops) {
      const QuantizationPath second = PathOf(1, formats.between_nodes, first.group_size);
      report->gradients.events = 2;
      report->gradients.bits = std::min(formats.in_node.bits, formats.between_nodes.bits);
      report->gradients.relative_error =
          std::hypot(report->gradients.relative_error, second.relative_error);
    }
  }
}

}  // namespace zerosim
