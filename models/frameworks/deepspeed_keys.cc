#include "models/frameworks/deepspeed_keys.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "models/frameworks/deepspeed_zero_keys.h"

namespace zerosim {
namespace {

using enum DeepSpeedUse;

constexpr DeepSpeedKey kTopLevel[] = {
    // Batch and precision.
    {.path = "train_batch_size", .use = kRead},
    {.path = "train_micro_batch_size_per_gpu", .use = kRead},
    {.path = "gradient_accumulation_steps", .use = kRead},
    {.path = "managed_gradient_accumulation",
     .use = kNoEffect,
     .why = "it says who counts micro-steps"},
    {.path = "fp16", .use = kRead},
    {.path = "fp16.enabled", .use = kRead},
    {.path = "fp16.auto_cast",
     .use = kNoEffect,
     .harmless = "false",
     .why = "loss scaling costs no time that shows"},
    {.path = "fp16.loss_scale", .use = kNoEffect, .why = "loss scaling costs no time that shows"},
    {.path = "fp16.initial_scale_power",
     .use = kNoEffect,
     .why = "loss scaling costs no time that shows"},
    {.path = "fp16.loss_scale_window",
     .use = kNoEffect,
     .why = "loss scaling costs no time that shows"},
    {.path = "fp16.hysteresis", .use = kNoEffect, .why = "loss scaling costs no time that shows"},
    {.path = "fp16.consecutive_hysteresis",
     .use = kNoEffect,
     .why = "loss scaling costs no time that shows"},
    {.path = "fp16.min_loss_scale",
     .use = kNoEffect,
     .why = "loss scaling costs no time that shows"},
    {.path = "fp16.fp16_master_weights_and_grads",
     .use = kRefused,
     .harmless = "false",
     .why = "16-bit master weights are not modelled"},
    {.path = "bf16", .use = kRead, .old_name = "bfloat16"},
    {.path = "bf16.enabled", .use = kRead},
    {.path = "bf16.immediate_grad_update",
     .use = kNoEffect,
     .harmless = "false",
     .why = "it moves an addition"},
    {.path = "bf16.check_grad_overflow",
     .use = kNoEffect,
     .harmless = "false",
     .why = "a check of gradients costs no time that shows"},
    {.path = "bf16.bf16_master_weights_and_grads",
     .use = kRefused,
     .harmless = "false",
     .why = "16-bit master weights are not modelled"},
    {.path = "bf16.bf16_optimizer_states",
     .use = kRefused,
     .harmless = "false",
     .why = "16-bit optimizer states are not modelled"},
    {.path = "data_types", .use = kRead},
    {.path = "data_types.grad_accum_dtype", .use = kRead},
    {.path = "data_types.param_dtype",
     .use = kRefused,
     .why = "weights of another type than training.precision are not modelled"},
    {.path = "data_types.buffer_dtype",
     .use = kNoEffect,
     .why = "buffers of a transformer are small"},
    {.path = "communication_data_type", .use = kRead},
    {.path = "seq_parallel_communication_data_type",
     .use = kNoEffect,
     .why = "there is no sequence parallelism"},
    {.path = "amp",
     .use = kRefused,
     .why = "weights stay fp32 under apex amp, which is not modelled"},
    {.path = "torch_autocast",
     .use = kRefused,
     .why = "weights stay fp32 under autocast, which is not modelled"},

    // Gradients.
    {.path = "gradient_clipping",
     .use = kNoEffect,
     .harmless = "0",
     .why = "a pass over the gradient shard and a sum of one number are part of "
            "cluster.calibration.optimizer_fixed"},
    {.path = "prescale_gradients", .use = kRead},
    {.path = "gradient_predivide_factor", .use = kRead},
    {.path = "gradient_allreduce_op", .use = kNoEffect, .why = "a sum costs what a mean costs"},
    {.path = "sparse_gradients",
     .use = kRefused,
     .harmless = "false",
     .why = "sparse gradients are not modelled"},
    {.path = "disable_allgather",
     .use = kRefused,
     .harmless = "false",
     .why = "leaving out the all-gather of stages 1 and 2 is not modelled"},

    {.path = "zero_allow_untested_optimizer", .use = kNoEffect, .why = "it lifts a check"},
    {.path = "zero_force_ds_cpu_optimizer", .use = kNoEffect, .why = "nothing is offloaded"},

    // Other parallelism.
    {.path = "sequence_parallel_size",
     .use = kRefused,
     .harmless = "1",
     .why = "the all-to-alls of DeepSpeed's sequence parallelism are not modelled"},
    {.path = "tensor_parallel",
     .use = kRefused,
     .why = "the degree of tensor parallelism is not read from here; give parallelism.tensor and "
            "leave it out"},
    {.path = "expert_parallel",
     .use = kRefused,
     .why = "the degree of expert parallelism is not read from here; give parallelism.expert and "
            "leave it out"},
    {.path = "pipeline", .use = kNoEffect, .why = "it acts with a pipeline module only"},
    {.path = "use_data_before_expert_parallelism",
     .use = kRefused,
     .harmless = "false",
     .why = "expert-parallel ranks that are far apart are not modelled"},

    // What the model computes.
    {.path = "optimizer", .use = kRead},
    {.path = "optimizer.type", .use = kRead},
    {.path = "optimizer.params", .use = kNoEffect, .why = "Adam's settings cost no time or memory"},
    {.path = "optimizer.legacy_fusion",
     .use = kNoEffect,
     .why = "Adam's settings cost no time or memory"},
    {.path = "scheduler", .use = kNoEffect, .why = "a learning rate costs no time"},
    {.path = "activation_checkpointing",
     .use = kNoEffect,
     .why = "whether blocks are recomputed is the model's doing; see "
            "training.activation_checkpointing and training.partition_checkpoints"},
    {.path = "sparse_attention", .use = kRefused, .why = "sparse attention is not modelled"},
    {.path = "compression_training", .use = kRefused, .why = "compression is not modelled"},
    {.path = "progressive_layer_drop",
     .use = kRefused,
     .why = "layers that are left out are not modelled"},
    {.path = "eigenvalue", .use = kRefused, .why = "eigenvalues are not modelled"},
    {.path = "quantize_training",
     .use = kRefused,
     .why = "training with quantised weights is not modelled"},
    {.path = "weight_quantization", .use = kNoEffect, .why = "it acts in inference"},
    {.path = "curriculum_learning",
     .use = kNoEffect,
     .why = "the sequence length is training.sequence_length"},
    {.path = "data_efficiency",
     .use = kNoEffect,
     .why = "the sequence length is training.sequence_length"},
    {.path = "compile", .use = kNoEffect, .why = "see compute.memory_passes"},
    {.path = "graph_harvesting", .use = kNoEffect, .why = "launches are timed one by one"},
    {.path = "vocabulary_size", .use = kNoEffect, .why = "see model.vocabulary"},
    {.path = "hybrid_engine", .use = kNoEffect, .why = "it acts in generation"},
    {.path = "elasticity",
     .use = kRefused,
     .why = "it chooses batch and ranks by itself; give the batch that it chooses"},

    // What a step does not show.
    {.path = "steps_per_print", .use = kNoEffect, .why = "it is about logging"},
    {.path = "wall_clock_breakdown", .use = kNoEffect, .why = "it is about logging"},
    {.path = "memory_breakdown", .use = kNoEffect, .why = "it is about logging"},
    {.path = "dump_state", .use = kNoEffect, .why = "it is about logging"},
    {.path = "log_level", .use = kNoEffect, .why = "it is about logging"},
    {.path = "flops_profiler", .use = kNoEffect, .why = "it is about logging"},
    {.path = "comms_logger", .use = kNoEffect, .why = "it is about logging"},
    {.path = "tensorboard", .use = kNoEffect, .why = "it is about logging"},
    {.path = "wandb", .use = kNoEffect, .why = "it is about logging"},
    {.path = "comet", .use = kNoEffect, .why = "it is about logging"},
    {.path = "csv_monitor", .use = kNoEffect, .why = "it is about logging"},
    {.path = "monitor_config", .use = kNoEffect, .why = "it is about logging"},
    {.path = "timers", .use = kNoEffect, .why = "it is about logging"},
    {.path = "checkpoint", .use = kNoEffect, .why = "it is about checkpoints and start-up"},
    {.path = "nebula", .use = kNoEffect, .why = "it is about checkpoints and start-up"},
    {.path = "datastates_ckpt", .use = kNoEffect, .why = "it is about checkpoints and start-up"},
    {.path = "aio", .use = kNoEffect, .why = "it is about checkpoints and start-up"},
    {.path = "dataloader_drop_last", .use = kNoEffect, .why = "data are there in time"},
    {.path = "autotuning", .use = kNoEffect, .why = "it chooses the configuration before training"},
};

std::vector<DeepSpeedKey> Join() {
  std::vector<DeepSpeedKey> keys(std::begin(kTopLevel), std::end(kTopLevel));
  const std::span<const DeepSpeedKey> zero = DeepSpeedZeroKeys();
  keys.insert(keys.end(), zero.begin(), zero.end());
  return keys;
}

}  // namespace

std::span<const DeepSpeedKey> DeepSpeedKeys() {
  static const std::vector<DeepSpeedKey> keys = Join();
  return keys;
}

const DeepSpeedKey* FindDeepSpeedKey(std::string_view section, std::string_view name) {
  for (const DeepSpeedKey& key : DeepSpeedKeys()) {
    const std::size_t dot = key.path.rfind('.');
    const std::string_view parent =
        dot == std::string_view::npos ? std::string_view() : key.path.substr(0, dot);
    if (parent == section && (key.name() == name || key.old_name == name)) return &key;
  }
  return nullptr;
}

bool HasDeepSpeedKeysBelow(std::string_view path) {
  return std::ranges::any_of(DeepSpeedKeys(), [&](const DeepSpeedKey& key) {
    return key.path.size() > path.size() && key.path.starts_with(path) &&
           key.path[path.size()] == '.';
  });
}

bool IsStrictInDeepSpeed(std::string_view section) {
  return section.starts_with("zero_optimization") || section == "fp16" || section == "bf16";
}

}  // namespace zerosim
