#include <array>

#include "tools/zerosim/terms.h"

namespace zerosim {
namespace {

constexpr auto kReportTerms = std::to_array<Term>({
    {"across_nodes", "",
     "Group of a collective: the ranks of equal place in their nodes, one a node."},
    {"backward", "s",
     "Backward passes of all micro-batches with recomputation, until the last gradient is reduced. "
     "Forward, backward and optimizer follow each other and add up to the step."},
    {"busy", "s",
     "Times in which parts of the machine worked, each by itself. They overlap, so they do not add "
     "up to the step; the critical path does."},
    {"compute", "s",
     "Kernels of forward, recomputation, backward and the optimizer. Among the busy times it is "
     "what they need with the GPU to themselves. On the critical path it is how long they run, "
     "which may be more: kernels that quantise, cast and copy share the GPU with them."},
    {"data", "",
     "Group of a collective: all ranks that train the same part of the model on other tokens, "
     "where tensor parallelism makes that less than the world."},
    {"exposed", "s",
     "Of a collective: the part of its time in which no kernel of compute ran. The parts of "
     "collectives that run beside each other count in each."},
    {"forward", "s",
     "Forward passes of all micro-batches, with the gathers of weights that they wait for."},
    {"gpu compute", "",
     "Among the links: part of the step in which a kernel of compute ran. What is left is what "
     "communication, other kernels and the host cost."},
    {"gradients", "",
     "As a collective: the reduction of gradients in 16 or 32 bits, a reduce-scatter where they "
     "are sharded and an all-reduce where not. With qgZ what it does not take: vectors, and "
     "matrices that do not divide. In memory: those kept until the optimizer."},
    {"gradients_all_to_all", "",
     "qgZ in one hop: an all-to-all of quantised gradients of a shard."},
    {"gradients_replicas", "",
     "The all-reduce of gradients between copies of a shard, where shard_size makes several."},
    {"in the node", "bytes",
     "What one GPU sends in a step to the other GPUs of its node, at most, in bytes and in M."},
    {"kernels slowed by it", "s",
     "What the GPU's kernels took longer because collectives ran beside them: of the time in which "
     "both ran the share that collectives take, cluster.node.gpu.collective_share. It is no part "
     "of "
     "exposed communication, and costs as much where the kernels are on the critical path."},
    {"keys_values", "",
     "Context parallelism: the all-gather of keys and values, so that the tokens of a rank see "
     "those of all."},
    {"keys_values_gradients", "",
     "Context parallelism: the reduce-scatter of the gradients of gathered keys and values."},
    {"loss_sum", "",
     "Tensor parallelism: the all-reduce of the loss's sums over a vocabulary that is divided."},
    {"model size M", "bytes", "Two bytes a parameter: the unit that traffic is counted in."},
    {"node", "",
     "A server with its GPUs. Group of a collective: the ranks of a shard that share a node."},
    {"operation", "",
     "What a collective does: all_gather, reduce_scatter, all_reduce, all_to_all."},
    {"optimizer", "s",
     "The update of the parameters, and the gathers of updated ones. In memory: its states."},
    {"out of one node", "bytes",
     "What all GPUs of one node send to other nodes in a step, in bytes and in M."},
    {"pairwise", "",
     "The algorithm of an all-to-all: in each round every rank sends its part to another one, "
     "first to those in the node."},
    {"replicas", "", "Group of a collective: the ranks that hold copies of one shard."},
    {"secondary", "",
     "Group of a collective: hpZ's, the ranks over which its second copy of the weights is "
     "spread."},
    {"simple", "",
     "NCCL's protocol with full bandwidth and the highest latency, for long messages."},
    {"tensor", "", "Group of a collective: the ranks that divide every matrix of the model."},
    {"tensor_gather", "",
     "Tensor parallelism with sequence parallelism: the all-gather of a divided sequence before a "
     "product that needs all of its tokens."},
    {"tensor_sum", "",
     "Tensor parallelism: the sum over the parts of a divided product, an all-reduce, or with "
     "sequence parallelism a reduce-scatter."},
    {"transfer on fabric", "s",
     "Part of the critical path in which the bytes of collectives moved and an oversubscribed "
     "switch between the nodes was what limited them."},
    {"world", "", "Group of a collective: all ranks of the job."},
});

}  // namespace

std::span<const Term> ReportTerms() {
  return kReportTerms;
}

}  // namespace zerosim
