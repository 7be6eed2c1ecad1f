#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "models/scenario/read_sections.h"

namespace zerosim {
namespace {

GpuSpec ReadGpu(SectionReader section) {
  GpuSpec gpu;
  section.Read("name", &gpu.name);
  section.Read("memory", &gpu.memory);
  section.Read("peak", &gpu.peak);
  section.Read("memory_bandwidth", &gpu.memory_bandwidth);
  section.Read("collective_share", &gpu.collective_share);
  double capability = 0;
  section.Read("compute_capability", &capability);
  gpu.compute_capability = static_cast<int>(std::lround(10 * capability));

  SectionReader gemm = section.Section("gemm");
  gemm.Read("peak_fraction", &gpu.gemm.peak_fraction);
  gemm.Read("sustained_slowdown", &gpu.gemm.sustained_slowdown);
  gemm.Read("launch", &gpu.gemm.launch);
  gemm.Read("rows_half", &gpu.gemm.rows_half);
  gemm.Read("columns_half", &gpu.gemm.columns_half);
  gemm.Read("reduction_half", &gpu.gemm.reduction_half);
  gemm.Finish();

  for (SectionReader& item : section.List("attention")) {
    AttentionSpec attention;
    item.Read("head_dimension", &attention.head_dimension);
    item.Read("rate", &attention.rate);
    item.Read("half_sequence", &attention.half_sequence);
    item.Read("full_rate", &attention.full_rate);
    item.Read("full_half_sequence", &attention.full_half_sequence);
    item.Finish();
    gpu.attention.push_back(attention);
  }
  section.Finish();
  return gpu;
}

NodeGraphText ReadNodeGraph(SectionReader* section) {
  NodeGraphText graph;
  section->Read("switches", &graph.switches);
  for (SectionReader& item : section->List("links")) {
    NamedNodeLink link;
    item.Read("from", &link.from);
    item.Read("to", &link.to);
    item.Read("bandwidth", &link.bandwidth);
    item.Read("latency", &link.latency);
    item.ReadChoice("kind", &link.kind);
    item.Finish();
    graph.links.push_back(std::move(link));
  }
  return graph;
}

NodeSpec ReadNode(SectionReader section) {
  NodeSpec node;
  section.Read("name", &node.name);
  section.Read("gpus", &node.gpus);
  section.ReadChoice("in_node", &node.in_node);
  section.ReadChoice("cpu", &node.cpu);
  section.Read("gpu_bandwidth", &node.gpu_bandwidth);
  section.Read("gpu_bandwidth_fraction", &node.gpu_bandwidth_fraction);
  section.Read("gpu_latency", &node.gpu_latency);
  section.Read("pcie_bandwidth", &node.pcie_bandwidth);
  section.Read("gpus_per_host_link", &node.gpus_per_host_link);
  section.Read("gpus_per_pcie_switch", &node.pcie_tree.gpus_per_switch);
  section.Read("switches_per_host_bridge", &node.pcie_tree.switches_per_host_bridge);
  section.Read("inter_socket_bandwidth", &node.pcie_tree.inter_socket_bandwidth);
  node.graph = ReadNodeGraph(&section);
  section.Read("host_memory", &node.host_memory);
  section.Read("host_memory_bandwidth", &node.host_memory_bandwidth);
  section.Read("nics", &node.nics);
  section.Read("nic_bandwidth", &node.nic_bandwidth);
  node.gpu = ReadGpu(section.Section("gpu"));
  section.Finish();
  return node;
}

Calibration ReadCalibration(SectionReader section) {
  Calibration c;
  section.Read("name", &c.name);
  section.Read("measured_nics_per_node", &c.measured_nics_per_node);
  section.Read("nic_fraction", &c.nic_fraction);
  section.Read("gpu_link_fraction", &c.gpu_link_fraction);
  section.Read("nic_step_latency", &c.nic_step_latency);
  section.Read("gpu_step_latency", &c.gpu_step_latency);
  section.Read("collective_launch", &c.collective_launch);
  section.Read("all_to_all_fraction", &c.all_to_all_fraction);
  section.Read("gemm_fraction", &c.gemm_fraction);
  section.Read("memory_fraction", &c.memory_fraction);
  section.Read("host_memory_fraction", &c.host_memory_fraction);
  section.Read("kernel_launch", &c.kernel_launch);
  section.Read("host_hook", &c.host_hook);
  section.Read("host_launch", &c.host_launch);
  section.Read("optimizer_fixed", &c.optimizer_fixed);
  section.Finish();
  return c;
}

JitterSpec ReadJitter(SectionReader section) {
  JitterSpec jitter;
  section.Read("compute", &jitter.compute);
  section.Read("seed", &jitter.seed);
  section.Read("steps", &jitter.steps);
  section.Finish();
  return jitter;
}

}  // namespace

ClusterSpec ReadCluster(SectionReader section) {
  ClusterSpec cluster;
  section.Read("nodes", &cluster.nodes);
  cluster.node = ReadNode(section.Section("node"));
  const bool fabric = section.Has("fabric") || cluster.nodes > 1;
  cluster.fabric = ReadFabric(section.Section("fabric"), fabric ? cluster.node : NodeSpec());
  cluster.exceptions = ReadExceptions(&section);
  cluster.jitter = ReadJitter(section.Section("jitter"));
  cluster.calibration = ReadCalibration(section.Section("calibration"));
  section.Finish();
  return cluster;
}

}  // namespace zerosim
