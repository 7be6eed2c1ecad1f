#include "models/nccl/cost_table.h"

#include <algorithm>
#include <bit>

namespace zerosim {
namespace {

using enum NcclAlgorithm;
using enum NcclCollective;
using enum NcclProtocol;

int Log2(int n) {
  return static_cast<int>(std::bit_width(static_cast<unsigned>(n))) - 1;
}

bool IsGatherOrScatter(NcclCollective collective) {
  return collective == kAllGather || collective == kReduceScatter;
}

bool IsNvls(NcclAlgorithm algorithm) {
  return algorithm == kNvls || algorithm == kNvlsTree;
}

bool IsCollNet(NcclAlgorithm algorithm) {
  return algorithm == kCollNetDirect || algorithm == kCollNetChain;
}

int RingSteps(NcclCollective collective, int ranks) {
  if (collective == kAllReduce) return 2 * (ranks - 1);
  return IsGatherOrScatter(collective) ? ranks - 1 : ranks;
}

// What the five tables of one version, topology and group are made of.
struct Case {
  const NcclTopology& topology;
  const NcclGroup& group;
  const NcclGraphs& graphs;
  const NcclVersion& version;
  const TunerConstants& constants;

  std::size_t generation() const { return Index(GenerationOf(topology.compute_capability)); }
  std::size_t nodes_index() const { return static_cast<std::size_t>(std::min(group.nodes, 3)) - 1; }
  BytesPerSecond Cap(const ByGeneration& caps) const { return caps[generation()][nodes_index()]; }
  // Between nodes LL is bounded by the processor, not by the GPU.
  BytesPerSecond LlCap() const {
    if (group.nodes == 1) return Cap(constants.ll);
    const GpuGeneration row =
        topology.cpu == CpuVendor::kAmd ? GpuGeneration::kAmpere : GpuGeneration::kVolta;
    return constants.ll[Index(row)][nodes_index()];
  }
  NcclGraph Graph(NcclAlgorithm algorithm) const {
    if (IsNvls(algorithm)) return graphs.nvls;
    if (IsCollNet(algorithm)) return graphs.collnet;
    return algorithm == kTree ? graphs.tree : graphs.ring;
  }
};

BytesPerSecond NvlsChannel(const Case& c, NcclCollective collective, NcclAlgorithm algorithm) {
  const NcclGraph& graph = c.graphs.nvls;
  const int gpus = c.group.gpus_per_node;
  const double efficiency = c.constants.nvls_efficiency[c.generation()];
  if (efficiency == 0) {
    if (algorithm == kNvlsTree) {
      return std::min(graph.in_node, (c.group.nodes <= 2 ? 1.0 : 0.5) * graph.between_nodes);
    }
    if (collective == kAllReduce) return std::min(graph.in_node, graph.between_nodes);
    return std::min((gpus - 1.0) / gpus * graph.in_node, 0.9 * graph.between_nodes);
  }
  BytesPerSecond in_node = efficiency * (graph.channels - 1.0) / graph.channels * graph.in_node;
  // An all-reduce pipelines two operations.
  in_node = (collective == kAllReduce ? 2.0 : (gpus - 1.0) / gpus) * in_node;
  if (algorithm == kNvls) return std::min(in_node, graph.between_nodes);
  const double both_ways = c.group.nodes <= 2 ? 2 : 1;
  return std::min({in_node, both_ways * graph.between_nodes, c.Cap(c.constants.nvls_tree_channel)});
}

BytesPerSecond RingBus(const Case& c, NcclCollective collective, NcclProtocol protocol,
                       BytesPerSecond bus) {
  const TunerConstants& k = c.constants;
  const int channels = c.graphs.ring.channels;
  if (protocol == kLl) {
    const bool reducing = c.group.nodes > 1 || collective == kAllReduce || collective == kReduce;
    return std::min(c.LlCap(), (reducing ? k.ring_ll_reducing : k.ring_ll_copying) * bus);
  }
  if (protocol == kLl128) {
    const double share = c.group.gpus_per_node == 1 ? k.ring_ll128_one_gpu : k.ring_ll128;
    return std::min({share * bus, channels * c.Cap(k.ring_ll128_channel),
                     channels * k.ring_ll128_collective_channel[Index(collective)]});
  }
  return bus;
}

BytesPerSecond TreeBus(const Case& c, NcclProtocol protocol, BytesPerSecond bus) {
  const TunerConstants& k = c.constants;
  const int channels = c.graphs.tree.channels;
  bus = std::min({k.tree * bus, channels * c.Cap(k.tree_channel),
                  c.Cap(protocol == kLl128 ? k.tree_ll128_bus : k.tree_bus)});
  if (protocol == kLl) bus = std::min(1 / 3.8 * bus, c.LlCap());
  if (protocol == kLl128) {
    const double share = c.group.nodes == 1 ? 7.0 / 9 : k.tree_ll128_between_nodes;
    bus = std::min(share * bus, channels * c.Cap(k.tree_ll128_channel));
  }
  // A node of one GPU has trees of the simple pattern, of which that GPU carries all.
  return c.group.gpus_per_node == 1 ? 0.85 * bus : bus;
}

BytesPerSecond CollNetBus(const Case& c, NcclCollective collective, NcclAlgorithm algorithm,
                          BytesPerSecond bus) {
  if (algorithm == kCollNetChain) return bus;
  const NcclGraph& graph = c.graphs.collnet;
  if (IsGatherOrScatter(collective)) {
    return c.group.gpus_per_node * std::min(graph.in_node, 0.9 * graph.between_nodes);
  }
  // Every GPU would need a NIC of its own for full speed.
  double gpus_per_nic = 1.0 * c.group.gpus_per_node / graph.channels;
  gpus_per_nic -= (gpus_per_nic - 1) / 2;
  return (c.topology.compute_capability >= 90 ? 0.85 : 1.0) / gpus_per_nic * bus;
}

// The algbw of one entry that is not ruled out.
BytesPerSecond Bandwidth(const Case& c, NcclCollective collective, NcclAlgorithm algorithm,
                         NcclProtocol protocol) {
  const NcclGraph graph = c.Graph(algorithm);
  const bool node_rate = c.group.nodes <= 2 || IsCollNet(algorithm);
  const BytesPerSecond channel = IsNvls(algorithm) ? NvlsChannel(c, collective, algorithm)
                                 : node_rate       ? graph.in_node
                                                   : graph.between_nodes;
  BytesPerSecond bus = graph.channels * channel;
  if (algorithm == kRing) bus = RingBus(c, collective, protocol, bus);
  if (algorithm == kTree) bus = TreeBus(c, protocol, bus);
  if (algorithm == kPat) bus = 0.75 * bus;
  if (IsCollNet(algorithm)) bus = CollNetBus(c, collective, algorithm, bus);

  const int ranks = c.group.ranks();
  const double per_step = 1.0 * ranks / RingSteps(collective, ranks);
  if (algorithm == kRing) return per_step * bus;
  if (IsGatherOrScatter(collective)) return bus;
  if (!IsNvls(algorithm)) return 0.5 * bus;
  return (c.constants.nvls_efficiency[c.generation()] == 0 ? 5.0 / 6 : per_step) * bus;
}

bool HasAlgorithm(const Case& c, NcclCollective collective, NcclAlgorithm algorithm) {
  const bool several_nodes = c.group.nodes > 1;
  switch (algorithm) {
    case kRing:
      return true;
    case kTree:
      return collective == kAllReduce;
    case kCollNetDirect:
      return c.graphs.collnet.channels > 0 && c.topology.nvls &&
             c.version >= NcclVersion{2, 14, 0} &&
             (collective == kAllReduce || (IsGatherOrScatter(collective) &&
                                           c.group.gpus_per_node <= c.graphs.collnet.channels));
    case kCollNetChain:
      return c.graphs.collnet.channels > 0 && c.version >= NcclVersion{2, 14, 0} &&
             collective == kAllReduce;
    case kNvls:
      // Between nodes only with switches that reduce.
      return c.graphs.nvls.channels >= 2 && c.version >= NcclVersion{2, 17, 0} &&
             (collective == kAllReduce || IsGatherOrScatter(collective)) &&
             (!several_nodes || c.topology.collnet);
    case kNvlsTree:
      return c.graphs.nvls.channels >= 2 && c.version >= NcclVersion{2, 18, 0} &&
             collective == kAllReduce && several_nodes;
    case kPat:
      return IsGatherOrScatter(collective) && several_nodes && c.group.gpus_per_node == 1 &&
             c.version >= NcclVersion{2, 23, 0} && c.topology.compute_capability >= 60;
  }
  return false;
}

bool TrustsLl128(const Case& c) {
  return c.topology.compute_capability >= 70 && c.topology.nvlinks > 0 &&
         (c.group.nodes == 1 || c.topology.ll128_between_nodes);
}

bool HasProtocol(const Case& c, NcclAlgorithm algorithm, NcclProtocol protocol) {
  if (protocol == kSimple) return true;
  if (algorithm != kRing && algorithm != kTree) return false;
  return protocol == kLl || TrustsLl128(c);
}

bool IsAllowed(const Case& c, const NcclOverrides& overrides, NcclCollective collective,
               NcclAlgorithm algorithm, NcclProtocol protocol) {
  const auto& algorithms = overrides.algorithms[Index(collective)];
  const auto& protocols = overrides.protocols[Index(collective)];
  if (algorithms && !(*algorithms)[Index(algorithm)]) return false;
  if (!protocols) return HasProtocol(c, algorithm, protocol);
  const bool has_any = algorithm == kRing || algorithm == kTree || protocol == kSimple;
  return has_any && (*protocols)[Index(protocol)];
}

}  // namespace

NcclLatency LatencyOf(NcclCollective collective, NcclAlgorithm algorithm, NcclProtocol protocol,
                      const NcclTopology& topology, const NcclGroup& group,
                      const TunerConstants& constants) {
  const std::size_t a = Index(algorithm);
  const std::size_t p = Index(protocol);
  const bool several_nodes = group.nodes > 1;
  NcclLatency latency;
  latency.base = constants.base[a][p];
  latency.node_step = (topology.nvlinks > 0 ? constants.nvlink : constants.pcie)[a][p];
  if (several_nodes && protocol == kLl) {
    latency.node_step = constants.ll_in_node_factor * latency.node_step;
  }
  const bool as_tree = group.gpus_per_node == 1 && constants.one_gpu_pays_tree;
  latency.network_step = constants.network[as_tree ? Index(kTree) : a][p];

  switch (algorithm) {
    case kRing:
      if (collective == kBroadcast || collective == kReduce) {
        (several_nodes ? latency.network_steps : latency.node_steps) = 1;
        latency.network_step = constants.network[a][p];
        break;
      }
      if (several_nodes) {
        const int crossings = constants.rings_cross_once ? group.nodes - 1 : group.nodes;
        latency.network_steps = collective == kAllReduce ? 2 * crossings : group.nodes - 1;
        // Each step has the network's proxy post something, which bounds it from below.
        const double post = topology.cpu == CpuVendor::kAmd ? 2.0 : 1.0;
        latency.node_step =
            std::max(latency.node_step, Seconds::Micros(protocol == kSimple ? 3 * post : post));
      }
      latency.node_steps =
          std::max(0, RingSteps(collective, group.ranks()) - latency.network_steps);
      break;
    case kTree:
      latency.node_steps = 2 * (group.gpus_per_node - 1);
      latency.network_steps = 2 * Log2(group.nodes);
      break;
    case kCollNetDirect:
      latency.node_steps = group.gpus_per_node > 1 ? 2 : 0;
      latency.network_steps = 1;
      // Serialization of the node's GPUs, 0.4 us each, both ways.
      latency.base = latency.base + (group.gpus_per_node - 1) * Seconds::Micros(2 * 0.4);
      break;
    case kCollNetChain:
      latency.node_steps = 2 * (group.gpus_per_node - 1);
      latency.network_steps = 1;
      break;
    case kNvls:
      latency.node_steps = 1;
      latency.network_steps = several_nodes ? 1 : 0;
      break;
    case kNvlsTree:
      latency.node_steps = 1;
      latency.network_steps = 2 * Log2(group.nodes);
      break;
    case kPat:
      latency.node_steps = group.ranks();
      latency.node_step = Seconds::Micros(2.8);
      latency.network_steps = Log2(group.nodes);
      latency.network_step = 1 / 3.5 * latency.network_step;
      break;
  }
  return latency;
}

NcclCostTable CostTable(const NcclTopology& topology, const NcclGroup& group,
                        const NcclGraphs& graphs, const NcclVersion& version,
                        const NcclOverrides& overrides, const TunerConstants& constants) {
  const Case c{topology, group, graphs, version, constants};
  NcclCostTable table{};
  if (group.ranks() == 1) return table;
  for (std::size_t i = 0; i < kNcclTunedCollectives; ++i) {
    const auto collective = static_cast<NcclCollective>(i);
    for (std::size_t a = 0; a < kNcclAlgorithms; ++a) {
      const auto algorithm = static_cast<NcclAlgorithm>(a);
      if (!HasAlgorithm(c, collective, algorithm)) continue;
      for (std::size_t p = 0; p < kNcclProtocols; ++p) {
        const auto protocol = static_cast<NcclProtocol>(p);
        if (!IsAllowed(c, overrides, collective, algorithm, protocol)) continue;
        table[i][a][p] = {
            LatencyOf(collective, algorithm, protocol, topology, group, constants).total(),
            Bandwidth(c, collective, algorithm, protocol)};
      }
    }
  }
  return table;
}

}  // namespace zerosim
