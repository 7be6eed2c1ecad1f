#include "models/topology/node_builders.h"

#include <array>
#include <stdexcept>
#include <string>

#include <fmt/format.h>

namespace zerosim {
namespace {

// NVLinks between two GPUs of a DGX-1 with V100.
struct Pair {
  int from, to, links;
};

constexpr std::array<Pair, 16> kCubeMeshPairs = {{{0, 1, 1},
                                                  {0, 2, 1},
                                                  {0, 3, 2},
                                                  {1, 2, 2},
                                                  {1, 3, 1},
                                                  {2, 3, 2},
                                                  {4, 5, 1},
                                                  {4, 6, 1},
                                                  {4, 7, 2},
                                                  {5, 6, 2},
                                                  {5, 7, 1},
                                                  {6, 7, 2},
                                                  {0, 4, 2},
                                                  {1, 5, 2},
                                                  {2, 6, 1},
                                                  {3, 7, 1}}};

void Require(bool holds, const char* what) {
  if (!holds) throw std::invalid_argument(std::string("a node needs ") + what);
}

int AddVertex(NodeGraph* graph, VertexKind kind, const std::string& name) {
  graph->vertices.push_back({kind, name});
  return static_cast<int>(graph->vertices.size()) - 1;
}

// GPUs take places 0 to gpus - 1.
NodeGraph WithPcieTree(int gpus, int nics, const PcieTree& pcie) {
  Require(gpus > 0 && nics >= 0, "at least one GPU and no negative number of NICs");
  Require(pcie.gpus_per_switch > 0 && pcie.switches_per_host_bridge > 0,
          "at least one GPU a PCIe switch and one switch a host bridge");
  Require(pcie.bandwidth > BytesPerSecond(), "a PCIe bandwidth above 0");
  NodeGraph graph;
  for (int i = 0; i < gpus; ++i) AddVertex(&graph, VertexKind::kGpu, fmt::format("gpu{}", i));
  const int first_nic = gpus;
  for (int i = 0; i < nics; ++i) AddVertex(&graph, VertexKind::kNic, fmt::format("nic{}", i));
  const int switches = static_cast<int>(CeilDiv(gpus, pcie.gpus_per_switch));
  const int cpus = static_cast<int>(CeilDiv(switches, pcie.switches_per_host_bridge));
  Require(cpus == 1 || pcie.inter_socket_bandwidth > BytesPerSecond(),
          "a bandwidth between its CPUs above 0");
  const int first_switch = first_nic + nics;
  for (int i = 0; i < switches; ++i) {
    AddVertex(&graph, VertexKind::kSwitch, fmt::format("pcie{}", i));
  }
  const int first_cpu = first_switch + switches;
  for (int i = 0; i < cpus; ++i) AddVertex(&graph, VertexKind::kSwitch, fmt::format("cpu{}", i));

  const auto join = [&](int from, int to) {
    graph.links.push_back({from, to, pcie.bandwidth, pcie.latency, NodeLinkKind::kPcie});
  };
  for (int i = 0; i < gpus; ++i) join(i, first_switch + i / pcie.gpus_per_switch);
  for (int i = 0; i < nics; ++i) join(first_nic + i, first_switch + i * switches / nics);
  for (int i = 0; i < switches; ++i) {
    join(first_switch + i, first_cpu + i / pcie.switches_per_host_bridge);
  }
  for (int i = 0; i + 1 < cpus; ++i) {
    graph.links.push_back({first_cpu + i, first_cpu + i + 1, pcie.inter_socket_bandwidth,
                           pcie.latency, NodeLinkKind::kInterSocket});
  }
  return graph;
}

}  // namespace

NodeGraph PcieNode(int gpus, int nics, const PcieTree& pcie) {
  return WithPcieTree(gpus, nics, pcie);
}

NodeGraph NvSwitchNode(int gpus, int nics, BytesPerSecond gpu_bandwidth, Seconds latency,
                       const PcieTree& pcie) {
  Require(gpu_bandwidth > BytesPerSecond(), "a GPU bandwidth above 0");
  NodeGraph graph = WithPcieTree(gpus, nics, pcie);
  const int nvswitch = AddVertex(&graph, VertexKind::kSwitch, "nvswitch");
  // A transfer passes two of these links.
  for (int i = 0; i < gpus; ++i) {
    graph.links.push_back({i, nvswitch, gpu_bandwidth, 0.5 * latency, NodeLinkKind::kNvLink});
  }
  return graph;
}

NodeGraph RingNode(int gpus, int nics, BytesPerSecond link_bandwidth, Seconds latency,
                   const PcieTree& pcie) {
  Require(link_bandwidth > BytesPerSecond(), "a link bandwidth above 0");
  NodeGraph graph = WithPcieTree(gpus, nics, pcie);
  const int links = gpus < 3 ? gpus - 1 : gpus;
  for (int i = 0; i < links; ++i) {
    graph.links.push_back({i, (i + 1) % gpus, link_bandwidth, latency, NodeLinkKind::kNvLink});
  }
  return graph;
}

NodeGraph FullMeshNode(int gpus, int nics, BytesPerSecond link_bandwidth, Seconds latency,
                       const PcieTree& pcie) {
  Require(link_bandwidth > BytesPerSecond(), "a link bandwidth above 0");
  NodeGraph graph = WithPcieTree(gpus, nics, pcie);
  for (int i = 0; i < gpus; ++i) {
    for (int j = i + 1; j < gpus; ++j) {
      graph.links.push_back({i, j, link_bandwidth, latency, NodeLinkKind::kNvLink});
    }
  }
  return graph;
}

NodeGraph HybridCubeMeshNode(int nics, BytesPerSecond link_bandwidth, bool doubled, Seconds latency,
                             const PcieTree& pcie) {
  Require(link_bandwidth > BytesPerSecond(), "a link bandwidth above 0");
  NodeGraph graph = WithPcieTree(8, nics, pcie);
  for (const Pair& pair : kCubeMeshPairs) {
    graph.links.push_back({pair.from, pair.to, (doubled ? pair.links : 1) * link_bandwidth, latency,
                           NodeLinkKind::kNvLink});
  }
  return graph;
}

}  // namespace zerosim
