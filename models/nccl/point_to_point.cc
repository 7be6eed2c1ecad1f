#include "models/nccl/point_to_point.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace zerosim {
namespace {

constexpr int kNodePool = 32;
constexpr std::int64_t kBytesPerChannel = 16'777'216;
constexpr double kNetGBpsPerChannel = 14;
constexpr std::int64_t kTinyMessage = 256;

int PowerOfTwoAtLeast(int n) {
  return static_cast<int>(std::bit_ceil(static_cast<unsigned>(std::max(1, n))));
}

int NodeChannelsPerPeer(const NcclCommunicator& c, Bytes size) {
  if (c.topology.nvlinks == 0) return 2;
  int channels = kNodePool;
  while (channels > 1 && channels * c.group.ranks() > kNodePool) channels /= 2;
  while (channels < kNodePool && size.count() / channels > kBytesPerChannel) channels *= 2;
  return channels;
}

int NetworkChannelsPerPeer(const NcclCommunicator& c) {
  if (c.overrides.channels_per_net_peer > 0) return c.overrides.channels_per_net_peer;
  const int pool = PowerOfTwoAtLeast(c.graphs.channels);
  const int ranks = c.group.ranks();
  if (c.version < NcclVersion{2, 20, 0}) return 2;
  if (c.version < NcclVersion{2, 29, 0}) return 2 * ranks > 4 * pool ? 1 : 2;
  const double nic = SearchedNic(c.topology).gigabytes_per_second();
  int channels = PowerOfTwoAtLeast(static_cast<int>(std::ceil(nic / kNetGBpsPerChannel)));
  while (channels > 1 && channels * CeilDiv(ranks, 8) > pool) channels /= 2;
  return channels;
}

// What the pipelines of several peers cost beyond their bytes.
Seconds Fill(Seconds transfer, Seconds most, Seconds fill_at) {
  return Ratio(transfer, transfer + fill_at) * most;
}

NcclTime SendTime(const NcclCommunicator& c, Bytes size, const NcclAchieved& achieved) {
  NcclTime time;
  const int channels = ChannelsPerPeer(c, size);
  BytesPerSecond rate;
  if (c.group.nodes == 1) {
    time.node_steps = 1;
    time.latency = achieved.send_base;
    time.gpu_link_bytes = size;
    rate = achieved.send_gpu_link * GpuLink(c.topology);
    if (c.topology.nvlinks > 0) rate = std::min(rate, channels * achieved.nvlink_channel);
  } else {
    time.network_steps = 1;
    time.latency = achieved.send_base_between_nodes * achieved.send_base;
    // The last GPU of each node sends to the first of the next.
    time.gpu_link_bytes = c.group.gpus_per_node > 1 ? size : Bytes();
    time.node_egress_bytes = size;
    const int nics = NicsInUse(c.topology, c.group);
    const double nics_per_gpu = 1.0 * nics / std::min(c.group.gpus_per_node, nics);
    rate = std::min(achieved.send_network * nics_per_gpu * c.topology.nic,
                    channels * achieved.network_channel);
  }
  time.transfer = size / rate;
  return time;
}

NcclTime AllToAllTime(const NcclCommunicator& c, Bytes size, const NcclAchieved& achieved) {
  NcclTime time;
  const int ranks = c.group.ranks();
  const int gpus = c.group.gpus_per_node;
  const std::int64_t remote = ranks - gpus;
  const Bytes message = Bytes::Count(size.count() / ranks);
  time.node_steps = gpus - 1;
  time.network_steps = static_cast<int>(remote);
  time.latency =
      achieved.send_base + remote * achieved.network_peer + (gpus - 1) * achieved.node_peer;
  if (message.count() < kTinyMessage) {
    time.latency += remote * achieved.tiny_network_peer;
  }
  const double share = 1.0 / ranks;
  const BytesPerSecond link = achieved.all_to_all_gpu_link * GpuLink(c.topology);
  Seconds transfer = (gpus - 1) * share * (size / link);
  time.gpu_link_bytes = Bytes::Count(size.count() / ranks * (gpus - 1));
  if (remote > 0) {
    const BytesPerSecond nics = NicsInUse(c.topology, c.group) * c.topology.nic;
    const BytesPerSecond of_gpu = achieved.all_to_all_network / gpus * nics;
    transfer = std::max(transfer, static_cast<double>(remote) * share * (size / of_gpu));
    time.node_egress_bytes = Bytes::Count(size.count() / ranks * remote * gpus);
  }
  time.transfer = transfer;
  time.fill =
      Fill(transfer, remote > 0 ? achieved.network_fill : achieved.node_fill, achieved.fill_at);
  return time;
}

}  // namespace

int ChannelsPerPeer(const NcclCommunicator& communicator, Bytes size) {
  return communicator.group.nodes == 1 ? NodeChannelsPerPeer(communicator, size)
                                       : NetworkChannelsPerPeer(communicator);
}

NcclTime PointToPointTime(const NcclCommunicator& communicator, const NcclCall& call,
                          const NcclAchieved& achieved) {
  const bool all_to_all = call.collective == NcclCollective::kAllToAll;
  NcclTime time = all_to_all ? AllToAllTime(communicator, call.size, achieved)
                             : SendTime(communicator, call.size, achieved);
  if (call.gpus_per_process > 1) {
    time.launch_floor = call.gpus_per_process *
                        (all_to_all ? achieved.all_to_all_launch_per_gpu : achieved.launch_per_gpu);
  }
  return time;
}

}  // namespace zerosim
