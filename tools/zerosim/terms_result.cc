#include <array>

#include "tools/zerosim/terms.h"

namespace zerosim {
namespace {

constexpr auto kResultKeys = std::to_array<Term>({
    {"zerosim", "", "How the result was made."},
    {"zerosim.version", "", "Version of zerosim, with the commit if it was built from git."},
    {"zerosim.scenario_sha256", "",
     "SHA-256 of the scenario's text with all --set applied: equal hashes and versions mean equal "
     "results."},
    {"zerosim.engine", "", "fluid or message."},
    {"zerosim.wall_s", "s",
     "Time that the engine took on this machine. 0 unless --timing is given, so that the same "
     "input "
     "gives the same bytes."},
    {"zerosim.activities", "", "Number of activities that were simulated."},
    {"zerosim.link_classes", "", "Number of link classes that were simulated."},
    {"zerosim.scenario", "", "Name of the scenario."},
    {"world_size", "", "Number of ranks, one a GPU."},
    {"parameters", "", "Number of parameters of the model, adapters included."},
    {"trainable_parameters", "", "Those of them that are trained: all, or the adapters."},
    {"step_time_s", "s", "Time of one optimizer step: the product's number."},
    {"step_time_interval_s", "s",
     "Step time with the calibration's uncertain parameters at either end of their ranges: [low, "
     "high]."},
    {"throughput", "", "What a step processes over its time."},
    {"throughput.tflops_per_gpu", "TFLOP/s", "Model FLOP/s of one GPU; recomputation not counted."},
    {"throughput.hardware_tflops_per_gpu", "TFLOP/s",
     "FLOP/s that one GPU executes; recomputation counted."},
    {"throughput.mfu", "", "tflops_per_gpu over the GPU's dense 16-bit peak, 0 to 1."},
    {"throughput.tokens_per_s", "1/s", "Tokens of all ranks over the step time."},
    {"throughput.tokens_per_s_per_gpu", "1/s", "tokens_per_s over world_size."},
    {"throughput.samples_per_s", "1/s", "Samples of all ranks over the step time."},
    {"time", "",
     "Where the time of a step goes. Forward, backward and optimizer follow each other; the others "
     "are busy times of parts that overlap."},
    {"time.forward_s", "s", "Forward passes of all micro-batches."},
    {"time.backward_s", "s",
     "Backward passes of all micro-batches with recomputation, until the last gradient is "
     "reduced."},
    {"time.optimizer_s", "s", "Update of the parameters, and the refresh of gathered ones."},
    {"time.bubble_s", "s",
     "Pipeline bubble: time in which a stage waits between its passes; the mean over the stages. 0 "
     "without a pipeline."},
    {"time.compute_s", "s",
     "What the kernels of compute need with the GPU to themselves. critical_path's compute may be "
     "more, where others share it."},
    {"time.quantization_s", "s",
     "What all other kernels need: they quantize and dequantize, sum and cast gradients, and "
     "copy."},
    {"time.communication_s", "s", "Time in which at least one collective ran."},
    {"time.exposed_communication_s", "s",
     "Time in which a collective and no kernel of compute ran. What communication costs is this "
     "and "
     "kernel_slowdown_s."},
    {"time.kernel_slowdown_s", "s",
     "What kernels of the GPU, compute's and others, took longer because collectives ran beside "
     "them: cluster.node.gpu.collective_share of the time in which both ran. 0 where that key is "
     "0."},
    {"communication", "", "Bytes and times of the collectives, summed over one step."},
    {"communication.model_bytes", "bytes", "M: two bytes a parameter."},
    {"communication.node_egress_bytes", "bytes", "What one node sends to others in one step."},
    {"communication.node_egress_over_model", "",
     "node_egress_bytes over model_bytes: 3 for ZeRO-3, 0.75 for ZeRO++, times (nodes-1)/nodes and "
     "micro-batches, plus scales and padding."},
    {"communication.collectives", "",
     "One entry for each use of a collective: its calls in a step added up."},
    {"communication.collectives.name", "",
     "What it carries: weights_forward, weights_backward, gradients, ..."},
    {"communication.collectives.op", "", "all_gather, reduce_scatter, all_reduce or all_to_all."},
    {"communication.collectives.group", "",
     "Its process group: world, secondary, node or across_nodes."},
    {"communication.collectives.group_size", "", "Number of ranks of that group."},
    {"communication.collectives.algorithm", "", "How it moves the data: ring, ..."},
    {"communication.collectives.protocol", "", "NCCL's protocol: simple, ll128 or ll."},
    {"communication.collectives.calls", "",
     "Calls of one rank in a step; payload and scales of quantized data count apart."},
    {"communication.collectives.payload_bytes", "bytes",
     "Full vectors at the precision of the model."},
    {"communication.collectives.wire_bytes", "bytes", "Full vectors as they travel."},
    {"communication.collectives.node_egress_bytes", "bytes", "Of these, out of one node."},
    {"communication.collectives.in_node_bytes_per_gpu", "bytes",
     "What one GPU sends to GPUs of its own node, at most."},
    {"communication.collectives.time_s", "s", "From start to end, summed over the calls."},
    {"communication.collectives.exposed_s", "s", "Part of it in which no kernel of compute ran."},
    {"communication.collectives.algbw_GBps", "GB/s", "wire_bytes over time_s."},
    {"communication.collectives.busbw_GBps", "GB/s",
     "algbw times (n-1)/n, or 2(n-1)/n for an all-reduce."},
    {"communication.collectives.bound_GBps", "GB/s",
     "The busbw at which its bottleneck link would be full."},
    {"communication.collectives.bottleneck", "", "The link that limits it, or latency."},
    {"memory", "", "Memory of one GPU; of the rank class that needs most."},
    {"memory.peak_bytes_per_gpu", "bytes",
     "The most that is allocated at one instant, with context."},
    {"memory.after_step_bytes_per_gpu", "bytes",
     "Allocated when the step is over, without context: what torch.cuda.memory_allocated() shows."},
    {"memory.capacity_bytes", "bytes", "What a process can allocate on this GPU."},
    {"memory.fits", "",
     "Whether the peak is within the capacity. --require-fit makes false an error."},
    {"memory.peak_at", "",
     "Operation that the host launches at the peak, and when: allocators work in the order of the "
     "host, which is ahead of the GPU."},
    {"memory.host_bytes_per_node", "bytes",
     "What offload keeps in the memory of one node: states, gradients and weights of its ranks."},
    {"memory.host_capacity_bytes", "bytes", "cluster.node.host_memory; 0 if it is not known."},
    {"memory.host_fits", "",
     "Whether what is offloaded is within it; true if the capacity is not known. --require-fit "
     "makes false an error."},
    {"memory.terms", "", "What the peak is made of."},
    {"memory.terms.parameters", "bytes", "Shard of the 16-bit weights, and unsharded small ones."},
    {"memory.terms.gradients", "bytes", "Gradients that are kept until the optimizer step."},
    {"memory.terms.optimizer", "bytes", "Shard of 32-bit weights, momentum and variance."},
    {"memory.terms.secondary_shard", "bytes", "hpZ's second copy of the weights."},
    {"memory.terms.live_parameters", "bytes", "Gathered weights that exist at the peak."},
    {"memory.terms.buffers", "bytes", "Buckets, buffers of collectives and of quantization."},
    {"memory.terms.activations", "bytes",
     "Kept for the backward pass, and those of the block in work."},
    {"memory.terms.logits", "bytes", "Output over the vocabulary, its copies and gradient."},
    {"memory.terms.context", "bytes", "CUDA context, NCCL and libraries."},
    {"quantization", "", "Quantization on the way of a value, for each kind of data."},
    {"quantization.weights_forward", "", "From the master copy to the forward pass."},
    {"quantization.weights_backward", "", "From the master copy to the backward pass."},
    {"quantization.gradients", "", "From a rank's gradient to the sum that the optimizer sees."},
    {"quantization.weights_forward.events", "",
     "Number of times that a value is rounded on its way."},
    {"quantization.weights_forward.bits", "", "Fewest bits on the way; 16 without quantization."},
    {"quantization.weights_forward.block", "elements",
     "Elements that share a scale; 0 without quantization."},
    {"quantization.weights_forward.relative_error", "",
     "Expected root of the normalized squared error."},
    {"quantization.weights_forward.of_difference", "",
     "Whether that is the error of what a step changed and not of the weight "
     "(zero.quantized_weight_differences)."},
    {"quantization.weights_backward.events", "",
     "Number of times that a value is rounded on its way."},
    {"quantization.weights_backward.bits", "", "Fewest bits on the way; 16 without quantization."},
    {"quantization.weights_backward.block", "elements",
     "Elements that share a scale; 0 without quantization."},
    {"quantization.weights_backward.relative_error", "",
     "Expected root of the normalized squared error."},
    {"quantization.weights_backward.of_difference", "",
     "Whether that is the error of what a step changed and not of the weight "
     "(zero.quantized_weight_differences)."},
    {"quantization.gradients.events", "", "Number of times that a value is rounded on its way."},
    {"quantization.gradients.bits", "", "Fewest bits on the way; 16 without quantization."},
    {"quantization.gradients.block", "elements",
     "Elements that share a scale; 0 without quantization."},
    {"quantization.gradients.relative_error", "", "Expected root of the normalized squared error."},
    {"quantization.gradients.of_difference", "", "False: gradients travel themselves."},
    {"bottlenecks", "", "Link classes by how busy they are."},
    {"bottlenecks.link", "", "Name of the link class."},
    {"bottlenecks.utilization", "", "Mean over the step, 0 to 1."},
    {"bottlenecks.share_of_step", "",
     "Part of the step in which it was more than 95 % busy, 0 to 1."},
    {"critical_path", "", "What the step waits for, by cause; the times add up to step_time_s."},
    {"critical_path.cause", "", "compute, quantization, a link, latency, host, ..."},
    {"critical_path.time_s", "s", "Time of the step that waits for this cause."},
    {"warnings", "", "What falls back, has no effect, extrapolates or would fail in DeepSpeed."},
    {"parameters_used", "",
     "Parameters of the calibration that the step time rests on, those that widen the interval "
     "most first."},
    {"parameters_used.name", "", "Key of the calibration."},
    {"parameters_used.value", "", "Its value with unit and range."},
    {"parameters_used.source", "", "Where it comes from."},
    {"parameters_used.faster_s", "s",
     "How much shorter the step would be at the better end of the range, to first order."},
    {"parameters_used.slower_s", "s", "How much longer at the worse end."},
});

}  // namespace

std::span<const Term> ResultKeys() {
  return kResultKeys;
}

}  // namespace zerosim
