#include "models/nccl/physical_time.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "models/nccl/point_to_point.h"

namespace zerosim {
namespace {

using enum NcclAlgorithm;
using enum NcclCollective;
using enum NcclProtocol;

// Payload over bytes on the wire: LL sends a flag with every 4 bytes, LL128 8 bytes of 128.
constexpr ByProtocol<double> kPayload{0.5, 120.0 / 128, 1};
// The most of a NIC that LL and LL128 are taken to fill.
constexpr double kLlOfNic = 0.5;
constexpr double kLl128OfNic = 0.92;
// LL and LL128 steps grow with their message between these.
constexpr double kCreepFrom = 64;
constexpr double kCreepTo = 32768;

// Bytes that the busiest GPU sends its peers and the busiest node sends out, per byte of size.
struct Traffic {
  double gpu_link = 0;
  double node_egress = 0;
};

double RingTraffic(NcclCollective collective, int ranks) {
  if (collective == kAllReduce) return 2.0 * (ranks - 1) / ranks;
  if (collective == kBroadcast || collective == kReduce) return 1;
  return (ranks - 1.0) / ranks;
}

Traffic TrafficOf(NcclCollective collective, NcclAlgorithm algorithm, const NcclGroup& group) {
  const int ranks = group.ranks();
  Traffic traffic;
  switch (algorithm) {
    case kRing:
    case kPat:
      traffic.gpu_link = traffic.node_egress = RingTraffic(collective, ranks);
      break;
    case kTree:
      traffic.gpu_link = 2;
      // Of two nodes each sends the other half of a reduction and half of a broadcast; of more, one
      // in the middle of a tree sends up to its parent and down to two children.
      traffic.node_egress = group.nodes == 2 ? 1 : 2;
      break;
    case kNvlsTree:
      traffic.gpu_link = 1 + 1.0 / group.gpus_per_node;
      traffic.node_egress = group.nodes == 2 ? 1 : 2;
      break;
    case kNvls:
      traffic.gpu_link = collective == kAllReduce ? 1 + 1.0 / ranks : 1;
      traffic.node_egress = 1;
      break;
    case kCollNetDirect:
    case kCollNetChain:
      traffic.gpu_link = collective == kAllReduce ? 2 : 1;
      traffic.node_egress = 1;
      break;
  }
  if (group.nodes == 1) traffic.node_egress = 0;
  if (group.gpus_per_node == 1) traffic.gpu_link = 0;
  return traffic;
}

Seconds TimeOfBytes(Bytes size, double factor, BytesPerSecond rate) {
  return factor == 0 ? Seconds() : factor * (size / rate);
}

// A smooth maximum: both limits slow each other down where they are alike.
Seconds SoftMax(Seconds a, Seconds b) {
  const auto fourth = [](Seconds t) { return std::pow(t.seconds(), 4); };
  return Seconds::Count(std::pow(fourth(a) + fourth(b), 0.25));
}

// By NCCL's own bandwidth, which the NIC bounds too.
Seconds LowLatencyTransfer(const NcclCommunicator& c, NcclCollective collective,
                           const NcclChoice& choice, Bytes size, double node_egress) {
  const std::size_t p = Index(choice.protocol);
  BytesPerSecond rate = c.newest_costs[Index(collective)][Index(choice.algorithm)][p].bandwidth;
  if (choice.algorithm == kTree && size.count() >= 64) {
    const auto& factors = c.newest.tree_correction[p];
    const std::size_t power = std::bit_width(static_cast<std::uint64_t>(size.count())) - 7;
    if (power < factors.size()) rate = factors[power] * rate;
  }
  const Seconds shipped = size / rate;
  if (c.group.nodes == 1) return shipped;
  const double of_nic = choice.protocol == kLl ? kLlOfNic : kLl128OfNic;
  const BytesPerSecond nics = of_nic * NicsInUse(c.topology, c.group) * c.topology.nic;
  return SoftMax(shipped, TimeOfBytes(size, node_egress, nics));
}

Seconds SimpleTransfer(const NcclCommunicator& c, NcclAlgorithm algorithm, Bytes size,
                       const Traffic& traffic, const NcclAchieved& achieved) {
  double of_link = achieved.gpu_link;
  if (algorithm == kNvls) of_link = achieved.nvls;
  if (algorithm == kNvlsTree) of_link = achieved.nvls_tree;
  const Seconds in_node = TimeOfBytes(size, traffic.gpu_link, of_link * GpuLink(c.topology));
  if (c.group.nodes == 1) return in_node;
  const BytesPerSecond nics = achieved.network * NicsInUse(c.topology, c.group) * c.topology.nic;
  return std::max(in_node, TimeOfBytes(size, traffic.node_egress, nics));
}

Seconds Latency(const NcclCommunicator& c, const NcclChoice& choice, const NcclLatency& steps,
                Bytes size, const NcclAchieved& achieved) {
  if (choice.protocol == kSimple) {
    const bool hidden = choice.algorithm == kRing && c.group.nodes > 1;
    return steps.base +
           (hidden ? achieved.ring_simple_latency : 1.0) * (steps.node() + steps.network());
  }
  Seconds latency = steps.total();
  if (c.group.nodes > 1) {
    const int parts = choice.algorithm == kTree ? 1 : c.group.ranks();
    const double message = static_cast<double>(size.count()) / parts;
    const double doublings = std::log2(std::clamp(message, kCreepFrom, kCreepTo) / kCreepFrom);
    latency += steps.network_steps * (doublings * achieved.network_step_per_doubling);
  }
  return latency;
}

Bytes Scaled(Bytes size, double factor) {
  return Bytes::Count(std::llround(factor * static_cast<double>(size.count())));
}

}  // namespace

std::optional<NcclTime> TimeOf(const NcclCommunicator& communicator, const NcclCall& call,
                               const NcclAchieved& achieved) {
  const NcclCommunicator& c = communicator;
  if (c.group.ranks() == 1) return NcclTime();
  if (Index(call.collective) >= kNcclTunedCollectives) {
    return PointToPointTime(c, call, achieved);
  }
  NcclTime time;
  time.choice = Choose(c, call.collective, call.size);
  if (!time.choice) return std::nullopt;

  const NcclChoice& choice = *time.choice;
  const NcclLatency steps =
      LatencyOf(call.collective, choice.algorithm, choice.protocol, c.topology, c.group, c.newest);
  time.node_steps = steps.node_steps;
  time.network_steps = steps.network_steps;
  time.latency = Latency(c, choice, steps, call.size, achieved);

  const Traffic traffic = TrafficOf(call.collective, choice.algorithm, c.group);
  const double wire = 1 / kPayload[Index(choice.protocol)];
  time.gpu_link_bytes = Scaled(call.size, wire * traffic.gpu_link);
  time.node_egress_bytes = Scaled(call.size, wire * traffic.node_egress);
  if (choice.protocol == kSimple) {
    time.transfer = SimpleTransfer(c, choice.algorithm, call.size, traffic, achieved);
    const bool between_nodes = c.group.nodes > 1;
    if (!between_nodes || choice.algorithm != kRing) {
      time.fill = Ratio(time.transfer, time.transfer + achieved.fill_at) *
                  (between_nodes ? achieved.network_fill : achieved.node_fill);
    }
  } else {
    time.transfer = LowLatencyTransfer(c, call.collective, choice, call.size, traffic.node_egress);
  }
  if (call.gpus_per_process > 1) {
    time.launch_floor = call.gpus_per_process * achieved.launch_per_gpu;
  }
  return time;
}

}  // namespace zerosim
