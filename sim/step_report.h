// What a simulated step costs: the product's answer, as a value. tools/ prints it as text, JSON and
// trace; the meaning of each field is in `zerosim explain`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/core/units.h"

namespace zerosim {

struct CollectiveReport {
  std::string name;
  std::string op;
  std::string group;
  int group_size = 0;
  std::string algorithm;
  std::string protocol;
  std::int64_t calls = 0;  // of one rank in the step, payload and scales counted apart
  Bytes payload;           // full vectors at the model's precision
  Bytes wire;              // full vectors as they travel
  Bytes node_egress;       // out of one node
  Bytes in_node_per_gpu;   // that one GPU sends to GPUs of its node, at most
  Seconds time;            // from start to end, summed over calls
  Seconds exposed;         // part of it in which no kernel of compute ran
  BytesPerSecond algbw;    // wire / time
  BytesPerSecond busbw;
  BytesPerSecond bound;    // the busbw at which its bottleneck link would be full
  std::string bottleneck;  // the link that limits it, or "latency"
};

struct MemoryTerms {
  Bytes parameters, gradients, optimizer, secondary_shard, live_parameters, buffers, activations,
      logits, context;
};

struct MemoryReport {
  Bytes peak;        // by the framework's allocator plus context
  Bytes after_step;  // allocated when the step is over, without context
  Bytes capacity;
  bool fits = true;
  Bytes host_per_node;  // in the memory of a node; 0 without offload
  Bytes host_capacity;  // 0: not known
  bool host_fits = true;
  std::string peak_at;  // when the host launches "backward head, 1.234 s"
  MemoryTerms terms;    // at the peak
};

struct QuantizationPath {
  int events = 0;  // quantisations on the way of a value
  int bits = 0;    // the fewest; 16 without quantisation
  std::int64_t group_size = 0;
  double relative_error = 0;   // expected, root of the normalised squared error
  bool of_difference = false;  // of what a step changed, and not of the value
};

struct Bottleneck {
  std::string link;
  double utilization = 0;    // mean over the step
  double share_of_step = 0;  // part of the step in which it was more than 95 % busy
};

// How much of the critical path each cause takes; they add up to the step time.
struct CriticalShare {
  std::string cause;  // "compute", "link nic", "latency", "quantization", "host", ...
  Seconds time;
};

// A parameter of the calibration that the step time rests on, and how far the step would move if it
// lay at the ends of its range.
struct ParameterUsed {
  std::string name;   // "nic_fraction"
  std::string value;  // with unit and range: "0.886 (0.85 to 0.92)"
  std::string source;
  Seconds faster;  // the step may be shorter by it
  Seconds slower;  // or longer
};

// The step of another cluster, beside that of the report.
struct OtherStep {
  Seconds step;
  double tokens_per_s = 0;
};

// What nodes that are not as the others cost: the step without what ails them.
struct ExceptionsReport {
  int nodes = 0;    // that are not as the others
  OtherStep sound;  // if they were
  // Without them, on fewer nodes; empty if the ranks could not be divided as asked then.
  std::optional<OtherStep> without;
  // If those of one item of cluster.exceptions alone were sound; empty for a single item.
  std::vector<OtherStep> without_item;
};

// A step in which the slowest GPU's kernels take `kernel_time` of their time.
struct JitteredStep {
  int percent = 0;         // of the steps are no longer
  double kernel_time = 1;  // over that of the report's step
  OtherStep step;
};

// Steps with jitter (step_jitter.h), of which the report's has none.
struct JitterReport {
  int steps = 0;
  double compute = 0;                     // JitterSpec's
  std::vector<JitteredStep> percentiles;  // ascending
  // Of all steps: between the simulated ones the step is taken as linear in kernel_time. If it is
  // only monotone in it, the mean lies between mean_low and mean_high.
  OtherStep mean;
  Seconds mean_low, mean_high;
};

struct StepReport {
  std::string scenario;
  std::string version;
  std::string scenario_sha256;
  std::string engine;
  double wall_s = 0;
  std::int64_t activities = 0;
  int link_classes = 0;
  int world_size = 0;
  std::int64_t parameters = 0;
  std::int64_t trainable_parameters = 0;  // of them: fewer with LoRA

  Seconds step, step_low, step_high;
  double tflops_per_gpu = 0, hardware_tflops_per_gpu = 0, mfu = 0;
  double tokens_per_s = 0, tokens_per_s_per_gpu = 0, samples_per_s = 0;

  // Of a pipeline: means over its stages, and the bubble between their passes.
  Seconds bubble;
  Seconds forward, backward, optimizer, compute, quantization, communication, exposed_communication;
  Seconds kernel_slowdown;  // what collectives beside kernels took from them; never exposed
  Bytes model;
  Bytes node_egress;
  double node_egress_over_model = 0;
  std::vector<CollectiveReport> collectives;
  MemoryReport memory;
  QuantizationPath weights_forward, weights_backward, gradients;
  std::vector<Bottleneck> bottlenecks;
  std::vector<CriticalShare> critical_path;
  std::vector<std::string> warnings;
  std::optional<ExceptionsReport> exceptions;
  std::optional<JitterReport> jitter;
  std::vector<ParameterUsed> parameters_used;  // those that move the step, the strongest first
};

}  // namespace zerosim
