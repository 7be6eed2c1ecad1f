// Words of training steps: strategies, memory, quantization.
#include <array>

#include "tools/zerosim/terms_field.h"

namespace zerosim {
namespace {

constexpr auto kTrainingTerms = std::to_array<Term>({
    {"1F1B", "",
     "The order in which a stage of a pipeline runs its passes: after a warm-up one forward "
     "and one backward in turn, so that a stage keeps activations of no more micro-batches "
     "than there are stages after it. parallelism.virtual_stages interleaves several runs of "
     "layers a stage."},
    {"activation checkpointing", "",
     "Keeping only some activations of the forward pass and computing the others again in the "
     "backward pass. Full keeps the input of each block and costs about one more forward pass; "
     "selective computes only attention again. It trades time for memory."},
    {"activations_to_stage", "",
     "What a stage of a pipeline sends to the next one in forward and to the one before in "
     "backward: activations and their gradients."},
    {"after the step", "bytes",
     "What the framework's allocator still holds when the optimizer is done: states and "
     "buffers, no activations and no secondary shard."},
    {"bucket", "",
     "Gradients or parameters that are sent together. DeepSpeed's bucket sizes count elements, not "
     "bytes."},
    {"calibration", "",
     "Numbers measured on one machine (achieved fractions, latencies, launch costs) that replace "
     "the "
     "generic ones. Each carries its source and a range; the interval of a step time comes from "
     "these "
     "ranges."},
    {"capacity", "bytes",
     "Memory of the GPU that a process can allocate: cluster.node.gpu.memory."},
    {"context", "",
     "GPU memory that is taken before a tensor is allocated: the CUDA context, NCCL's buffers and "
     "the "
     "code of the libraries. As the group of a collective: the ranks that divide the sequence."},
    {"context parallelism", "",
     "Ranks that divide each sequence and gather keys and values for attention: "
     "parallelism.context."},
    {"expert parallelism", "",
     "Ranks that divide the experts of a mixture; tokens go to their experts and back by all- "
     "to-alls: parallelism.expert."},
    {"gradient accumulation", "",
     "Summing the gradients of several micro-batches before an optimizer step. ZeRO-3 gathers "
     "weights "
     "and reduces gradients in each of them, so it does not save that traffic."},
    {"hardware FLOP/s", "TFLOP/s",
     "Floating-point operations that a GPU really executes a second, recomputation counted. Higher "
     "than "
     "model FLOP/s with activation checkpointing."},
    {"host", "s",
     "Part of the critical path in which GPUs waited for the host thread: module hooks and "
     "kernel launches."},
    {"hpZ", "",
     "Hierarchical partitioning of ZeRO++: each node (or group of secondary_partition_size ranks) "
     "keeps "
     "a second, complete set of the 16-bit weights, so that the all-gather of the backward pass "
     "never "
     "leaves it. It saves M of traffic between nodes and costs M / secondary_partition_size of "
     "memory "
     "a GPU."},
    {"HSDP", "",
     "Hybrid sharding of FSDP: states are sharded over a part of the data-parallel ranks, "
     "mostly a node, and replicated over the rest, which all-reduce gradient shards. "
     "fsdp.shard_size; of DeepSpeed's MiCS and hierarchical ZeRO the same is "
     "zero.shard_size."},
    {"interval", "s",
     "The step time with the uncertain parameters of the calibration at either end of their range. "
     "Without a calibration for the machine it is wide, and that is meant."},
    {"live parameters", "bytes",
     "Gathered full weights that exist at this moment: the module in use and those prefetched. "
     "Bounded by max_live_parameters."},
    {"logits", "bytes",
     "The output over the vocabulary, its 32-bit copy and gradient: often the peak of memory, at "
     "the "
     "turn from forward to backward."},
    {"M", "bytes",
     "The size of the model, two bytes a parameter. Traffic is counted in it: ZeRO-3 sends 3 M, "
     "ZeRO++ "
     "0.75 M out of a node, each times (n-1)/n."},
    {"MFU", "",
     "Model FLOP utilization: model FLOP/s over the GPU's dense 16-bit peak, 0 to 1. Recomputation "
     "does "
     "not count, so it compares runs with different checkpointing."},
    {"micro-batch", "",
     "The samples of one forward and backward pass on one rank. An optimizer step has "
     "gradient_accumulation_steps of them."},
    {"MiCS", "",
     "Sharding over a part of the data-parallel ranks in DeepSpeed, with replicas of the whole "
     "model (arXiv 2205.00119): zero.shard_size."},
    {"model FLOP/s", "TFLOP/s",
     "Floating-point operations that the model needs (forward and backward, a multiply-add as "
     "two), a "
     "GPU and second of the step. Recomputation does not count."},
    {"optimizer on the CPU", "s",
     "Part of the critical path in which the optimizer ran on the CPU, at the rate of the host's "
     "memory, which the ranks of a node share."},
    {"optimizer states", "bytes",
     "With Adam in mixed precision 12 bytes a parameter: a 32-bit copy of the weights, momentum "
     "and "
     "variance. ZeRO of any stage shards them over all ranks."},
    {"peak", "bytes",
     "The most memory that a GPU needs at any instant of the step; the report names the instant: "
     "what the host launches then, which may run on the GPU much later."},
    {"pipeline bubble", "",
     "Time in which a stage of a pipeline waits in the middle of a step, for other stages or "
     "for a host that launches too slowly; the mean over stages. (p - 1) / m of the passes' "
     "time for p stages and m micro-batches if nothing else waits."},
    {"prefetch", "",
     "Gathering the weights of later modules while the current one computes. DeepSpeed follows the "
     "order recorded in the first step, up to stage3_prefetch_bucket_size elements ahead."},
    {"qgZ", "",
     "Quantized gradients of ZeRO++: instead of a reduce-scatter, an all-to-all of 4-bit values "
     "inside "
     "the node, a sum, and one between nodes. Two quantization events a value; 0.25 M instead of M "
     "leaves the node."},
    {"quantization and copies", "s",
     "Kernels beside the compute stream: they quantise and dequantise, sum and cast gradients, and "
     "copy gathered buffers into place, so that there are some without quantisation too. Of the "
     "critical path, the part that waits for them."},
    {"quantization event", "",
     "One rounding to fewer bits on the way of a value. Error grows with their number, not only "
     "with "
     "the bits: a reduce-scatter of n ranks that quantizes at every hop has n-1 of them, qgZ has "
     "two."},
    {"quantization group", "",
     "Consecutive elements that share one scale. Smaller groups mean less error and more bytes of "
     "scales. Not a process group."},
    {"qwZ", "",
     "Quantized weights of ZeRO++: the all-gather of the forward pass carries 8-bit (or 4-bit) "
     "integers, "
     "rounded once, block by block: 0.5 M instead of M. The weights themselves stay in 16 bits."},
    {"recompute", "",
     "The part of the forward pass that the backward pass runs again under activation "
     "checkpointing. "
     "Counted in hardware FLOP/s, not in model FLOP/s."},
    {"relative error", "",
     "Expected error that quantization adds to a tensor: the root of the sum of squared "
     "differences "
     "over the sum of squares."},
    {"ring attention", "",
     "Context parallelism whose keys and values go round the ranks block by block, while "
     "attention of the block at hand is computed (arXiv 2310.01889): "
     "parallelism.context_method."},
    {"SDP4Bit", "",
     "Quantised collectives for sharded data parallelism with weights kept in full (arXiv "
     "2410.15526): differences of weights travel in the refresh, gradients in two hops of 8 "
     "and 4 bits. zero.quantized_weight_differences and zero.quantized_gradients."},
    {"secondary shard", "bytes",
     "hpZ's second copy of the weights: M divided by secondary_partition_size, on every GPU, all "
     "the "
     "time."},
    {"sequence parallelism", "",
     "Beside tensor parallelism: norms and residuals divide the sequence, and each all-reduce "
     "becomes a reduce-scatter and an all-gather (arXiv 2205.05198): parallelism.sequence."},
    {"shard", "",
     "The part of a tensor that one rank keeps: 1/n of it, padded to equal size. "
     "As the group of a collective: the ranks over which one copy of the states is spread."},
    {"step", "",
     "One optimizer step: all micro-batches, the reduction of gradients and the update."},
    {"step program", "",
     "What one step launches, computes and sends, and what waits for what. --dump program prints "
     "it."},
    {"stream", "",
     "A queue of operations of a GPU that run one after another. zerosim has four: host (the "
     "thread "
     "that launches), compute, gather (weights) and reduce (gradients)."},
    {"throughput", "", "What a step processes over its time: tokens, samples, model FLOP."},
    {"tied_embedding", "",
     "The sum of the gradients of an embedding that the first and the last stage of a pipeline "
     "both hold, once a step."},
    {"tokens/s", "1/s",
     "Tokens that the whole job trains on in a second: micro-batch times accumulation steps "
     "times ranks times sequence length, over the step time."},
    {"ZeRO", "",
     "Zero Redundancy Optimizer: data parallelism in which each rank keeps only its shard of "
     "optimizer "
     "states (stage 1), gradients too (stage 2), weights too (stage 3). Stage 3 pays for it with "
     "two "
     "all-gathers of the weights a micro-batch: 3 M of traffic in place of 2 M."},
    {"ZeRO++", "",
     "ZeRO-3 with three changes to its three collectives: qwZ halves the forward gather, hpZ keeps "
     "the "
     "backward gather in the node, qgZ quarters the gradients: 3 M becomes 0.75 M. "
     "Source: Wang et al., \"ZeRO++: Extremely Efficient Collective Communication for Giant Model "
     "Training\", 2023."},
});

}  // namespace

std::span<const Term> TrainingTerms() {
  return kTrainingTerms;
}

}  // namespace zerosim
