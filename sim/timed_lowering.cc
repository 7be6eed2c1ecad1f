#include "sim/timed_lowering.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "models/network/collective_timer.h"
#include "models/topology/loads.h"
#include "sim/topology_lowering.h"

namespace zerosim {
namespace {

// A link of the network, the bytes of all groups on it, and the time that they take at the rate
// that is achieved. One stage of a pipeline has one of `parts` equal parts of both.
struct TimedLoad {
  LinkId link;
  double bytes = 0;
  double seconds = 0;
  int parts = 1;
};

class TimedLowering {
 public:
  TimedLowering(const Scenario& scenario, const NetworkModel& network)
      : algorithm_(scenario.algorithm),
        network_(network),
        sound_(NetworkOf(Sound(scenario.cluster), network.pipeline)),
        timer_(scenario.cluster, scenario.cluster, scenario.nccl, scenario.nccl_overrides) {}

  LoweredCall Lower(const Call& call, const CallKind& kind, int rank_class) {
    if (IsCopy(kind.op)) {
      return zerosim::Lower(call, kind, network_, CollectiveAlgorithm::kRing, rank_class);
    }
    if (kind.op == CollectiveOp::kSend) return Send(call, kind, rank_class);
    return Collective(call, kind, rank_class);
  }

 private:
  static ClusterSpec Sound(const ClusterSpec& cluster) {
    ClusterSpec sound = WithoutLinkCalibration(cluster);
    sound.exceptions.clear();
    return sound;
  }

  LoweredCall Send(const Call& call, const CallKind& kind, int rank_class);
  LoweredCall Collective(const Call& call, const CallKind& kind, int rank_class);
  void AddArcs(const StageLoads& loads, double size, int rank_class,
               std::vector<TimedLoad>* out) const;
  void AddFabric(const StageLoads& loads, double size, int rank_class,
                 std::vector<TimedLoad>* out) const;

