// Words of collectives, links and engines.
#include <array>

#include "tools/zerosim/terms_field.h"

namespace zerosim {
namespace {

constexpr auto kNetworkTerms = std::to_array<Term>({
    {"activity", "",
     "A unit of work of the simulator: a kernel, a piece of host work or a collective. Their "
     "number "
     "sets what a simulation costs; it does not grow with the number of GPUs."},
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
    {"busbw", "GB/s",
     "Bus bandwidth, as nccl-tests defines it: algbw times (n-1)/n, or 2(n-1)/n for an all-reduce. "
     "It "
     "compares with the bandwidth of the slowest link, whatever the number of ranks."},
    {"critical path", "",
     "The chain of operations that determines the step time, each waiting for the one before. Its "
     "shares by cause add up to the step time: making anything faster that is not on it changes "
     "nothing."},
    {"egress", "bytes",
     "Bytes that one node sends to others, by all of its ranks and over the whole step."},
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
    {"gradients_across_nodes", "",
     "qgZ's second hop: an all-to-all of the requantised sums between the GPUs of equal local "
     "rank."},
    {"gradients_in_node", "",
     "qgZ's first hop: an all-to-all of quantised gradients among the GPUs of a node. Each "
     "then sums its part."},
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
    {"max-min fair", "",
     "How a shared link is divided: no activity can get more without taking from one that has less "
     "or "
     "the same."},
    {"message engine", "",
     "The reference engine: every message of every rank is simulated. Slow, for small clusters; it "
     "is "
     "what the fluid engine is compared with."},
    {"NIC", "",
     "Network adapter of a node, also called HCA. Its bandwidth is that of one direction."},
    {"nic", "",
     "A node's network adapter, a direction. cluster.fabric.nics_per_node of them share the "
     "traffic between nodes."},
    {"node egress", "bytes",
     "Bytes that one node sends to others in one optimizer step, over all its NICs. In units of M "
     "it "
     "shows what a strategy costs: 3 for ZeRO-3, 0.75 for ZeRO++."},
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
    {"persistent_refresh", "",
     "After the optimizer, one small all-gather for each weight below "
     "param_persistence_threshold, which every rank keeps whole. They are short of bytes and "
     "pay latency."},
    {"process group", "",
     "The ranks of one collective: the world, the ranks of a node, or those of equal local rank "
     "over "
     "the nodes. NCCL calls it communicator."},
    {"protocol", "",
     "NCCL's way to move data: LL (low latency, half the bandwidth), LL128, or Simple (full "
     "bandwidth, "
     "higher latency)."},
    {"rank", "", "A process of the job. It drives one GPU."},
    {"rank class", "",
     "Ranks that do the same at the same time. One stands for all of them in the simulation and in "
     "the "
     "trace."},
    {"reduce-scatter", "",
     "A collective after which each rank holds its part of the sum over all. ZeRO reduces "
     "gradients "
     "with it. Every rank sends (n-1)/n of the vector."},
    {"ring", "",
     "The algorithm in which each rank passes parts to its neighbor, n-1 times (2n-2 for an "
     "all-reduce). "
     "Each node sends and receives once around, whatever the number of its GPUs."},
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
});

}  // namespace

std::span<const Term> NetworkTerms() {
  return kNetworkTerms;
}

}  // namespace zerosim
