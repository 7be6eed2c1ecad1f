#include "models/scenario/key_sections.h"

namespace zerosim {
namespace {

using enum KeyType;

constexpr KeySpec kKeys[] = {
    {.path = "fsdp",
     .otherwise = "the strategy is zero",
     .meaning = "PyTorch's fully sharded data parallelism, in place of zero: units of transformer "
                "blocks that are gathered, run, released and reduced as one."},
    {.path = "fsdp.sharding",
     .type = kChoice,
     .fallback = "full_shard",
     .choices = "full_shard|shard_grad_op|no_shard",
     .meaning = "full_shard: weights are gathered for forward, released, and gathered again for "
                "backward (FSDP2's reshard_after_forward: true). shard_grad_op: they stay gathered "
                "from forward to backward. no_shard: every rank keeps everything and gradients are "
                "all-reduced, as in DDP."},
    {.path = "fsdp.shard_size",
     .type = kCountOrNode,
     .otherwise = "all data-parallel ranks",
     .low = 1,
     .high = kMostNodes,
     .meaning = "Ranks that one copy of the states is spread over; node is the number of GPUs of a "
                "node. Fewer than all is hybrid sharding (HSDP): gathers stay in the group, and "
                "gradients are all-reduced between the copies as well."},
    {.path = "fsdp.blocks_per_unit",
     .type = kInteger,
     .fallback = "1",
     .low = 1,
     .high = 100'000,
     .meaning = "Transformer blocks that are wrapped together."},
    {.path = "fsdp.separate_embeddings",
     .type = kFlag,
     .fallback = "true",
     .meaning = "Whether embedding and head are units of their own, which are released like blocks "
                "(torchtitan); false: the root holds them through the step (llm-foundry). A head "
                "that is tied to the embedding is always in the root."},
    {.path = "fsdp.per_parameter",
     .type = kFlag,
     .fallback = "false",
     .meaning =
         "Whether each parameter is sharded by itself (FSDP2), so that what was gathered is "
         "copied into place before a unit runs; false: a unit is one flat parameter (FSDP1), "
         "which needs no copy."},
    {.path = "fsdp.forward_prefetch",
     .type = kFlag,
     .fallback = "false",
     .meaning = "Whether the next unit's gather is launched before this unit runs. The host runs "
                "ahead of the GPU, so that it rarely matters."},
    {.path = "fsdp.backward_prefetch",
     .type = kChoice,
     .fallback = "pre",
     .choices = "pre|post|none",
     .meaning = "When the next unit is gathered in backward: before this unit's gradients are "
                "computed (pre), after them and before they are reduced (post), or behind their "
                "reduction (none)."},
    {.path = "fsdp.limit_all_gathers",
     .type = kFlag,
     .fallback = "true",
     .meaning = "Whether the host waits when two units are released but still in use, so that "
                "memory holds two units at a time. Without it all units may be in memory at once."},
    {.path = "fsdp.reduce_precision",
     .type = kChoice,
     .fallback = "fp32",
     .choices = "16bit|fp32",
     .meaning = "Precision in which gradients travel: MixedPrecision(reduce_dtype)."},
    {.path = "fsdp.no_sync",
     .type = kFlag,
     .fallback = "false",
     .meaning = "Whether only the last micro-step reduces gradients; full gradients are kept until "
                "then."},
    {.path = "fsdp.offload",
     .type = kFlag,
     .fallback = "false",
     .meaning =
         "Shards of weights, gradients and states in the host's memory, and "
         "torch.optim.AdamW on the CPU: CPUOffload(offload_params=True). Buffers are pinned. "
         "With several micro-steps it needs no_sync."},
    {.path = "fsdp.secondary_partition_size",
     .type = kCountOrNode,
     .fallback = "1",
     .low = 1,
     .high = kMostNodes,
     .meaning = "hpZ under FSDP's schedule: ranks of a group that holds a second shard of the "
                "weights, from which backward gathers. FSDP2's reshard_after_forward with a "
                "number."},
    {.path = "fsdp.quantized_weights",
     .type = kFlagOrSection,
     .fallback = "false",
     .meaning = "qwZ under FSDP's schedule, which no framework ships: weights travel quantised."},
    {.path = "fsdp.quantized_gradients",
     .type = kFlagOrSection,
     .fallback = "false",
     .meaning = "qgZ under FSDP's schedule, which no framework ships: a unit's gradients travel "
                "quantised, in "
                "all-to-alls instead of a reduce-scatter."},
};

}  // namespace

std::span<const KeySpec> FsdpKeys() {
  return kKeys;
}

}  // namespace zerosim
