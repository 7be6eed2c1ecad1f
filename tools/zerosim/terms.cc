#include "tools/zerosim/terms.h"

#include <array>

#include "tools/zerosim/nearest.h"

namespace zerosim {
namespace {

constexpr auto kFieldTerms = std::to_array<Term>({
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
    {"activity", "",
     "A unit of work of the simulator: a kernel, a piece of host work or a collective. Their "
     "number "
     "sets what a simulation costs; it does not grow with the number of GPUs."},
    {"after the step", "bytes",
     "What the framework's allocator still holds when the optimizer is done: states and "
     "buffers, no activations and no secondary shard."},
    {"algbw", "GB/s",
     "Algorithm bandwidth, as nccl-tests defines it: bytes of the whole vector over the time of "
     "the "
     "collective. It depends on the number of ranks even on perfect links; busbw does not."},
    {"all-gather", "",
     "A collective after which every rank holds the parts of all. ZeRO-3 gathers the weights of a "
     "module before its forward and again before its backward. Every rank receives (n-1)/n of the "
     "vector."},
    {"all-reduce", "",
     "A collective after which every rank holds the sum over all. As a ring it is a reduce-scatter "
     "and an all-gather, and moves 2(n-1)/n of the vector."},
    {"all-to-all", "",
     "A collective in which each rank sends a different part to every other. ZeRO++ builds its "
     "gradient reduction from two of them, so that a value is quantized once a hop and summed in "
     "full "
     "precision."},
    {"bottleneck", "",
     "The link that limits a collective: with this collective alone, the one that would be full "
     "first. \"latency\" if the steps of the algorithm cost more than its bytes."},
    {"bound", "GB/s",
     "The busbw that a collective would reach if its bottleneck link were full all the time and "
     "nothing else cost anything. The distance of busbw to it is latency, contention and launch."},
    {"bucket", "",
     "Gradients or parameters that are sent together. DeepSpeed's bucket sizes count elements, not "
     "bytes."},
    {"busbw", "GB/s",
     "Bus bandwidth, as nccl-tests defines it: algbw times (n-1)/n, or 2(n-1)/n for an all-reduce. "
     "It "
     "compares with the bandwidth of the slowest link, whatever the number of ranks."},
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
    {"critical path", "",
     "The chain of operations that determines the step time, each waiting for the one before. Its "
     "shares by cause add up to the step time: making anything faster that is not on it changes "
     "nothing."},
    {"egress", "bytes",
     "Bytes that one node sends to others, by all of its ranks and over the whole step."},
    {"expert parallelism", "",
     "Ranks that divide the experts of a mixture; tokens go to their experts and back by all- "
     "to-alls: parallelism.expert."},
    {"exposed communication", "s",
     "Time in which a collective was running and no kernel of compute was. The rest is overlapped, "
     "hidden behind compute, and costs what it slows kernels by: see kernels slowed by it."},
    {"fabric", "",
     "One node's share of the switch between the nodes, a direction: the rate of its NICs over "
     "the oversubscription."},
    {"fluid engine", "",
     "The default engine. A collective is one activity that loads each class of links in "
     "proportion to "
     "the bytes it sends there; activities that overlap share links max-min fairly. Its cost does "
     "not "
     "depend on the number of GPUs."},
    {"full size", "bytes",
     "The size of the whole vector of a collective, as in nccl-tests: what an all-gather leaves on "
     "every rank and a reduce-scatter consumes on every rank."},
    {"GB", "",
     "1e9 bytes, everywhere. GiB, 2^30 bytes, is written as such. A rate in Gbps counts bits: 400 "
     "Gbps "
     "are 50 GB/s."},
    {"gpu link", "",
     "A GPU's link to the other GPUs of its node, a direction: its NVLinks together, or its "
     "PCIe slot."},
    {"gradient accumulation", "",
     "Summing the gradients of several micro-batches before an optimizer step. ZeRO-3 gathers "
     "weights "
     "and reduces gradients in each of them, so it does not save that traffic."},
    {"gradients_across_nodes", "",
     "qgZ's second hop: an all-to-all of the requantised sums between the GPUs of equal local "
     "rank."},
    {"gradients_in_node", "",
     "qgZ's first hop: an all-to-all of quantised gradients among the GPUs of a node. Each "
     "then sums its part."},
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
    {"latency", "s",
     "Time of one step of a collective beside its bytes. A ring of n ranks has n-1 steps, so at "
     "scale "
     "latency, not bandwidth, limits small collectives."},
    {"latency between nodes", "s",
     "Part of the critical path in which collectives that leave the node waited for their "
     "steps: rounds times the time of a step, beside the bytes. It grows with the number of "
     "ranks and does not shrink with the links' rate."},
    {"latency in the node", "s",
     "Part of the critical path in which collectives inside of a node waited for their steps, "
     "beside the bytes."},
    {"launch of collectives", "s",
     "Part of the critical path that the fixed cost of collective calls takes: the "
     "calibration's collective_launch for each call, two calls for quantised values and their "
     "scales."},
    {"limited by", "",
     "What takes most of a collective's time: the link that its bytes load longest, or "
     "latency, which counts launches and steps."},
    {"link class", "",
     "Links that have the same capacity and carry the same bytes in every collective of the step. "
     "One "
     "stands for all of them, exactly; so a simulation of 100,000 GPUs has about as many as one of "
     "8."},
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
    {"max-min fair", "",
     "How a shared link is divided: no activity can get more without taking from one that has less "
     "or "
     "the same."},
    {"message engine", "",
     "The reference engine: every message of every rank is simulated. Slow, for small clusters; it "
     "is "
     "what the fluid engine is compared with."},
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
    {"NIC", "",
     "Network adapter of a node, also called HCA. Its bandwidth is that of one direction."},
    {"nic", "",
     "A node's network adapter, a direction. cluster.fabric.nics_per_node of them share the "
     "traffic between nodes."},
    {"node egress", "bytes",
     "Bytes that one node sends to others in one optimizer step, over all its NICs. In units of M "
     "it "
     "shows what a strategy costs: 3 for ZeRO-3, 0.75 for ZeRO++."},
    {"optimizer on the CPU", "s",
     "Part of the critical path in which the optimizer ran on the CPU, at the rate of the host's "
     "memory, which the ranks of a node share."},
    {"optimizer states", "bytes",
     "With Adam in mixed precision 12 bytes a parameter: a 32-bit copy of the weights, momentum "
     "and "
     "variance. ZeRO of any stage shards them over all ranks."},
    {"oversubscription", "",
     "How many times more bandwidth the nodes have than the fabric above them. 1 is non-blocking."},
    {"parameters_refresh", "",
     "Stages 1 and 2: the all-gather of updated weights after the optimizer, whose states are "
     "sharded."},
    {"payload", "bytes",
     "Full vectors of the collectives at the precision of the model, as if nothing was quantized. "
     "Compare with wire."},
    {"pcie from host", "",
     "A GPU's part of its PCIe link from the memory of its node, over which offloaded weights come "
     "back."},
    {"pcie to host", "",
     "A GPU's part of its PCIe link to the memory of its node, over which gradients leave with "
     "offload."},
    {"peak", "bytes",
     "The most memory that a GPU needs at any instant of the step; the report names the instant: "
     "what the host launches then, which may run on the GPU much later."},
    {"persistent_refresh", "",
     "After the optimizer, one small all-gather for each weight below "
     "param_persistence_threshold, which every rank keeps whole. They are short of bytes and "
     "pay latency."},
    {"pipeline bubble", "",
     "Time in which a stage of a pipeline waits in the middle of a step, for other stages or "
     "for a host that launches too slowly; the mean over stages. (p - 1) / m of the passes' "
     "time for p stages and m micro-batches if nothing else waits."},
    {"prefetch", "",
     "Gathering the weights of later modules while the current one computes. DeepSpeed follows the "
     "order recorded in the first step, up to stage3_prefetch_bucket_size elements ahead."},
    {"process group", "",
     "The ranks of one collective: the world, the ranks of a node, or those of equal local rank "
     "over "
     "the nodes. NCCL calls it communicator."},
    {"protocol", "",
     "NCCL's way to move data: LL (low latency, half the bandwidth), LL128, or Simple (full "
     "bandwidth, "
     "higher latency)."},
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
    {"rank", "", "A process of the job. It drives one GPU."},
    {"rank class", "",
     "Ranks that do the same at the same time. One stands for all of them in the simulation and in "
     "the "
     "trace."},
    {"recompute", "",
     "The part of the forward pass that the backward pass runs again under activation "
     "checkpointing. "
     "Counted in hardware FLOP/s, not in model FLOP/s."},
    {"reduce-scatter", "",
     "A collective after which each rank holds its part of the sum over all. ZeRO reduces "
     "gradients "
     "with it. Every rank sends (n-1)/n of the vector."},
    {"relative error", "",
     "Expected error that quantization adds to a tensor: the root of the sum of squared "
     "differences "
     "over the sum of squares."},
    {"ring", "",
     "The algorithm in which each rank passes parts to its neighbor, n-1 times (2n-2 for an "
     "all-reduce). "
     "Each node sends and receives once around, whatever the number of its GPUs."},
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
    {"transfer on gpu link", "s",
     "Part of the critical path in which the bytes of collectives moved and a GPU's link "
     "inside of the node was what limited them."},
    {"transfer on nic", "s",
     "Part of the critical path in which the bytes of collectives moved and a NIC was what "
     "limited them."},
    {"utilization", "",
     "Of a link class: the part of its capacity that is in use, as mean over the step."},
    {"weights_backward", "",
     "All-gathers of weights for the backward pass and its recomputation, by the group that "
     "they gather over."},
    {"weights_forward", "",
     "All-gathers of weights for the forward pass, by the group that they gather over: the "
     "world, or hpZ's secondary group."},
    {"wire", "bytes",
     "Full vectors of the collectives as they travel: quantized values and their scales."},
    {"world size", "", "Number of ranks of the job, one a GPU."},
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

std::span<const Term> FieldTerms() {
  return kFieldTerms;
}

bool IsNamedBy(std::string_view name, std::string_view wanted) {
  const std::string whole = Folded(name);
  const std::string end = Folded(wanted);
  if (end.empty() || !whole.ends_with(end)) return false;
  return whole.size() == end.size() || whole[whole.size() - end.size() - 1] == '.';
}

std::vector<Term> FindTerms(std::string_view name, std::span<const Term> among) {
  std::vector<Term> found;
  for (const Term& term : among) {
    if (IsNamedBy(term.name, name)) found.push_back(term);
  }
  return found;
}

}  // namespace zerosim
