#include "models/scenario/key_sections.h"

namespace zerosim {
namespace {

using enum KeyType;

constexpr KeySpec kKeys[] = {
    {.path = "training", .meaning = "What one optimizer step works on."},
    {.path = "training.sequence_length",
     .type = kInteger,
     .low = 1,
     .high = 16'777'216,
     .meaning = "Tokens of one sample."},
    {.path = "training.micro_batch_size",
     .type = kInteger,
     .fallback = "1",
     .low = 1,
     .high = 1'048'576,
     .meaning = "Samples of one forward and backward pass on one rank."},
    {.path = "training.gradient_accumulation_steps",
     .type = kInteger,
     .fallback = "1",
     .low = 1,
     .high = 65'536,
     .meaning = "Micro-batches that one rank runs in one optimizer step."},
    {.path = "training.global_batch_size",
     .type = kInteger,
     .otherwise = "micro_batch_size x gradient_accumulation_steps x ranks",
     .low = 1,
     .high = 1e15,
     .meaning = "Samples of one optimizer step on all ranks. Only checked: it must be "
                "micro_batch_size x gradient_accumulation_steps x ranks."},
    {.path = "training.precision",
     .type = kChoice,
     .fallback = "fp16",
     .choices = "fp16|bf16",
     .meaning = "16-bit format of weights, activations and gradients; the optimizer keeps fp32."},
    {.path = "training.activation_checkpointing",
     .type = kChoice,
     .fallback = "none",
     .choices = "none|selective|full|operators",
     .meaning = "What is recomputed in backward instead of kept: nothing, the attention scores "
                "(selective), each block from its input (full), or all but attention and every "
                "second matrix multiplication (operators: torchtitan's selective \"op\")."},
    {.path = "training.checkpoint_every",
     .type = kInteger,
     .fallback = "1",
     .low = 1,
     .high = 100'000,
     .meaning = "Of how many blocks one is checkpointed; the others keep everything."},
    {.path = "training.partition_checkpoints",
     .type = kFlag,
     .fallback = "false",
     .meaning = "Whether each of the tensor-parallel ranks keeps its part of a block's input only, "
                "which they gather to recompute the block (DeepSpeed's partition_activations). "
                "Full checkpointing only."},
    {.path = "training.loss_chunks",
     .type = kInteger,
     .fallback = "1",
     .low = 1,
     .high = 65'536,
     .meaning =
         "Parts of a micro-batch's tokens whose logits, loss and gradients are computed one "
         "after the other, so that the logits of one part only are in memory (Liger Kernel's "
         "fused linear cross-entropy). Not modelled: that both gradients are then computed "
         "in forward. Tensor parallelism divides the vocabulary as well."},
    {.path = "training.first_step",
     .type = kFlag,
     .fallback = "false",
     .meaning =
         "Whether this is the first iteration, in which ZeRO-3 has no trace to prefetch by."},

    {.path = "training.lora",
     .type = kFlagOrSection,
     .fallback = "false",
     .meaning = "Low-rank adapters: they alone are trained, and all other weights are frozen, "
                "without gradients and optimizer states. Queries, keys and values, both matrices "
                "of a gated MLP and every expert have an adapter of their own, as in PEFT."},
    {.path = "training.lora.rank",
     .type = kInteger,
     .fallback = "16",
     .low = 1,
     .high = 65'536,
     .meaning = "Rank of an adapter."},
    {.path = "training.lora.targets",
     .type = kChoice,
     .fallback = "all",
     .choices = "all|attention|mlp|query_value",
     .meaning = "Linear layers of the blocks that have adapters: all but the router, those of "
                "attention, those of the MLP, or queries and values (PEFT's default)."},
    {.path = "training.frozen_weights",
     .type = kChoice,
     .fallback = "16bit",
     .choices = "16bit|int8|int4",
     .meaning = "How frozen matrices of the blocks are kept: quantised (QLoRA's are int4) they "
                "take less memory, travel as they are kept and are dequantised for every use. "
                "Acts with lora."},
    {.path = "parallelism",
     .otherwise = "every key at its default",
     .meaning = "How ranks divide a model and its samples. Sizes multiply to the number of ranks: "
                "tensor x context x pipeline x data, and data is what is left."},
    {.path = "parallelism.tensor",
     .type = kInteger,
     .fallback = "1",
     .low = 1,
     .high = 65'536,
     .meaning = "Ranks that divide every matrix (TP); must divide the heads, and should lie in a "
                "node. Sums of activations over them wait for compute and compute for them."},
    {.path = "parallelism.sequence",
     .type = kFlag,
     .fallback = "false",
     .meaning = "Sequence parallelism beside tensor parallelism: norms and residuals divide the "
                "sequence too, and each sum becomes a reduce-scatter and an all-gather."},
    {.path = "parallelism.tensor_overlap",
     .type = kChoice,
     .fallback = "none",
     .choices = "none|async",
     .meaning = "none: matrix products and the collectives of tensor parallelism wait for each "
                "other. async: a product runs beside the all-gather of its input or the "
                "reduce-scatter of its output, one chunk a rank (PyTorch's AsyncTP, Transformer "
                "Engine's userbuffers). Needs parallelism.sequence."},
    {.path = "parallelism.context",
     .type = kInteger,
     .fallback = "1",
     .low = 1,
     .high = 65'536,
     .meaning = "Ranks that divide the sequence (CP); keys and values are gathered for attention. "
                "Must divide the tokens of a sequence. Weights are sharded over these ranks too."},
    {.path = "parallelism.context_method",
     .type = kChoice,
     .fallback = "all_gather",
     .choices = "all_gather|ring",
     .meaning = "all_gather: attention waits for the keys and values of all context-parallel ranks "
                "(Llama 3). ring: they go round the ranks block by block while attention of the "
                "block at hand is computed (ring attention, arXiv 2310.01889), and what computing "
                "does not hide is exposed."},
    {.path = "parallelism.pipeline",
     .type = kInteger,
     .fallback = "1",
     .low = 1,
     .high = 65'536,
     .meaning = "Pipeline stages (PP), which divide the layers (layers_per_stage); "
                "gradient_accumulation_steps is then "
                "the number of micro-batches. Stages run 1F1B. zero.stage 2 and 3 do not go with "
                "it; fsdp does."},
    {.path = "parallelism.virtual_stages",
     .type = kInteger,
     .fallback = "1",
     .low = 1,
     .high = 1024,
     .meaning = "Runs of layers that each stage holds, interleaved; more of them make the bubble "
                "smaller and the sends more. The stages must then divide the micro-batches."},
    {.path = "parallelism.layers_per_stage",
     .type = kIntegers,
     .otherwise = "equally many, or else with the embedding and the head as a layer each",
     .low = 0,
     .high = 100'000,
     .meaning = "Layers of each stage, in the order of the layers; with virtual_stages of each of "
                "their runs, the first of every stage first. They add up to the layers, and only "
                "the first and the last may be 0. Without it, runs that do not divide the layers "
                "share layers + 2 out equally, the first ones one more each, and the first and "
                "the last then hold one less: [7, 8, ..., 8, 7] for 126 layers on 16 stages."},
    {.path = "parallelism.expert",
     .type = kInteger,
     .fallback = "1",
     .low = 1,
     .high = 65'536,
     .meaning = "Ranks that divide the experts of a mixture (EP), out of the data-parallel ranks; "
                "tokens go to their experts by all-to-alls. Must divide the experts and the "
                "data-parallel ranks. Goes with zero.stage 0 to 2 and with fsdp."},
    {.path = "parallelism.order",
     .type = kChoice,
     .fallback = "tp-dp-pp",
     .choices = "tp-dp-pp|tp-pp-dp",
     .meaning = "Which ranks are neighbours: the order in which ranks count through the "
                "dimensions, the first one fastest. dp includes context parallelism, whose ranks "
                "come first in it."},
};

}  // namespace

std::span<const KeySpec> TrainingKeys() {
  return kKeys;
}

}  // namespace zerosim
