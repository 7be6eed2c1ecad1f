// Small clusters and models for tests, with round numbers.
#pragma once

#include "models/scenario/scenario.h"

namespace zerosim {

// `nodes` x `gpus` GPUs of 100 TFLOP/s with one 100 Gb/s NIC a node, and a GPT of 4 layers x 1024.
inline Scenario SmallScenario(int nodes, int gpus) {
  Scenario s;
  s.name = "small";
  s.cluster.nodes = nodes;
  NodeSpec& node = s.cluster.node;
  node.gpus = gpus;
  node.gpu.memory = Bytes::Count(80'000'000'000);
  node.gpu.peak = FlopsPerSecond::TeraflopsPerSecond(100);
  node.gpu.memory_bandwidth = BytesPerSecond::GigabytesPerSecond(1000);
  node.gpu_bandwidth = BytesPerSecond::GigabytesPerSecond(100);
  node.gpu_latency = Seconds::Micros(2);
  node.pcie_bandwidth = BytesPerSecond::GigabytesPerSecond(25);
  node.host_memory_bandwidth = BytesPerSecond::GigabytesPerSecond(200);
  s.cluster.fabric.nic_bandwidth = BytesPerSecond::GigabitsPerSecond(100);
  s.cluster.fabric.latency = Seconds::Micros(5);
  s.model.layers = 4;
  s.model.hidden = 1024;
  s.model.heads = s.model.kv_heads = 16;
  s.model.ffn_hidden = 4096;
  s.model.vocabulary = 32000;
  s.model.max_positions = 512;
  s.training.sequence_length = 512;
  s.training.checkpointing = Checkpointing::kFull;
  s.zero.stage = 3;
  return s;
}

inline void EnableZeroPlusPlus(Scenario* s) {
  s->zero.stage = 3;
  s->zero.quantized_weights = QuantizationFormat{};
  s->zero.quantized_gradients = GradientQuantization{};
  s->zero.secondary_partition_size = s->cluster.node.gpus;
}

}  // namespace zerosim
