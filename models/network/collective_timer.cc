#include "models/network/collective_timer.h"

#include <algorithm>
#include <stdexcept>
#include <utility>
#include <variant>

#include "models/nccl/achieved.h"
#include "models/nccl/physical_time.h"
#include "models/nccl/tuner.h"
#include "models/network/spec_nccl.h"
#include "models/network/stage_loads.h"

namespace zerosim {
namespace {

// What NCCL's rings achieve on links of that kind; those inside of the fabric as the NICs.
LinkFractions FractionsOf(const std::optional<NcclTopology>& topology) {
  if (!topology) return {};
  const NcclAchieved achieved = AchievedOn(*topology);
  return {achieved.gpu_link, 1, achieved.network, achieved.network};
}

// Whether the hardware reduces where the algorithm wants it to.
bool Reduces(const SwitchesThatReduce& switches, Algorithm algorithm) {
  switch (algorithm) {
    case Algorithm::kNvls:
    case Algorithm::kNvlsTree:
      return switches.in_node;
    case Algorithm::kCollNet:
      return switches.across;
    default:
      return true;
  }
}

}  // namespace

struct CollectiveTimer::Communicators {
  NcclTopology topology;
  NcclVersion version;
  NcclOverrides overrides;
  std::map<std::pair<int, int>, NcclCommunicator> known;  // by nodes and GPUs of each

  const NcclCommunicator& Of(const GroupShape& shape, int nics_per_node) {
    const std::pair key{shape.nodes, shape.local};
    auto found = known.find(key);
    if (found == known.end()) {
      NcclTopology seen = topology;
      seen.nics_per_node = shape.nodes > 1 ? nics_per_node : 0;
      found =
          known.emplace(key, MakeCommunicator(seen, {shape.nodes, shape.local}, version, overrides))
              .first;
    }
    return found->second;
  }
};

NcclCollective NcclKindOf(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::kAllGather:
      return NcclCollective::kAllGather;
    case CollectiveKind::kReduceScatter:
      return NcclCollective::kReduceScatter;
    case CollectiveKind::kAllReduce:
      return NcclCollective::kAllReduce;
    case CollectiveKind::kBroadcast:
      return NcclCollective::kBroadcast;
    case CollectiveKind::kReduce:
      return NcclCollective::kReduce;
    case CollectiveKind::kAllToAll:
      return NcclCollective::kAllToAll;
    case CollectiveKind::kSendReceive:
      return NcclCollective::kSendReceive;
  }
  return NcclCollective::kAllReduce;
}

CollectiveTimer::CollectiveTimer(const ClusterSpec& cluster, const ClusterSpec& part,
                                 const NcclVersion& version, const NcclOverrides& overrides)
    : part_(part),
      fractions_(FractionsOf(NcclTopologyOf(cluster))),
      network_(ClusterNetworkOf(part, fractions_)) {
  if (std::optional<NcclTopology> topology = NcclTopologyOf(cluster)) {
    switches_ = {topology->nvls, topology->collnet};
    topology->nics_per_node = cluster.fabric.nics_per_node;
    communicators_ = std::make_unique<Communicators>(Communicators{
        .topology = *topology, .version = version, .overrides = overrides, .known = {}});
  }
}

CollectiveTimer::~CollectiveTimer() = default;

const ScheduleOnLinks& CollectiveTimer::Known(const Key& key, const Schedule& schedule,
                                              const ProcessGroup& group, StageOrder order) {
  return on_links_.emplace(key, PutOnLinks(network_, schedule, group, order)).first->second;
}

AlgorithmOptions CollectiveTimer::OptionsOf(const ProcessGroup& group) const {
  const GroupShape shape = ShapeOf(network_, group);
  AlgorithmOptions options;
  options.channels = std::clamp(network_.routes.num_nics() * shape.local / network_.gpus_per_node(),
                                1, shape.local);
  const auto* torus = std::get_if<TorusLayout>(&part_.fabric.kind);
  if (torus != nullptr && group.size == network_.world_size()) {
    if (shape.local > 1) options.dimensions.push_back(shape.local);
    for (const int length : torus->dimensions) options.dimensions.push_back(length);
  }
  return options;
}

TimedCollective CollectiveTimer::Nccl(const TimedCall& call) {
  if (communicators_ == nullptr) {
    throw std::invalid_argument(
        "NCCL runs on GPUs of NVIDIA's, and the GPU has no compute_capability; give it one, or "
        "an algorithm");
  }
  const GroupShape shape = ShapeOf(network_, call.group);
  const NcclCommunicator& communicator =
      communicators_->Of(shape, communicators_->topology.nics_per_node);
  const std::optional<NcclTime> time =
      TimeOf(communicator, {NcclKindOf(call.kind), call.size, call.gpus_per_process},
             AchievedOn(communicators_->topology));
  if (!time) throw std::invalid_argument("NCCL has no algorithm left for this collective");
  const int algorithm = time->choice ? static_cast<int>(time->choice->algorithm) : -1;
  const Key key{true, algorithm, call.kind, call.group.size, call.group.stride};
  const auto known = on_links_.find(key);
  const ScheduleOnLinks& on_links =
      known != on_links_.end()
          ? known->second
          : Known(key, NcclSchedule(network_, time->choice, call.kind, call.group), call.group,
                  StageOrder::kPipelined);
  return {CostOf(on_links, call.size, *time), &on_links};
}

TimedCollective CollectiveTimer::Plain(Algorithm algorithm, const TimedCall& call) {
  const Key key{false, static_cast<int>(algorithm), call.kind, call.group.size, call.group.stride};
  const auto known = on_links_.find(key);
  const ScheduleOnLinks& on_links =
      known != on_links_.end()
          ? known->second
          : Known(key,
                  ScheduleOf(algorithm, call.kind, ShapeOf(network_, call.group),
                             OptionsOf(call.group)),
                  call.group, StageOrder::kOneByOne);
  const StepLatency latency{Seconds::Count(part_.calibration.collective_launch.value),
                            part_.node.gpu_latency, part_.fabric.latency};
  TimedCollective timed{CostOf(on_links, call.size, latency), &on_links};
  timed.cost.algorithm = NameOf(algorithm);
  return timed;
}

TimedCollective CollectiveTimer::Best(const TimedCall& call) {
  std::optional<TimedCollective> best;
  if (communicators_ != nullptr) best = Nccl(call);
  const GroupShape shape = ShapeOf(network_, call.group);
  const AlgorithmOptions options = OptionsOf(call.group);
  for (const Algorithm algorithm : kAlgorithms) {
    if (!Reduces(switches_, algorithm) || WhyNot(algorithm, call.kind, shape, options)) continue;
    const TimedCollective timed = Plain(algorithm, call);
    if (!best || timed.cost.time() < best->cost.time()) best = timed;
  }
  if (!best) throw std::invalid_argument("no algorithm can do this collective");
  return *best;
}

}  // namespace zerosim
