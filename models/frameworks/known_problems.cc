#include "models/frameworks/known_problems.h"

#include <fmt/format.h>

#include "models/parallel/scenario_groups.h"
#include "models/scenario/places.h"

namespace zerosim {
namespace {

const ZeroConfig& ZeroOf(const Situation& s) {
  return s.scenario->zero;
}
const ClusterSpec& ClusterOf(const Situation& s) {
  return s.scenario->cluster;
}
bool QuantizesWeights(const Situation& s) {
  return ZeroOf(s).stage == 3 && ZeroOf(s).quantized_weights.has_value();
}
bool QuantizesGradients(const Situation& s) {
  return ZeroOf(s).stage == 3 && ZeroOf(s).quantized_gradients.has_value();
}
int TensorOf(const Situation& s) {
  return s.scenario->parallel.tensor;
}
bool IsBf16(const Situation& s) {
  return s.scenario->training.precision == Precision::kBf16;
}

constexpr KnownProblem kProblems[] = {
    {.key = "zero.quantized_weights",
     .severity = Severity::kWarning,
     .holds = [](const Situation& s) { return QuantizesWeights(s) && IsBf16(s); },
     .what =
         "DeepSpeed's quantisation kernels take fp16 only: before 2026-08-19 (8215) bf16 fails, "
         "or is read as other values (3992, 4852, 4885, 7775); computed as if they took it"},
    {.key = "zero.quantized_gradients",
     .severity = Severity::kWarning,
     .holds =
         [](const Situation& s) {
           return QuantizesGradients(s) && IsBf16(s) && !QuantizesWeights(s);
         },
     .what = "DeepSpeed's quantisation kernels take fp16 only: in bf16 a loss of 2409 was seen "
             "(4886); computed as if they took it"},
    {.key = "zero.quantized_gradients",
     .severity = Severity::kWarning,
     .holds = [](const Situation& s) { return QuantizesGradients(s) && ClusterOf(s).nodes == 1; },
     .what = "no effect with one node: DeepSpeed quantises gradients on several nodes only (4886)"},
    {.key = "zero.quantized_gradients",
     .severity = Severity::kNote,
     .holds =
         [](const Situation& s) {
           return QuantizesGradients(s) && ClusterOf(s).nodes > 1 && ClusterOf(s).node.gpus != 16;
         },
     .what =
         "DeepSpeed before 2023-08-08 (4085) takes every node to have 16 GPUs, and its gradients "
         "are wrong on others"},
    {.key = "zero.quantized_gradients",
     .severity = Severity::kNote,
     .holds =
         [](const Situation& s) {
           return QuantizesGradients(s) && ClusterOf(s).nodes > 1 && ClusterOf(s).nodes % 2 == 1;
         },
     .what = "DeepSpeed before pull request 5056 crashes with an odd number of nodes (5054); later "
             "ones send what does not divide in 16 bit"},
    {.key = "zero.secondary_partition_size",
     .severity = Severity::kWarning,
     .holds =
         [](const Situation& s) { return ZeroOf(s).has_secondary() && ClusterOf(s).nodes == 1; },
     .what = "gains nothing with one node, whose weights never leave it, and costs the memory of a "
             "second shard (4886; DeepSpeedExamples 613, 717)"},
    {.key = "zero.secondary_partition_size",
     .severity = Severity::kNote,
     .holds =
         [](const Situation& s) {
           return ZeroOf(s).has_secondary() &&
                  s.scenario->training.gradient_accumulation_steps > 1 &&
                  ZeroOf(s).secondary_rule == SecondaryRule::kOncePerStep;
         },
     .what =
         "DeepSpeed before 2024-01-25 (4906) gathers between nodes in every micro-step, and from "
         "2023-08-30 on may read old weights (4851); for the former give secondary_rule "
         "once_per_micro_step"},
    {.key = "zero.secondary_partition_size",
     .severity = Severity::kWarning,
     .holds =
         [](const Situation& s) {
           return ZeroOf(s).has_secondary() &&
                  s.scenario->model.hidden < ZeroOf(s).secondary_partition_size;
         },
     .what =
         "weights of fewer elements than the group has ranks stop DeepSpeed (5642, 6659; 8210)"},
    {.key = "zero.secondary_partition_size",
     .severity = Severity::kWarning,
     .holds = [](const Situation& s) { return ZeroOf(s).has_secondary() && TensorOf(s) > 1; },
     .what = "DeepSpeed's groups (utils/groups.py) are consecutive ranks of the job, which with "
             "tensor parallelism hold different parts of the weights; computed over data-parallel "
             "ranks, which it does not do"},
    {.key = "zero.offload_param",
     .severity = Severity::kWarning,
     .holds =
         [](const Situation& s) {
           return !s.scenario->fsdp && ZeroOf(s).offloads_parameters() && ZeroOf(s).has_secondary();
         },
     .what =
         "with hpZ the second shard lies in the host's memory too, so that every gather crosses "
         "PCIe; and DeepSpeed is known to train wrongly with the two together (issues 6889 and "
         "6926, LLaMA-Factory 6372: the loss stays constant)"},
    {.key = "zero.quantized_gradients",
     .severity = Severity::kWarning,
     .holds =
         [](const Situation& s) {
           return QuantizesGradients(s) && s.groups.across.size > 1 && TensorOf(s) > 1;
         },
     .what = "DeepSpeed sums over all GPUs of the nodes (utils/groups.py), which with tensor "
             "parallelism hold gradients of different weights; computed over data-parallel ranks, "
             "which it does not do"},
    {.key = "zero.quantized_gradients",
     .severity = Severity::kWarning,
     .holds =
         [](const Situation& s) {
           return QuantizesGradients(s) && ClusterOf(s).nodes > 1 && s.groups.replicas.size > 1;
         },
     .what = "DeepSpeed sums over all GPUs of the nodes (utils/groups.py), not over the ranks of "
             "shard_size; computed over the latter, which it does not do"},
    {.key = "parallelism.pipeline",
     .severity = Severity::kError,
     .holds =
         [](const Situation& s) {
           return s.scenario->parallel.pipeline > 1 && ZeroOf(s).stage >= 2;
         },
     .what = "DeepSpeed refuses pipeline parallelism with ZeRO stages 2 and 3 (3589; "
             "Megatron-DeepSpeed 474); expected zero.stage 0 or 1, or fsdp"},
    {.key = "parallelism.sequence",
     .severity = Severity::kWarning,
     .holds =
         [](const Situation& s) {
           const ParallelSpec& p = s.scenario->parallel;
           return !s.scenario->fsdp && s.scenario->framework != "megatron" && p.pipeline > 1 &&
                  p.tensor > 1 && p.sequence_parallel;
         },
     .what = "DeepSpeed's pipeline sends each tensor-parallel rank's part of an activation that is "
             "divided already, and trains on noise (4196) unless pipe_partitioned is off (4322)"},
    {.key = "training.partition_checkpoints",
     .severity = Severity::kNote,
     .holds =
         [](const Situation& s) {
           return !s.scenario->fsdp && s.scenario->parallel.pipeline > 1 &&
                  s.scenario->checkpoint_parts() > 1;
         },
     .what = "in 2021 DeepSpeed stopped with it beside tensor and pipeline parallelism (1538)"},
};

}  // namespace

std::span<const KnownProblem> KnownProblems() {
  return kProblems;
}

void ReportKnownProblems(const Node& root, const Scenario& scenario, Problems* problems) {
  const Places places(root);
  Situation situation{.scenario = &scenario, .groups = {}};
  if (!problems->has_errors()) situation.groups = ProcessGroupsOf(scenario);
  for (const KnownProblem& problem : kProblems) {
    if (problems->IsDoubted(problem.key) || !problem.holds(situation)) continue;
    const Location where = places.Of(problem.key);
    const std::string what = fmt::format("{}: {}", problem.key, problem.what);
    switch (problem.severity) {
      case Severity::kNote:
        problems->Note(where, what);
        break;
      case Severity::kWarning:
        problems->Warn(where, what);
        break;
      case Severity::kError:
        problems->Add(where, what);
        break;
    }
  }
}

}  // namespace zerosim
