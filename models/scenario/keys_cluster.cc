#include "models/scenario/key_sections.h"

namespace zerosim {
namespace {

using enum KeyType;

constexpr KeySpec kKeys[] = {
    {.path = "cluster", .meaning = "The machine that trains."},
    {.path = "cluster.nodes",
     .type = kInteger,
     .low = 1,
     .high = kMostNodes,
     .meaning = "Number of nodes. Every GPU of every node is one rank, and nodes x gpus may be at "
                "most 16777216."},

    {.path = "cluster.node",
     .type = kReference,
     .meaning = "One node: the name of a file in hardware/nodes/, or its keys in place, or both: "
                "{base: dgx_a100_80gb, nics: 4} is the named node with other keys."},
    {.path = "cluster.node.base",
     .type = kText,
     .otherwise = "every key stands in place",
     .meaning = "Name of a file in hardware/nodes/ whose keys hold where this section has none."},
    {.path = "cluster.node.name",
     .type = kText,
     .otherwise = "the file's name",
     .meaning = "What reports call the node."},
    {.path = "cluster.node.gpus",
     .type = kInteger,
     .low = 1,
     .high = 1024,
     .meaning = "GPUs of the node, which are its ranks."},
    {.path = "cluster.node.in_node",
     .type = kChoice,
     .fallback = "nvswitch",
     .choices = "nvswitch|pcie",
     .meaning = "How the GPUs of a node reach each other: through switches that give each GPU its "
                "full gpu_bandwidth to any peers (nvswitch), or over PCIe (pcie). No effect yet: "
                "pcie is computed like nvswitch, so write as gpu_bandwidth what each GPU has when "
                "all send at once."},
    {.path = "cluster.node.gpu_bandwidth",
     .type = kRate,
     .low = kLeastRate,
     .high = kMostRate,
     .meaning = "Rate of one GPU to its peers in the node, a direction, by the data sheet: the sum "
                "of its NVLinks, or its PCIe link."},
    {.path = "cluster.node.gpu_bandwidth_fraction",
     .type = kNumber,
     .fallback = "1",
     .low = 1e-3,
     .high = 1,
     .meaning = "Part of gpu_bandwidth that collectives achieve. A calibration's gpu_link_fraction "
                "multiplies it."},
    {.path = "cluster.node.gpu_latency",
     .type = kDuration,
     .low = 0,
     .high = 1,
     .meaning = "Time that one step of a collective within the node takes beside its bytes. A "
                "calibration's gpu_step_latency replaces it."},
    {.path = "cluster.node.pcie_bandwidth",
     .type = kRate,
     .low = kLeastRate,
     .high = kMostRate,
     .meaning = "Achieved rate between a GPU or a NIC and its PCIe switch, a direction."},
    {.path = "cluster.node.nics",
     .type = kInteger,
     .low = 0,
     .high = 1024,
     .meaning = "NICs of the node that collectives may use; cluster.fabric.nics_per_node says how "
                "many of them are in use."},
    {.path = "cluster.node.nic_bandwidth",
     .type = kRate,
     .otherwise = "not known; the fabric says",
     .low = kLeastRate,
     .high = kMostRate,
     .meaning = "Line rate of one of these NICs, a direction. A node that has it is the default of "
                "cluster.fabric.nic_bandwidth, and its nics of nics_per_node."},

    {.path = "cluster.node.gpu",
     .type = kReference,
     .meaning = "The GPU: the name of a file in hardware/gpus/, or its keys in place, or both with "
                "base."},
    {.path = "cluster.node.gpu.base",
     .type = kText,
     .otherwise = "every key stands in place",
     .meaning = "Name of a file in hardware/gpus/ whose keys hold where this section has none."},
    {.path = "cluster.node.gpu.name",
     .type = kText,
     .otherwise = "the file's name",
     .meaning = "What reports call the GPU."},
    {.path = "cluster.node.gpu.memory",
     .type = kSize,
     .low = 1e6,
     .high = 1e15,
     .meaning = "Memory that one process can allocate on the GPU."},
    {.path = "cluster.node.gpu.peak",
     .type = kFlopRate,
     .low = 1e9,
     .high = 1e17,
     .meaning = "Peak rate of dense 16-bit matrix multiplication with fp32 accumulation, a "
                "multiply-add counted as two; the denominator of MFU."},
    {.path = "cluster.node.gpu.memory_bandwidth",
     .type = kRate,
     .low = 1e6,
     .high = kMostRate,
     .meaning = "Rate that a copy within the GPU's memory achieves, bytes read plus bytes written. "
                "Memory-bound kernels run at it."},
    {.path = "cluster.node.gpu.gemm",
     .otherwise = "every key at its default",
     .meaning = "How long a matrix multiplication of M rows, N columns and reduction K takes: "
                "launch + 2MNK sustained_slowdown / (peak_fraction peak) (1 + rows_half/M + "
                "columns_half/N + reduction_half/K)."},
    {.path = "cluster.node.gpu.gemm.peak_fraction",
     .type = kNumber,
     .fallback = "1",
     .low = 1e-3,
     .high = 1,
     .meaning = "What a short benchmark of large matrices achieves over peak."},
    {.path = "cluster.node.gpu.gemm.sustained_slowdown",
     .type = kNumber,
     .fallback = "1",
     .low = 1,
     .high = 100,
     .meaning = "Time in sustained training over time in a short benchmark: clocks fall to the "
                "power limit."},
    {.path = "cluster.node.gpu.gemm.launch",
     .type = kDuration,
     .fallback = "0",
     .low = 0,
     .high = 1,
     .meaning = "Time of a matrix multiplication beside its work."},
    {.path = "cluster.node.gpu.gemm.rows_half",
     .type = kNumber,
     .fallback = "0",
     .low = 0,
     .high = 1e6,
     .meaning = "Number of rows (tokens) at which the work takes twice its time."},
    {.path = "cluster.node.gpu.gemm.columns_half",
     .type = kNumber,
     .fallback = "0",
     .low = 0,
     .high = 1e6,
     .meaning = "The same for columns of the output."},
    {.path = "cluster.node.gpu.gemm.reduction_half",
     .type = kNumber,
     .fallback = "0",
     .low = 0,
     .high = 1e6,
     .meaning = "The same for the reduction dimension."},
    {.path = "cluster.node.gpu.attention",
     .type = kList,
     .otherwise = "attention is not fused: two batched matrix multiplications and a softmax in "
                  "memory",
     .meaning = "Fused attention kernels (FlashAttention), one item a head dimension: the work of "
                "forward and backward takes FLOP / rate (1 + half_sequence/s)."},
    {.path = "cluster.node.gpu.attention[].head_dimension",
     .type = kInteger,
     .low = 1,
     .high = 65536,
     .meaning = "Head dimension that the item was measured for; the nearest is "
                "taken."},
    {.path = "cluster.node.gpu.attention[].rate",
     .type = kFlopRate,
     .low = 1e9,
     .high = 1e17,
     .meaning = "Rate of forward plus backward for long sequences."},
    {.path = "cluster.node.gpu.attention[].half_sequence",
     .type = kNumber,
     .fallback = "0",
     .low = 0,
     .high = 1e6,
     .meaning = "Sequence length at which half of rate is reached."},

    {.path = "cluster.fabric",
     .otherwise = "every key at its default; with more than one node the "
                  "section is required unless the node has nic_bandwidth",
     .meaning = "The network between the nodes."},
    {.path = "cluster.fabric.kind",
     .type = kChoice,
     .fallback = "switch",
     .choices = "switch",
     .meaning =
         "switch: every node reaches every other through one switch at the rate of its NICs."},
    {.path = "cluster.fabric.nics_per_node",
     .type = kInteger,
     .otherwise = "all of a node that has nic_bandwidth, else 1",
     .low = 1,
     .high = 1024,
     .meaning = "NICs of each node in use; at most cluster.node.nics. Collectives spread over all "
                "of them."},
    {.path = "cluster.fabric.nic_bandwidth",
     .type = kRate,
     .otherwise = "the node's nic_bandwidth, or 100 Gbps",
     .low = kLeastRate,
     .high = kMostRate,
     .meaning = "Line rate of one NIC, a direction. What collectives achieve of it is the "
                "calibration's nic_fraction."},
    {.path = "cluster.fabric.latency",
     .type = kDuration,
     .fallback = "2 us",
     .low = 0,
     .high = 10,
     .meaning = "Time that one step of a collective between nodes takes beside its bytes. A "
                "calibration's nic_step_latency replaces it."},
    {.path = "cluster.fabric.oversubscription",
     .type = kNumber,
     .fallback = "1",
     .low = 1,
     .high = 1000,
     .meaning = "Rate of all NICs together over the rate that the switch carries when all send at "
                "once; 1 is non-blocking."},
};

}  // namespace

std::span<const KeySpec> ClusterKeys() {
  return kKeys;
}

}  // namespace zerosim
