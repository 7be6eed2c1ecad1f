#include "models/network/spec_network.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "models/topology/node_builders.h"

namespace zerosim {
namespace {

constexpr int kCubeMeshGpus = 8;
constexpr int kCubeMeshLinks = 6;  // NVLinks of a V100
constexpr int kSockets = 2;
// That a graph may have once ranges of names are written out.
constexpr std::size_t kMaxListedLinks = 500'000;

// NICs of a node that have a place in the network.
int NicsInUse(const ClusterSpec& cluster) {
  return cluster.nodes > 1 ? cluster.fabric.nics_per_node : 0;
}

PcieTree PcieTreeOf(const ClusterSpec& cluster, double fraction) {
  const NodeSpec& node = cluster.node;
  const PcieTreeSpec& spec = node.pcie_tree;
  PcieTree tree;
  tree.gpus_per_switch = spec.gpus_per_switch > 0
                             ? spec.gpus_per_switch
                             : std::max(1, node.gpus / std::max(1, NicsInUse(cluster)));
  const auto switches = static_cast<int>(CeilDiv(node.gpus, tree.gpus_per_switch));
  tree.switches_per_host_bridge = spec.switches_per_host_bridge > 0
                                      ? spec.switches_per_host_bridge
                                      : static_cast<int>(CeilDiv(switches, kSockets));
  tree.bandwidth = fraction * node.pcie_bandwidth;
  tree.inter_socket_bandwidth =
      fraction * (spec.inter_socket_bandwidth > BytesPerSecond() ? spec.inter_socket_bandwidth
                                                                 : node.pcie_bandwidth);
  return tree;
}

NodeGraphText GraphText(const ClusterSpec& cluster, const LinkFractions& fractions) {
  NodeGraphText text = cluster.node.graph;
  text.gpus = cluster.node.gpus;
  text.nics = cluster.node.nics;
  for (NamedNodeLink& link : text.links) {
    link.bandwidth =
        (link.kind == NodeLinkKind::kNvLink ? fractions.nvlink : fractions.pcie) * link.bandwidth;
  }
  return text;
}

TopologyProblems NodeProblems(const ClusterSpec& cluster) {
  const NodeSpec& node = cluster.node;
  const bool listed = !node.graph.switches.empty() || !node.graph.links.empty();
  if (node.in_node == InNodeFabric::kGraph) {
    if (cluster.nodes > 1 && cluster.fabric.nics_per_node != node.nics) {
      return {{"nics", fmt::format("links are listed for {} NICs, and the fabric uses {} a node; "
                                   "expected as many",
                                   node.nics, cluster.fabric.nics_per_node)}};
    }
    return BuildNodeGraph(GraphText(cluster, {})).problems;
  }
  if (listed) {
    return {{node.graph.links.empty() ? "switches" : "links",
             "has no effect without in_node: graph; expected it there, or no list"}};
  }
  if (node.in_node == InNodeFabric::kHybridCubeMesh && node.gpus != kCubeMeshGpus) {
    return {{"gpus", fmt::format("a hybrid cube mesh joins 8 GPUs, not {}; expected 8, or another "
                                 "in_node",
                                 node.gpus)}};
  }
  return {};
}

// Links that name several ends at once, written out: each of the one side with each of the other.
// `*origin` gets the place of each in `links`. Ends soon after kMaxListedLinks.
std::vector<FabricLink> Expanded(const std::vector<FabricLink>& links, std::vector<int>* origin) {
  std::vector<FabricLink> all;
  const auto ends = [](const std::string& text) {
    std::vector<std::string> names = ExpandNames(text);
    return names.empty() ? std::vector<std::string>{text} : names;
  };
  for (std::size_t i = 0; i < links.size(); ++i) {
    const std::vector<std::string> to = ends(links[i].to);
    for (const std::string& from : ends(links[i].from)) {
      for (const std::string& name : to) {
        all.push_back({from, name, links[i].bandwidth, links[i].latency});
        if (origin != nullptr) origin->push_back(static_cast<int>(i));
        if (all.size() > kMaxListedLinks) return all;
      }
    }
  }
  return all;
}

// "links[7].from" of the links written out is "links[1].from" of those that the user wrote.
std::string AsWritten(const std::string& path, const std::vector<int>& origin) {
  const std::string_view links = "links[";
  const std::size_t end = path.find(']');
  if (!path.starts_with(links) || end == std::string::npos) return path;
  const int index = std::stoi(path.substr(links.size(), end - links.size()));
  if (index < 0 || std::cmp_greater_equal(index, origin.size())) return path;
  return fmt::format("links[{}{}", origin[index], path.substr(end));
}

TopologyProblems FabricProblems(const ClusterSpec& cluster) {
  if (const auto* graph = std::get_if<GraphLayout>(&cluster.fabric.kind)) {
    if (Expanded(graph->links, nullptr).size() > kMaxListedLinks) {
      return {{"links", fmt::format("they name more than {} links; expected fewer, or another kind",
                                    kMaxListedLinks)}};
    }
  }
  TopologyProblems problems = CheckFabric(FabricLayoutOf(cluster));
  if (const auto* graph = std::get_if<GraphLayout>(&cluster.fabric.kind)) {
    std::vector<int> origin;
    Expanded(graph->links, &origin);
    for (TopologyProblem& problem : problems) problem.path = AsWritten(problem.path, origin);
  }
  return problems;
}

TopologyProblems Prefixed(const char* section, TopologyProblems problems) {
  for (TopologyProblem& problem : problems) {
    problem.path = problem.path.empty() ? section : fmt::format("{}.{}", section, problem.path);
  }
  return problems;
}

}  // namespace

NodeGraph NodeGraphOf(const ClusterSpec& cluster, const LinkFractions& fractions) {
  const NodeSpec& node = cluster.node;
  const PcieTree pcie = PcieTreeOf(cluster, fractions.pcie);
  const BytesPerSecond nvlink = fractions.nvlink * node.gpu_bandwidth;
  const int nics = NicsInUse(cluster);
  switch (node.in_node) {
    case InNodeFabric::kNvSwitch:
      return NvSwitchNode(node.gpus, nics, nvlink, node.gpu_latency, pcie);
    case InNodeFabric::kPcie:
      return PcieNode(node.gpus, nics, pcie);
    case InNodeFabric::kRing:
      return RingNode(node.gpus, nics, 0.5 * nvlink, node.gpu_latency, pcie);
    case InNodeFabric::kFullMesh:
      return FullMeshNode(node.gpus, nics, 1.0 / std::max(1, node.gpus - 1) * nvlink,
                          node.gpu_latency, pcie);
    case InNodeFabric::kHybridCubeMesh:
      return HybridCubeMeshNode(nics, 1.0 / kCubeMeshLinks * nvlink, true, node.gpu_latency, pcie);
    case InNodeFabric::kGraph:
      break;
  }
  return BuildNodeGraph(GraphText(cluster, fractions)).graph;
}

FabricLayout FabricLayoutOf(const ClusterSpec& cluster, const LinkFractions& fractions) {
  const FabricSpec& fabric = cluster.fabric;
  FabricLayout layout;
  layout.nodes = cluster.nodes;
  layout.nics_per_node = fabric.nics_per_node;
  layout.nic_bandwidth = fractions.nic * fabric.nic_bandwidth;
  layout.latency = fabric.latency;
  layout.hop_latency = fabric.hop_latency;
  layout.kind = fabric.kind;
  layout.routing = fabric.routing;
  layout.seed = static_cast<std::uint64_t>(fabric.seed);
  if (auto* torus = std::get_if<TorusLayout>(&layout.kind)) {
    torus->link_bandwidth = fractions.fabric * torus->link_bandwidth;
  } else if (auto* dragonfly = std::get_if<DragonflyLayout>(&layout.kind)) {
    dragonfly->local_bandwidth = fractions.fabric * dragonfly->local_bandwidth;
    dragonfly->global_bandwidth = fractions.fabric * dragonfly->global_bandwidth;
  } else if (auto* graph = std::get_if<GraphLayout>(&layout.kind)) {
    graph->links = Expanded(graph->links, nullptr);
    for (FabricLink& link : graph->links) link.bandwidth = fractions.fabric * link.bandwidth;
  }
  return layout;
}

TopologyProblems CheckTopology(const ClusterSpec& cluster) {
  TopologyProblems problems = Prefixed("node", NodeProblems(cluster));
  if (cluster.nodes > 1) {
    for (TopologyProblem& problem : Prefixed("fabric", FabricProblems(cluster))) {
      problems.push_back(std::move(problem));
    }
  }
  return problems;
}

ClusterNetwork ClusterNetworkOf(const ClusterSpec& cluster, const LinkFractions& fractions) {
  const TopologyProblems problems = CheckTopology(cluster);
  if (!problems.empty()) throw std::invalid_argument(TextOf(problems));
  NodeGraph node = NodeGraphOf(cluster, fractions);
  if (cluster.nodes == 1) return MakeClusterNetwork(std::move(node));
  return MakeClusterNetwork(std::move(node), FabricLayoutOf(cluster, fractions));
}

}  // namespace zerosim
