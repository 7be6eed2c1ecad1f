// A report with a different value in every field, for tests of what is printed of it.
#pragma once

#include "sim/step_report.h"

namespace zerosim {

inline StepReport SampleReport() {
  StepReport r;
  r.scenario = "two DGX-2";
  r.version = "1.2.3";
  r.scenario_sha256 = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
  r.engine = "fluid";
  r.activities = 1240;
  r.link_classes = 6;
  r.world_size = 32;
  r.parameters = 1'500'000'000;
  r.step = Seconds::Count(2);
  r.step_low = Seconds::Count(1.75);
  r.step_high = Seconds::Count(2.5);
  r.tflops_per_gpu = 31.25;
  r.hardware_tflops_per_gpu = 41.5;
  r.mfu = 0.25;
  r.tokens_per_s = 16384;
  r.tokens_per_s_per_gpu = 512;
  r.samples_per_s = 16;
  r.forward = Seconds::Count(0.5);
  r.backward = Seconds::Count(1.4);
  r.optimizer = Seconds::Count(0.1);
  r.compute = Seconds::Count(1.2);
  r.quantization = Seconds::Millis(12.5);
  r.communication = Seconds::Count(1.5);
  r.exposed_communication = Seconds::Count(0.8);
  r.kernel_slowdown = Seconds::Count(0.15);
  r.model = Bytes::Count(3'000'000'000);
  r.node_egress = Bytes::Count(1'125'000'000);
  r.node_egress_over_model = 0.375;
  r.collectives.push_back({.name = "weights_forward",
                           .op = "all_gather",
                           .group = "world",
                           .group_size = 32,
                           .algorithm = "ring",
                           .protocol = "simple",
                           .calls = 96,
                           .payload = Bytes::Count(3'000'000'000),
                           .wire = Bytes::Count(1'505'859'375),
                           .node_egress = Bytes::Count(752'929'687),
                           .in_node_per_gpu = Bytes::Count(1'500'000'000),
                           .time = Seconds::Count(0.4),
                           .exposed = Seconds::Count(0.3),
                           .algbw = BytesPerSecond::GigabytesPerSecond(3.76),
                           .busbw = BytesPerSecond::GigabytesPerSecond(3.64),
                           .bound = BytesPerSecond::GigabytesPerSecond(12.5),
                           .bottleneck = "nic"});
  r.memory.peak = Bytes::Count(16'000'000'000);
  r.memory.after_step = Bytes::Count(9'000'000'000);
  r.memory.capacity = Bytes::Count(32'000'000'000);
  r.memory.peak_at = "backward layers.3.mlp_in, 1.234 s";
  r.memory.terms = {.parameters = Bytes::Count(8'000'000'000),
                    .gradients = Bytes::Count(1'000'000),
                    .optimizer = Bytes::Count(4'000'000'000),
                    .secondary_shard = Bytes::Count(187'500'000),
                    .live_parameters = Bytes::Count(1'500'000'000),
                    .buffers = Bytes::Count(250'000'000),
                    .activations = Bytes::Count(1'000'000'000),
                    .logits = Bytes::Count(61'499'000),
                    .context = Bytes::Count(1'000)};
  r.weights_forward = {.events = 1, .bits = 8, .group_size = 2048, .relative_error = 0.00625};
  r.weights_backward = {.events = 0, .bits = 16, .group_size = 0, .relative_error = 0};
  r.gradients = {.events = 2, .bits = 4, .group_size = 512, .relative_error = 0.125};
  r.bottlenecks = {{.link = "nic", .utilization = 0.55, .share_of_step = 0.5}};
  r.critical_path = {{.cause = "compute", .time = Seconds::Count(1.2)},
                     {.cause = "link nic", .time = Seconds::Count(0.8)}};
  r.warnings = {"qgZ has no effect on one node"};
  r.exceptions = ExceptionsReport{.nodes = 2,
                                  .sound = {Seconds::Count(1.0), 2000},
                                  .without = OtherStep{Seconds::Count(1.1), 1500},
                                  .without_item = {{Seconds::Count(1.4), 1000}}};
  r.jitter = JitterReport{.steps = 20,
                          .compute = 0.03,
                          .percentiles = {{5, 1.01, {Seconds::Count(2.01), 990}},
                                          {50, 1.05, {Seconds::Count(2.1), 950}}},
                          .mean = {Seconds::Count(2.11), 948},
                          .mean_low = Seconds::Count(2.0),
                          .mean_high = Seconds::Count(2.2)};
  r.parameters_used = {{"nic_fraction", "0.9 (0.85 to 0.95)", "nccl-tests, 2023",
                        Seconds::Millis(10), Seconds::Millis(20)}};
  return r;
}

}  // namespace zerosim
