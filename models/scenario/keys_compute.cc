#include "models/scenario/key_sections.h"

namespace zerosim {
namespace {

using enum KeyType;

constexpr KeySpec kKeys[] = {
    {.path = "compute",
     .otherwise = "every key at its default",
     .meaning = "How compute is timed: operation by operation, or all of it at a given MFU."},
    {.path = "compute.mfu",
     .type = kNumber,
     .otherwise = "by operation",
     .low = 1e-3,
     .high = 1,
     .meaning = "Model FLOP utilization at which all compute runs, instead of the times of its "
                "operations."},
    {.path = "compute.flash_attention",
     .type = kFlag,
     .fallback = "true",
     .meaning = "Whether attention is fused where the GPU has such kernels."},
    {.path = "compute.causal_skip",
     .type = kFlag,
     .fallback = "true",
     .meaning = "Whether the attention kernel skips the masked half of the scores."},
    {.path = "compute.recompute_skips_last",
     .type = kFlag,
     .fallback = "false",
     .meaning = "Whether recompute leaves out the block's last matrix multiplication, as newer "
                "non-reentrant checkpointing does."},
    {.path = "compute.memory_passes",
     .type = kNumber,
     .fallback = "2",
     .low = 0,
     .high = 100,
     .meaning = "Passes over the bytes of memory-bound operations: 2 for eager PyTorch, about 0.7 "
                "compiled."},
    {.path = "compute.loss_bytes",
     .type = kNumber,
     .fallback = "17",
     .low = 0,
     .high = 1000,
     .meaning = "Bytes that the loss moves a token and vocabulary entry: 17 in eager PyTorch, 6 to "
                "8 fused."},
    {.path = "compute.loss_memory",
     .type = kNumber,
     .fallback = "12",
     .low = 2,
     .high = 100,
     .meaning = "Bytes of logits and their gradients at the loss's peak, a token and vocabulary "
                "entry: 12 in eager PyTorch (three tensors in fp32), 6 in Megatron-LM, 2 where a "
                "fused loss writes gradients over 16-bit logits."},
    {.path = "compute.fused_activation",
     .type = kFlag,
     .fallback = "false",
     .meaning = "Whether a gated MLP's activation and product are one kernel, which keeps its two "
                "inputs alone for backward and computes the activation again (Megatron-LM, "
                "Liger). Memory only; memory_passes says what it does to time."},

    {.path = "collectives",
     .otherwise = "every key at its default",
     .meaning = "How collectives are carried out."},
    {.path = "collectives.algorithm",
     .type = kChoice,
     .fallback = "ring",
     .choices = "ring|hierarchical_ring|nccl|best",
     .meaning = "Algorithm of all-gathers, reduce-scatters and all-reduces that span nodes: one "
                "ring over all ranks, or one in each node and one across. nccl: of every "
                "collective, what NCCL's tuner takes (algorithm, protocol, channels), with NCCL's "
                "latencies and achieved rates in place of the calibration's of links, as zerosim "
                "collective has it. best: for each the fastest of that and of all algorithms that "
                "the hardware can do at full rate. Both are the fluid engine's."},
    {.path = "collectives.nccl",
     .type = kText,
     .fallback = "2.30.7",
     .meaning = "NCCL's version, whose tuner algorithm: nccl and best ask."},
    {.path = "collectives.env",
     .type = kTexts,
     .otherwise = "none",
     .meaning = "Variables of NCCL's environment for algorithm: nccl and best, such as "
                "[NCCL_ALGO=Ring]: NCCL_ALGO, NCCL_PROTO, NCCL_MIN_CTAS, NCCL_MIN_NCHANNELS, "
                "NCCL_MAX_CTAS, NCCL_MAX_NCHANNELS, NCCL_NTHREADS, NCCL_NCHANNELS_PER_NET_PEER."},
};

}  // namespace

std::span<const KeySpec> ComputeKeys() {
  return kKeys;
}

}  // namespace zerosim
