#include "models/scenario/key_sections.h"

namespace zerosim {
namespace {

using enum KeyType;

constexpr KeySpec kKeys[] = {
    {.path = "zero",
     .otherwise = "the strategy is fsdp",
     .meaning = "The ZeRO or ZeRO++ strategy, as DeepSpeed carries it out."},
    {.path = "zero.deepspeed_config",
     .type = kText,
     .otherwise = "every key stands here",
     .meaning = "A DeepSpeed configuration (ds_config.json), relative to this file, that gives the "
                "keys of this section and training's batch sizes and precision. Keys that the "
                "scenario gives itself win, with a warning where they differ; of the three batch "
                "sizes any two give the third, and a train_batch_size that no longer goes with the "
                "others is dropped. \"auto\" is what the Hugging Face integration makes of it. "
                "Keys that have no effect here are listed by `zerosim check`, those that would "
                "have one and are not modelled are refused."},
    {.path = "zero.stage",
     .type = kInteger,
     .low = 0,
     .high = 3,
     .meaning = "What is sharded over the ranks: nothing (0), optimizer states (1), gradients too "
                "(2), weights too (3)."},
    {.path = "zero.quantized_weights",
     .type = kFlagOrSection,
     .fallback = "false",
     .meaning = "qwZ: weights travel quantised in the forward all-gather, and in the backward one "
                "without hpZ. Stage 3 only."},
    {.path = "zero.quantized_weight_differences",
     .type = kFlagOrSection,
     .fallback = "false",
     .meaning = "qWD of SDP4Bit (arXiv 2410.15526): after the optimizer's step ranks gather the "
                "change of the weights, quantised, and add it to the 16-bit weights that they "
                "have. Stages 1 and 2, where quantized_gradients then acts too. No framework "
                "ships it; the paper's is Megatron-LM's distributed optimizer."},
    {.path = "zero.quantized_nontrainable_weights",
     .type = kFlag,
     .fallback = "false",
     .meaning = "MixZ++: frozen matrices are kept in INT8, in both shards under hpZ, and travel so "
                "without being quantised for each gather. The same as training.frozen_weights: "
                "int8. Stage 3 with training.lora. DeepSpeed's "
                "zero_quantized_nontrainable_weights."},
    {.path = "zero.secondary_partition_size",
     .type = kCountOrNode,
     .fallback = "1",
     .low = 1,
     .high = kMostNodes,
     .meaning = "hpZ: ranks of a group that holds a second shard of the weights, from which "
                "backward gathers; node is the number of GPUs of a node, 1 is off. Must divide the "
                "number of ranks, and divide the GPUs of a node or be a multiple of them. Stage 3 "
                "only. DeepSpeed's zero_hpz_partition_size."},
    {.path = "zero.shard_size",
     .type = kCountOrNode,
     .otherwise = "all data-parallel ranks",
     .low = 1,
     .high = kMostNodes,
     .meaning = "Ranks that one copy of the states is spread over; node is the number of GPUs of a "
                "node. Fewer than all is MiCS in stage 3 (DeepSpeed's mics_shard_size), where "
                "gradients are all-reduced between the copies in the last micro-step, and shards "
                "the optimizer over a sub-group in stages 1 and 2."},
    {.path = "zero.secondary_rule",
     .type = kChoice,
     .fallback = "once_per_step",
     .choices = "once_per_step|once_per_micro_step",
     .meaning = "When hpZ gathers weights over all ranks: in the first micro-step of an optimizer "
                "step (DeepSpeed since 2024-01), or in the forward pass of every micro-step (the "
                "release of 2023-06)."},
    {.path = "zero.quantized_gradients",
     .type = kFlagOrSection,
     .fallback = "false",
     .meaning =
         "qgZ: gradients travel quantised, in all-to-alls instead of a reduce-scatter. Stage "
         "3, or stages 1 and 2 with quantized_weight_differences (SDP4Bit: in_node_bits 8, "
         "between_nodes_bits 4)."},
    {.path = "zero.gradient_collective",
     .type = kChoice,
     .otherwise = "all_reduce, in stage 3 reduce_scatter",
     .choices = "all_reduce|reduce_scatter",
     .meaning = "How gradients are summed. Stages 1 and 2: by all-reduce, as DeepSpeed does by "
                "default, or by reduce-scatter, as the ZeRO paper says (DeepSpeed's "
                "use_multi_rank_bucket_allreduce: false). Stage 3: by reduce-scatter or, with "
                "DeepSpeed's reduce_scatter: false, by all-reduce; qgZ then never runs, except on "
                "weights above reduce_bucket_size and without contiguous_gradients. Stage 0 always "
                "all-reduces."},
    {.path = "zero.gradient_precision",
     .type = kChoice,
     .fallback = "model",
     .choices = "model|fp32",
     .meaning = "Type of the gradients that a rank keeps until the optimizer's step: that of the "
                "weights, or fp32, which doubles them. In stages 2 and 3 DeepSpeed's "
                "data_types.grad_accum_dtype. In stages 0 and 1 they also travel in fp32, as in "
                "Megatron-LM (accumulate_allreduce_grads_in_fp32)."},
    {.path = "zero.fused_weight_gradients",
     .type = kFlag,
     .fallback = "false",
     .meaning = "Whether the product that computes a weight's gradient adds it to the kept one "
                "(Megatron-LM's gradient accumulation fusion). Autograd then gets a placeholder: "
                "Transformer Engine keeps one of each shape of a block's matrices, and the head "
                "has one while it runs backward. Memory only; stages 0 and 1."},
    {.path = "zero.offload_optimizer",
     .otherwise = "everything stays on the GPU",
     .meaning = "Optimizer states, and gradients of the shard, in the host's memory, and Adam on "
                "the CPU (ZeRO-Offload). Stages 1 to 3. DeepSpeed's offload_optimizer."},
    {.path = "zero.offload_optimizer.device",
     .type = kChoice,
     .fallback = "none",
     .choices = "none|cpu|nvme",
     .meaning = "cpu: the host's memory. none: they stay on the GPU. nvme is refused: it is not "
                "modelled."},
    {.path = "zero.offload_optimizer.pin_memory",
     .type = kFlag,
     .fallback = "false",
     .meaning = "Whether the host's buffers are pinned. Copies of others run at half the rate, and "
                "the host waits for each."},
    {.path = "zero.offload_optimizer.ratio",
     .type = kNumber,
     .fallback = "1",
     .low = 0,
     .high = 1,
     .meaning = "Part of the states that is offloaded; the GPU keeps and updates the rest "
                "meanwhile (Twin-Flow). Stage 3 only."},
    {.path = "zero.offload_param",
     .otherwise = "weights stay on the GPU",
     .meaning = "Shards of the 16-bit weights in the host's memory: each gather first copies its "
                "own shards to the GPU (ZeRO-Infinity). Stage 3 only. DeepSpeed's offload_param."},
    {.path = "zero.offload_param.device",
     .type = kChoice,
     .fallback = "none",
     .choices = "none|cpu|nvme",
     .meaning = "cpu: the host's memory. none: they stay on the GPU. nvme is refused: it is not "
                "modelled."},
    {.path = "zero.offload_param.pin_memory",
     .type = kFlag,
     .fallback = "false",
     .meaning = "Whether the host's buffers are pinned, as in offload_optimizer."},
    {.path = "zero.prefetch_bucket_size",
     .type = kInteger,
     .fallback = "5e7",
     .low = 0,
     .high = kMostElements,
     .meaning = "Elements that ZeRO-3 fetches ahead at most at one hook. DeepSpeed's "
                "stage3_prefetch_bucket_size."},
    {.path = "zero.max_live_parameters",
     .type = kInteger,
     .fallback = "1e9",
     .low = 0,
     .high = kMostElements,
     .meaning = "Gathered elements above which ZeRO-3 does not prefetch. DeepSpeed's "
                "stage3_max_live_parameters."},
    {.path = "zero.max_reuse_distance",
     .type = kInteger,
     .fallback = "1e9",
     .low = 0,
     .high = kMostElements,
     .meaning = "A parameter used again within so many elements of others is not released. "
                "DeepSpeed's stage3_max_reuse_distance."},
    {.path = "zero.param_persistence_threshold",
     .type = kInteger,
     .fallback = "1e5",
     .low = 0,
     .high = kMostElements,
     .meaning = "Parameters of at most so many elements stay gathered; each is refreshed after the "
                "optimizer's step. DeepSpeed's stage3_param_persistence_threshold."},
    {.path = "zero.reduce_bucket_size",
     .type = kInteger,
     .fallback = "5e8",
     .low = 1,
     .high = kMostElements,
     .meaning = "Elements of gradients that are reduced together."},
    {.path = "zero.allgather_bucket_size",
     .type = kInteger,
     .fallback = "5e8",
     .low = 1,
     .high = kMostElements,
     .meaning = "Elements of updated weights that stages 1 and 2 would gather together after the "
                "optimizer's step. No effect: DeepSpeed gathers all in one call where torch has "
                "all_gather_into_tensor."},
    {.path = "zero.contiguous_gradients",
     .type = kFlag,
     .fallback = "true",
     .meaning = "Whether gradients are copied into one buffer, of reduce_bucket_size elements, as "
                "they are produced."},
    {.path = "zero.overlap_comm",
     .type = kFlag,
     .otherwise = "true for stage 3, else false",
     .meaning =
         "Whether gradients are reduced while backward goes on; stages 1 and 2 then keep two "
         "buckets."},
    {.path = "zero.overlap",
     .otherwise = "every key at its default",
     .meaning = "What may run beside compute. Public measurements do not settle it, so each is a "
                "policy."},
    {.path = "zero.overlap.gather_forward",
     .type = kFlag,
     .fallback = "true",
     .meaning = "Whether weights are gathered beside forward compute."},
    {.path = "zero.overlap.gather_backward",
     .type = kFlag,
     .fallback = "true",
     .meaning = "Whether weights are gathered beside backward compute."},
    {.path = "zero.overlap.reduce",
     .type = kFlag,
     .fallback = "true",
     .meaning = "Whether gradients are reduced beside backward compute."},
    {.path = "zero.overlap.quantized_reduce",
     .type = kFlag,
     .fallback = "false",
     .meaning =
         "Whether qgZ's chain of kernels and all-to-alls runs beside backward compute; false: "
         "compute waits for it, which is what the measured backward passes of 2023 show."},
};

}  // namespace

std::span<const KeySpec> ZeroKeys() {
  return kKeys;
}

}  // namespace zerosim