  CollectiveAlgorithm algorithm_;
  const NetworkModel& network_;
  NetworkModel sound_;  // without exceptions
  CollectiveTimer timer_;
};

LoweredCall TimedLowering::Send(const Call& call, const CallKind& kind, int rank_class) {
  LoweredCall lowered =
      zerosim::Lower(call, kind, network_, CollectiveAlgorithm::kRing, rank_class);
  for (LoweredStage& stage : lowered.stages) {
    for (LinkLoad& load : stage.loads) {
      const bool in_node = NetworkModel::KindOf(load.link) == NetworkModel::kGpuLink;
      load.occupied /= in_node ? timer_.fractions().nvlink : timer_.fractions().nic;
    }
  }
  AddTimes(network_, &lowered);
  return lowered;
}

// Where all links of a kind are one class, each class stands for the busiest of them.
void TimedLowering::AddArcs(const StageLoads& loads, double size, int rank_class,
                            std::vector<TimedLoad>* out) const {
  const NodeGraph& node = timer_.network().node;
  const bool nvlinks = std::ranges::any_of(
      node.links, [](const NodeLink& link) { return link.kind == NodeLinkKind::kNvLink; });
  TimedLoad busiest;
  for (std::size_t arc = 0; arc < loads.arcs.size(); ++arc) {
    const NodeLink& link = node.links[arc / 2];
    const double bytes = loads.arcs[arc] * size;
    const TimedLoad load{network_.arcs.empty() ? NetworkModel::kGpuLink : network_.arcs[arc], bytes,
                         bytes / link.bandwidth.bytes_per_second()};
    if (!network_.arcs.empty()) {
      out->push_back(load);
    } else if ((link.kind == NodeLinkKind::kNvLink) == nvlinks && load.seconds > busiest.seconds) {
      busiest = load;
    }
  }
  if (busiest.seconds == 0) return;
  for (const Direction direction : {Direction::kOut, Direction::kIn}) {
    if (direction == Direction::kIn && !network_.has_pipeline()) continue;
    busiest.link = network_.LinkOf(NetworkModel::kGpuLink, rank_class, direction);
    out->push_back(busiest);
  }
}

void TimedLowering::AddFabric(const StageLoads& loads, double size, int rank_class,
                              std::vector<TimedLoad>* out) const {
  if (loads.links.empty()) return;
  const Fabric& fabric = *timer_.network().fabric;
  const std::vector<ClassLoad> classes = ClassLoads(fabric, loads.links);
  TimedLoad nic;
  TimedLoad inside;  // of the fabric
  for (std::size_t i = 0; i < classes.size(); ++i) {
    const double bytes = classes[i].busiest * size;
    TimedLoad load{{}, bytes, bytes / fabric.classes()[i].capacity.bytes_per_second()};
    if (!network_.fabric_links.empty()) {
      load.link = network_.fabric_links[i];
      out->push_back(load);
      continue;
    }
    TimedLoad& kind = i < 2 ? nic : inside;
    if (load.seconds > kind.seconds) kind = load;
  }
  for (const auto& [kind, load, parts] :
       {std::tuple{NetworkModel::kNic, nic, network_.stages_per_nic()},
        std::tuple{NetworkModel::kFabric, inside, network_.stages_per_node()}}) {
    if (load.seconds == 0) continue;
    for (const Direction direction : {Direction::kOut, Direction::kIn}) {
      if (direction == Direction::kIn && !network_.has_pipeline()) continue;
      out->push_back(
          {network_.LinkOf(kind, rank_class, direction), load.bytes, load.seconds, parts});
    }
  }
}

LoweredCall TimedLowering::Collective(const Call& call, const CallKind& kind, int rank_class) {
  LoweredCall lowered;
  lowered.algorithm = "none";
  if (kind.group.size == 1) return lowered;
  const TimedCall asked{KindOfOp(kind.op), kind.group, call.full, 1};
  const TimedCollective timed =
      algorithm_ == CollectiveAlgorithm::kBest ? timer_.Best(asked) : timer_.Nccl(asked);
  const CollectiveCost& cost = timed.cost;
  const StageLoads& counted = timed.on_links->loads;
  const auto size = static_cast<double>(call.full.count());
  lowered.algorithm = cost.algorithm;
  lowered.protocol = cost.protocol;
  lowered.node_egress = Bytes::Count(std::llround(counted.links.empty() ? 0 : cost.out_of_node));

  std::vector<TimedLoad> loads;
  AddArcs(counted, size, rank_class, &loads);
  if (!loads.empty()) {
    lowered.in_node_per_gpu =
        Bytes::Count(std::llround(std::ranges::max(loads, {}, &TimedLoad::bytes).bytes));
  }
  AddFabric(counted, size, rank_class, &loads);
  LoweredStage stage;
  stage.latency = call.launches * (cost.latency + cost.fill);
  if (!loads.empty()) {
    const double busiest = std::ranges::max(loads, {}, &TimedLoad::seconds).seconds;
    const double scale = busiest > 0 ? cost.transfer.seconds() / busiest : 0;
    for (const TimedLoad& load : loads) {
      if (load.seconds == 0) continue;
      const double capacity = sound_.links[load.link.value].capacity.bytes_per_second();
      const double occupied = scale * load.seconds / load.parts * capacity;
      const auto bytes = std::llround(std::floor(std::min(load.bytes / load.parts, occupied)));
      stage.loads.push_back({load.link, Bytes::Count(bytes), occupied});
    }
  }
  lowered.stages.push_back(std::move(stage));
  AddTimes(network_, &lowered);
  return lowered;
}

}  // namespace

ClusterSpec WithoutLinkCalibration(ClusterSpec cluster) {
  cluster.node.gpu_bandwidth_fraction = 1;
  for (Parameter* parameter :
       {&cluster.calibration.nic_fraction, &cluster.calibration.gpu_link_fraction,
        &cluster.calibration.all_to_all_fraction}) {
    *parameter = {1, 1, 1, "data sheet"};
  }
  return cluster;
}

std::vector<LoweredCall> LowerAllTimed(const Scenario& scenario, const StepProgram& program,
                                       const NetworkModel& network) {
  TimedLowering lowering(scenario, network);
  return LowerEach(program, [&](const Call& call, int rank_class) {
    return lowering.Lower(call, program.kinds[call.kind], rank_class);
  });
}

}  // namespace zerosim
