#include "models/nccl/tuner.h"

#include <algorithm>
#include <bit>

namespace zerosim {
namespace {

using enum NcclAlgorithm;
using enum NcclProtocol;

// Work below which a channel, then a warp, is not worth its while: bytes a thread
// (NCCL_*_THREAD_THRESHOLD; of Ring LL a rank), and threads of a block.
constexpr ByProtocol<std::int64_t> kThreadThreshold{8, 8, 64};
constexpr ByProtocol<int> kThreads{512, 640, 512};
constexpr int kThreadsOfSlowLinks =
    256;  // Ring Simple where rings share no more than a PCIe 3 slot
constexpr int kMaxThreads = 640;
constexpr int kWarp = 32;

// From 2.22 each channel also gets at least that much traffic (enqueue.cc, MinTrafficPerChannel).
constexpr std::int64_t kMinTrafficPerChannel = 32'768;

bool IsNvls(NcclAlgorithm algorithm) {
  return algorithm == kNvls || algorithm == kNvlsTree;
}

bool IsCollNet(NcclAlgorithm algorithm) {
  return algorithm == kCollNetDirect || algorithm == kCollNetChain;
}

int Clamped(const NcclOverrides& overrides, int channels) {
  channels = std::max(channels, overrides.min_channels);
  return overrides.max_channels > 0 ? std::min(channels, overrides.max_channels) : channels;
}

int Threads(const NcclCommunicator& communicator, NcclAlgorithm algorithm, NcclProtocol protocol) {
  if (algorithm != kRing && algorithm != kTree) return kMaxThreads;
  if (communicator.overrides.threads > 0 && protocol != kLl128) {
    return communicator.overrides.threads;
  }
  const NcclGraph& ring = communicator.graphs.ring;
  const bool slow = ring.channels * ring.in_node <= BytesPerSecond::GigabytesPerSecond(12);
  if (algorithm == kRing && protocol == kSimple && slow) return kThreadsOfSlowLinks;
  return kThreads[Index(protocol)];
}

// Channels and threads shrink with the size, as in ncclGetAlgoInfo; then channels as
// scheduleCollTasksToPlan deals the bytes out.
void SetChannels(const NcclCommunicator& communicator, NcclCollective collective,
                 std::int64_t bytes, NcclChoice* choice) {
  const NcclAlgorithm algorithm = choice->algorithm;
  const NcclProtocol protocol = choice->protocol;
  int channels =
      IsNvls(algorithm) ? communicator.graphs.nvls_channels : communicator.graphs.channels;
  channels = Clamped(communicator.overrides, channels);
  int threads = Threads(communicator, algorithm, protocol);
  if (!IsNvls(algorithm) && !IsCollNet(algorithm)) {
    std::int64_t threshold = kThreadThreshold[Index(protocol)];
    if (algorithm == kRing && protocol == kLl) threshold *= communicator.group.ranks();
    while (channels >= 2 && bytes < threshold * channels * threads) --channels;
    while (threads % 128 == 0 && bytes < threshold * channels * threads) threads /= 2;
  }
  if (protocol == kSimple && algorithm == kRing) threads += kWarp;  // one warp synchronizes
  if (algorithm == kTree) threads = kMaxThreads;
  choice->threads = std::max(threads, 3 * kWarp);

  if (communicator.version >= NcclVersion{2, 22, 0} && !IsCollNet(algorithm)) {
    const std::int64_t passes = collective == NcclCollective::kAllReduce ? 2 : 1;
    const std::int64_t per_byte = protocol == kLl ? 4 * passes : passes;
    const std::int64_t full = CeilDiv(bytes * per_byte, kMinTrafficPerChannel);
    channels = static_cast<int>(std::clamp<std::int64_t>(full, 1, channels));
  }
  choice->channels = channels;
}

Seconds CostOf(const NcclCommunicator& communicator, NcclCollective collective,
               NcclAlgorithm algorithm, NcclProtocol protocol, const NcclCost& entry, Bytes size) {
  const TunerConstants& constants = communicator.shipped;
  const std::int64_t bytes = size.count();
  BytesPerSecond bandwidth = entry.bandwidth;
  Seconds latency = entry.latency;
  if (collective == NcclCollective::kAllReduce) {
    if (algorithm == kTree && bytes >= 64) {
      const auto& factors = constants.tree_correction[Index(protocol)];
      const std::size_t power = std::bit_width(static_cast<std::uint64_t>(bytes)) - 7;
      if (power < factors.size()) bandwidth = factors[power] * bandwidth;
    }
    const std::int64_t share = bytes / (static_cast<std::int64_t>(communicator.graphs.channels) *
                                        communicator.group.ranks());
    if (algorithm == kRing && protocol == kSimple && communicator.group.nodes > 1 && share >= 64) {
      const bool old = communicator.topology.compute_capability < 80;
      latency = (old ? 1.9 : constants.plateau) * latency;
    }
  }
  return latency + size / bandwidth;
}

}  // namespace

NcclCommunicator MakeCommunicator(const NcclTopology& topology, const NcclGroup& group,
                                  const NcclVersion& version, const NcclOverrides& overrides) {
  NcclCommunicator c;
  c.topology = topology;
  c.group = group;
  c.version = version;
  c.overrides = overrides;
  c.graphs = SearchGraphs(topology, group);
  c.shipped = ConstantsOf(version);
  c.costs = CostTable(topology, group, c.graphs, version, overrides, c.shipped);
  c.newest = ConstantsOf({});
  NcclOverrides everything;
  everything.protocols.fill(std::array<bool, kNcclProtocols>{true, true, true});
  c.newest_costs = CostTable(topology, group, c.graphs, {}, everything, c.newest);
  return c;
}

std::optional<Seconds> ShippedCost(const NcclCommunicator& communicator, NcclCollective collective,
                                   NcclAlgorithm algorithm, NcclProtocol protocol, Bytes size) {
  if (Index(collective) >= kNcclTunedCollectives) return std::nullopt;
  const NcclCost& entry = communicator.costs[Index(collective)][Index(algorithm)][Index(protocol)];
  if (!entry.is_enabled()) return std::nullopt;
  return CostOf(communicator, collective, algorithm, protocol, entry, size);
}

std::optional<NcclChoice> Choose(const NcclCommunicator& communicator, NcclCollective collective,
                                 Bytes size) {
  std::optional<NcclChoice> best;
  for (std::size_t a = 0; a < kNcclAlgorithms; ++a) {
    for (std::size_t p = 0; p < kNcclProtocols; ++p) {
      const auto algorithm = static_cast<NcclAlgorithm>(a);
      const auto protocol = static_cast<NcclProtocol>(p);
      const std::optional<Seconds> cost =
          ShippedCost(communicator, collective, algorithm, protocol, size);
      if (cost && (!best || *cost < best->cost)) {
        best = NcclChoice{algorithm, protocol, 1, 0, *cost};
      }
    }
  }
  if (best) SetChannels(communicator, collective, size.count(), &*best);
  return best;
}

}  // namespace zerosim
