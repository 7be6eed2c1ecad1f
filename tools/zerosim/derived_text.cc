#include "tools/zerosim/derived_text.h"

#include <fmt/format.h>

#include "models/core/units_text.h"
#include "models/parallel/scenario_groups.h"
#include "sim/simulate.h"

namespace zerosim {
namespace {

const char* NameOf(FsdpStrategy strategy) {
  switch (strategy) {
    case FsdpStrategy::kFullShard:
      return "full_shard";
    case FsdpStrategy::kShardGradOp:
      return "shard_grad_op";
    case FsdpStrategy::kNoShard:
      return "no_shard";
  }
  return "?";
}

std::string StrategyText(const Scenario& s) {
  std::string text = s.fsdp ? fmt::format("FSDP {}", NameOf(s.fsdp->sharding))
                            : fmt::format("ZeRO stage {}", s.zero.stage);
  if (const auto& lora = s.model.lora) {
    text += fmt::format(", LoRA of rank {}", lora->rank);
    if (lora->frozen_bits < 16) text += fmt::format(" on weights in {} bits", lora->frozen_bits);
  }
  if (s.offloads()) {
    text += fmt::format(", {} on the host", s.offloaded_optimizer() == 0 ? "weights"
                                            : s.offloads_parameters()    ? "optimizer and weights"
                                                                         : "optimizer");
  }
  if (!s.fsdp && s.zero.sends_differences()) {
    text += fmt::format(", weight differences in {} bits", s.zero.weight_differences->bits);
  }
  if (!s.shards_weights() && !s.quantizes_gradients()) return text;
  if (const auto& format = s.quantized_weights(); format && s.shards_weights()) {
    text += fmt::format(", qwZ in {} bits", format->bits);
  }
  if (s.secondary_size() > 1) text += fmt::format(", hpZ over {} ranks", s.secondary_size());
  if (const auto& gradients = s.quantized_gradients()) {
    const int in_node = gradients->in_node.bits;
    const int between = gradients->between_nodes.bits;
    text += fmt::format(", qgZ in {} bits", in_node == between || !gradients->two_hops
                                                ? std::to_string(between)
                                                : fmt::format("{} and {}", in_node, between));
  }
  return text;
}

// "1 node", "24 nodes".
std::string Counted(std::int64_t count, const char* noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string GroupText(const char* name, const ProcessGroup& group) {
  if (group.size == 1) return "";
  return fmt::format("; {} {}{}", name, group.size,
                     group.stride == 1 ? "" : fmt::format(", {} ranks apart", group.stride));
}

// "tp 8 x dp 16, order tp-dp-pp; ", or nothing if only samples are divided.
std::string DivisionText(const ParallelSpec& p) {
  if (p.model_ranks() == 1 && p.expert == 1) return "";
  std::string text;
  const auto add = [&](const char* name, int size) {
    if (size > 1) text += fmt::format("{}{} {}", text.empty() ? "" : " x ", name, size);
  };
  add("tp", p.tensor);
  add("cp", p.context);
  add("pp", p.pipeline);
  add("ep", p.expert);
  return text +
         (p.order == RankOrder::kTensorDataPipeline ? ", order tp-dp-pp; " : ", order tp-pp-dp; ");
}

}  // namespace

std::string DerivedText(const Scenario& s) {
  const ProcessGroups groups = ProcessGroupsOf(s);
  const TrainingSpec& training = s.training;
  const std::int64_t samples =
      training.micro_batch_size * training.gradient_accumulation_steps * s.sample_ranks();
  const Bytes peak = PeakMemory(s);
  const Bytes capacity = s.cluster.node.gpu.memory;
  return fmt::format(
      "  ranks       {}: {} of {}\n"
      "  parameters  {:.4g} billion\n"
      "  strategy    {}\n"
      "  groups      {}shard {}{}{}{}{}{}\n"
      "  batch       {} of {} a step: micro-batch {} x {} x {}\n"
      "  memory      {} of {} a GPU at the peak{}\n",
      s.world_size(), Counted(s.cluster.nodes, "node"), Counted(s.cluster.node.gpus, "GPU"),
      static_cast<double>(Layout(s.model).parameters()) * 1e-9, StrategyText(s),
      DivisionText(s.parallel), groups.shard.size,
      groups.shard.stride == 1 ? "" : fmt::format(", {} ranks apart", groups.shard.stride),
      GroupText("in the node", groups.in_node), GroupText("across nodes", groups.across),
      GroupText("secondary", groups.secondary), GroupText("replicas", groups.replicas),
      Counted(samples, "sample"), Counted(training.sequence_length, "token"),
      training.micro_batch_size, Counted(training.gradient_accumulation_steps, "micro-step"),
      Counted(s.sample_ranks(), "rank"), FormatBytes(peak), FormatBytes(capacity),
      peak <= capacity ? "" : ": does not fit");
}

}  // namespace zerosim
