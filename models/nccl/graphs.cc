#include "models/nccl/graphs.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <stdexcept>

#include <fmt/format.h>

namespace zerosim {
namespace {

// Bandwidths that the search tries, GB/s.
constexpr double kInNode[] = {40, 30, 20, 18, 15, 12, 10, 9, 7, 6, 5, 4, 3};
constexpr double kInNode90[] = {60, 50, 40, 30, 24, 20, 15, 12, 11, 6, 3};
constexpr double kInNode100[] = {90, 80, 70, 60, 50, 45, 40, 30, 24, 20, 19, 18};
constexpr double kBetween[] = {48, 30, 28, 24, 20, 18,  15,  12,   10,  9,
                               7,  6,  5,  4,  3,  2.4, 1.2, 0.24, 0.12};
constexpr double kBetween90[] = {48, 45, 42, 40, 30,  24,  22,   20,  17.5,
                                 15, 12, 6,  3,  2.4, 1.2, 0.24, 0.12};
constexpr double kBetween100[] = {96, 86,   80, 48, 45.1, 42, 40,  30,  24,   22,
                                  20, 17.5, 15, 12, 6,    3,  2.4, 1.2, 0.24, 0.12};

// src/graph/topo.h, GB/s.
constexpr double kNicPer100Gbps = 12;
constexpr double kPcie3 = 12;

constexpr double kRounding = 1e-6;
constexpr int kMaxSearchChannels = 16;
constexpr int kMaxChannels = 32;
constexpr double kMostNvls = 60;  // GB/s
constexpr int kMaxNvlsHeads = 32;
constexpr int kNvlsChannels = 16;     // NVLS_NCHANNELS of sm90; of sm100 between nodes
constexpr int kNvlsChannels100 = 32;  // of sm100 in one NVLink domain

BytesPerSecond Rate(double gigabytes_per_second) {
  return BytesPerSecond::GigabytesPerSecond(gigabytes_per_second);
}

std::span<const double> InNodeSpeeds(int compute_capability) {
  if (compute_capability >= 100) return kInNode100;
  if (compute_capability >= 90) return kInNode90;
  return kInNode;
}

std::span<const double> BetweenSpeeds(int compute_capability) {
  if (compute_capability >= 100) return kBetween100;
  if (compute_capability >= 90) return kBetween90;
  return kBetween;
}

double NvlinkConstant(int compute_capability) {
  if (compute_capability >= 100) return 40.1;
  if (compute_capability >= 90) return 20.6;
  if (compute_capability == 86) return 12;
  if (compute_capability >= 70) return 20;
  return 18;
}

// The channels of most bandwidth together; of several the fastest.
NcclGraph InOneNode(const NcclTopology& topology, double link) {
  NcclGraph best{1, Rate(link), Rate(link)};
  double most = 0;
  for (const double speed : InNodeSpeeds(topology.compute_capability)) {
    const int channels =
        std::min(static_cast<int>(std::floor((link + kRounding) / speed)), kMaxSearchChannels);
    if (channels * speed <= most + kRounding) continue;
    most = channels * speed;
    best = {channels, Rate(speed), Rate(speed)};
  }
  return best;
}

// One channel a NIC, as fast as the NIC and the GPUs' links bear.
NcclGraph BetweenNodes(const NcclTopology& topology, int nics, double link) {
  const double nic = SearchedNic(topology).gigabytes_per_second();
  for (const double speed : BetweenSpeeds(topology.compute_capability)) {
    if (speed <= nic + kRounding && speed * nics <= link + kRounding) {
      return {nics, Rate(speed), Rate(speed)};
    }
  }
  return {nics, Rate(nic), Rate(nic)};
}

// Two rings in place of a fast one, so that more of the GPU works on it.
void Duplicate(const NcclTopology& topology, NcclGraph* graph) {
  const double speed = graph->in_node.gigabytes_per_second();
  if (speed < 25) return;
  if (topology.compute_capability > 80 && speed < 50 && graph->channels > 4) return;
  graph->channels *= 2;
  graph->in_node = 0.5 * graph->in_node;
  graph->between_nodes = 0.5 * graph->between_nodes;
}

// A tree has as many channels as the ring. Its bandwidth in the node, which carries more than the
// NICs, is raised step by step, as long as it is below twice theirs and the links bear it.
NcclGraph TreeOf(const NcclTopology& topology, const NcclGroup& group, double link,
                 NcclGraph ring) {
  if (group.nodes == 1 || group.gpus_per_node == 1) return ring;
  const std::span<const double> speeds = BetweenSpeeds(topology.compute_capability);
  const double between = ring.between_nodes.gigabytes_per_second();
  double in_node = between;
  for (auto faster = speeds.rbegin(); faster != speeds.rend(); ++faster) {
    if (*faster <= in_node + kRounding) continue;
    if (in_node >= 2 * between || *faster * ring.channels > link + kRounding) break;
    in_node = *faster;
  }
  return {ring.channels, Rate(in_node), ring.between_nodes};
}

// One channel a GPU, which leads it. The outcome of this search is inferred, not read: of the
// table's bandwidths the highest that all GPUs together stay within one GPU's links with, at most
// 60 GB/s. It gives the choices that are logged (a ring on 2 and 4 GPUs of an H100 node, NVLS on
// 6).
NcclGraph NvlsOf(const NcclTopology& topology, const NcclGroup& group, int nics, double link) {
  const int heads = std::min(group.gpus_per_node, kMaxNvlsHeads);
  if (!topology.nvls || topology.nvlinks == 0 || topology.compute_capability < 90 || heads < 2) {
    return {};
  }
  const auto fastest = [&](std::span<const double> speeds, double most, double otherwise) {
    for (const double speed : speeds) {
      if (speed <= most + kRounding && speed * heads <= link + kRounding) return speed;
    }
    return otherwise;
  };
  const int capability = topology.compute_capability;
  const double in_node = fastest(InNodeSpeeds(capability), kMostNvls, link / heads);
  double between = 0;
  if (group.nodes == 1) {
    // Nothing holds back what would go between nodes: it is raised to the fastest below which it is
    // less than twice as fast as in the node.
    between = in_node;
    const std::span<const double> speeds = InNodeSpeeds(capability);
    for (auto faster = speeds.rbegin(); faster != speeds.rend() && between < 2 * in_node;
         ++faster) {
      between = std::max(between, *faster);
    }
  } else {
    const double share = SearchedNic(topology).gigabytes_per_second() * nics / heads;
    between = fastest(BetweenSpeeds(capability), share, share);
  }
  return {heads, Rate(in_node), Rate(between)};
}

}  // namespace

BytesPerSecond SearchedGpuLink(const NcclTopology& topology) {
  if (topology.nvlinks > 0) {
    return Rate(topology.nvlinks * NvlinkConstant(topology.compute_capability));
  }
  return Rate(kPcie3 * std::exp2(topology.pcie_generation - 3));
}

BytesPerSecond SearchedNic(const NcclTopology& topology) {
  return Ratio(topology.nic, BytesPerSecond::GigabitsPerSecond(100)) * Rate(kNicPer100Gbps);
}

int NicsInUse(const NcclTopology& topology, const NcclGroup& group) {
  const double share = 1.0 * topology.nics_per_node * group.gpus_per_node / topology.gpus_per_node;
  return std::clamp(static_cast<int>(std::lround(share)), 1, std::max(1, topology.nics_per_node));
}

NcclGraphs SearchGraphs(const NcclTopology& topology, const NcclGroup& group) {
  if (group.nodes < 1 || group.gpus_per_node < 1 || group.gpus_per_node > topology.gpus_per_node) {
    throw std::invalid_argument(fmt::format("{} nodes with {} of {} GPUs make no communicator",
                                            group.nodes, group.gpus_per_node,
                                            topology.gpus_per_node));
  }
  if (group.nodes > 1 && (topology.nics_per_node < 1 || topology.nic <= BytesPerSecond())) {
    throw std::invalid_argument("a communicator of several nodes needs NICs");
  }

  const double link = SearchedGpuLink(topology).gigabytes_per_second();
  const int nics = NicsInUse(topology, group);
  NcclGraphs graphs;
  if (group.nodes == 1) {
    graphs.ring = InOneNode(topology, link);
  } else {
    // A lone GPU of a node sends what it receives through its NIC and nothing to peers.
    const double used = group.gpus_per_node == 1 ? HUGE_VAL : link;
    graphs.ring = BetweenNodes(topology, nics, used);
  }
  Duplicate(topology, &graphs.ring);
  graphs.tree = TreeOf(topology, group, link, graphs.ring);
  graphs.nvls = NvlsOf(topology, group, nics, link);
  if (topology.collnet && group.nodes > 1) {
    graphs.collnet = {nics, graphs.tree.in_node, graphs.tree.between_nodes};
  }

  graphs.channels = std::min(2 * graphs.ring.channels, kMaxChannels);
  if (group.nodes > 1 && topology.compute_capability >= 90 && graphs.channels < 16 &&
      graphs.ring.in_node > Rate(45)) {
    graphs.channels = std::min(2 * graphs.channels, 16);
  }
  if (graphs.nvls.channels > 0) {
    const bool one_domain = group.nodes == 1 && topology.compute_capability >= 100;
    graphs.nvls_channels = one_domain ? kNvlsChannels100 : kNvlsChannels;
  }
  return graphs;
}

}  // namespace zerosim
