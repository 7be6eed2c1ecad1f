#include "models/network/collective_cost.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>
#include <vector>

#include "models/network/stage_loads.h"
#include "models/topology/loads.h"
#include "models/topology/rings.h"

namespace zerosim {
namespace {

using Limit = ScheduleOnLinks::Limit;

std::string NameOf(NodeLinkKind kind) {
  switch (kind) {
    case NodeLinkKind::kNvLink:
      return "nvlink";
    case NodeLinkKind::kPcie:
      return "pcie";
    case NodeLinkKind::kInterSocket:
      return "inter-socket";
  }
  return "?";
}

// The busiest link of all.
Limit LimitOf(const ClusterNetwork& network, const StageLoads& loads) {
  Limit limit;
  const auto consider = [&](double load, BytesPerSecond rate, const auto& name) {
    const double time = load / rate.bytes_per_second();
    if (time > limit.seconds_per_byte) limit = {name(), time};
  };
  for (int arc = 0; arc < network.node.num_arcs(); ++arc) {
    const NodeLink& link = network.node.links[arc / 2];
    consider(loads.arcs[arc], link.bandwidth, [&] { return NameOf(link.kind); });
  }
  if (network.fabric == nullptr || loads.links.empty()) return limit;
  const std::vector<ClassLoad> classes = ClassLoads(*network.fabric, loads.links);
  for (std::size_t i = 0; i < classes.size(); ++i) {
    const FabricLinkClass& link = network.fabric->classes()[i];
    consider(classes[i].busiest, link.capacity, [&] { return link.name; });
  }
  return limit;
}

void Add(StageLoads loads, StageLoads* sum) {
  if (sum->arcs.empty()) {
    *sum = std::move(loads);
    return;
  }
  for (std::size_t i = 0; i < loads.arcs.size(); ++i) sum->arcs[i] += loads.arcs[i];
  for (std::size_t i = 0; i < loads.links.size(); ++i) sum->links[i] += loads.links[i];
}

// In a node whose GPUs are not all joined alike, rings pass as the links allow: each ring takes its
// part of the bytes.
std::optional<Limit> RingsInNode(const ClusterNetwork& network, const Stage& stage,
                                 const ProcessGroup& group) {
  const bool whole_node = group.size == network.gpus_per_node() && group.stride == 1;
  if (stage.pattern != StagePattern::kRing || network.nodes > 1 || !whole_node) return std::nullopt;
  const NodeRings rings = FindRings(network.node, network.routes);
  const double sent = static_cast<double>(group.size - 1) / group.size;
  return Limit{"rings of the node", sent / rings.total.bytes_per_second()};
}

// Adds the transfer, `least` or more, and says what takes the most time: the steps, or the bytes on
// the busiest of the links that limit stages.
void AddTransfer(const ScheduleOnLinks& schedule, Bytes size, double wire, Seconds least,
                 CollectiveCost* cost) {
  const double bytes = wire * static_cast<double>(size.count());
  const auto busiest = std::ranges::max_element(schedule.limits, {}, &Limit::seconds_per_byte);
  for (const Limit& limit : schedule.limits) {
    cost->transfer += Seconds::Count(bytes * limit.seconds_per_byte);
  }
  cost->transfer = std::max(cost->transfer, least);
  cost->out_of_node = bytes * schedule.out_of_node;
  const Seconds waiting = cost->latency + cost->fill;
  cost->limit =
      cost->transfer > waiting && busiest != schedule.limits.end() ? busiest->name : "latency";
  if (cost->launch_floor > waiting + cost->transfer) cost->limit = "launch";
}

// Whether members meet other peers in each round, over other links, and cannot begin one before the
// one before is over: the rounds' busiest links then add up.
bool HasDistinctRounds(const Stage& stage) {
  return stage.pattern == StagePattern::kHalving || stage.pattern == StagePattern::kDissemination;
}

// All links out of one GPU; for what stays in the node NVLinks alone where paths to all its peers
// are of these.
BytesPerSecond GpuRate(const ClusterNetwork& network, bool leaves_node) {
  const auto is_nvlink = [&](int arc) {
    return network.node.links[arc / 2].kind == NodeLinkKind::kNvLink;
  };
  bool nvlinks_reach = true;
  for (int peer = 1; peer < network.gpus_per_node(); ++peer) {
    nvlinks_reach =
        nvlinks_reach && std::ranges::all_of(network.routes.BetweenGpus(0, peer), is_nvlink);
  }
  const bool only_nvlinks = !leaves_node && nvlinks_reach && network.gpus_per_node() > 1;
  BytesPerSecond rate;
  const int first = network.node.Places(VertexKind::kGpu).front();
  for (int arc = 0; arc < network.node.num_arcs(); ++arc) {
    if (network.node.ArcFrom(arc) != first || (only_nvlinks && !is_nvlink(arc))) continue;
    rate += network.node.links[arc / 2].bandwidth;
  }
  return rate;
}

}  // namespace

ScheduleOnLinks PutOnLinks(const ClusterNetwork& network, const Schedule& schedule,
                           const ProcessGroup& group, StageOrder order, NicRule rule) {
  ScheduleOnLinks on_links;
  const auto limit_by = [&](Limit limit) {
    const auto same = std::ranges::find(on_links.limits, limit.name, &Limit::name);
    if (same == on_links.limits.end()) {
      on_links.limits.push_back(std::move(limit));
    } else {
      same->seconds_per_byte += limit.seconds_per_byte;
    }
  };
  StageLoads together;  // of stages that limit each other
  for (const Stage& stage : schedule.stages) {
    const Steps steps = StepsOf(stage, schedule.shape);
    on_links.steps.in_node += steps.in_node;
    on_links.steps.across += steps.across;
    if (order == StageOrder::kOneByOne && HasDistinctRounds(stage)) {
      Stage round = stage;
      for (int r = 0; r < RoundsOf(stage, schedule.shape); ++r) {
        round.only_round = r;
        const StageLoads loads = LoadsOf(network, round, group, rule);
        on_links.out_of_node += loads.out_of_node;
        limit_by(LimitOf(network, loads));
        Add(loads, &on_links.loads);
      }
      continue;
    }
    StageLoads loads = LoadsOf(network, stage, group, rule);
    on_links.out_of_node += loads.out_of_node;
    Add(loads, &on_links.loads);
    if (auto rings = RingsInNode(network, stage, group)) {
      limit_by(std::move(*rings));
    } else if (order == StageOrder::kOneByOne) {
      limit_by(LimitOf(network, loads));
    } else {
      Add(std::move(loads), &together);
    }
  }
  if (!together.arcs.empty()) limit_by(LimitOf(network, together));
  return on_links;
}

CollectiveCost CostOf(const ScheduleOnLinks& schedule, Bytes size, const StepLatency& latency) {
  CollectiveCost cost;
  if (schedule.limits.empty()) return cost;
  cost.latency = latency.launch + schedule.steps.in_node * latency.in_node +
                 schedule.steps.across * latency.across;
  AddTransfer(schedule, size, 1, Seconds(), &cost);
  return cost;
}

Schedule NcclSchedule(const ClusterNetwork& network, const std::optional<NcclChoice>& choice,
                      CollectiveKind kind, const ProcessGroup& group) {
  const GroupShape shape = ShapeOf(network, group);
  Algorithm algorithm = Algorithm::kDirect;
  if (choice) {
    switch (choice->algorithm) {
      case NcclAlgorithm::kTree:
        algorithm = Algorithm::kTree;
        break;
      case NcclAlgorithm::kRing:
        algorithm = Algorithm::kRing;
        break;
      case NcclAlgorithm::kCollNetDirect:
      case NcclAlgorithm::kCollNetChain:
        algorithm = Algorithm::kCollNet;
        break;
      case NcclAlgorithm::kNvls:
        algorithm = shape.nodes == 1 ? Algorithm::kNvls : Algorithm::kCollNet;
        break;
      case NcclAlgorithm::kNvlsTree:
        algorithm = Algorithm::kNvlsTree;
        break;
      case NcclAlgorithm::kPat:
        algorithm = Algorithm::kPat;
        break;
    }
  }
  AlgorithmOptions options;
  options.channels =
      std::clamp(network.routes.num_nics() * shape.local / network.gpus_per_node(), 1, shape.local);
  return ScheduleOf(algorithm, kind, shape, options);
}

CollectiveCost CostOf(const ScheduleOnLinks& schedule, Bytes size, const NcclTime& time) {
  CollectiveCost cost;
  cost.latency = time.latency;
  cost.fill = time.fill;
  cost.launch_floor = time.launch_floor;
  if (time.choice) {
    cost.algorithm = Name(time.choice->algorithm);
    cost.protocol = Name(time.choice->protocol);
    cost.channels = time.choice->channels;
  } else if (!schedule.limits.empty()) {
    cost.algorithm = "sends";
  }
  // Flags of LL and LL128 share the links with the values.
  const double egress = static_cast<double>(size.count()) * schedule.out_of_node;
  const double wire =
      egress > 0 ? std::max(1.0, static_cast<double>(time.node_egress_bytes.count()) / egress) : 1;
  AddTransfer(schedule, size, wire, time.transfer, &cost);
  return cost;
}

Seconds BoundOf(const ClusterNetwork& network, CollectiveKind kind, const ProcessGroup& group,
                Bytes size, const SwitchesThatReduce& switches) {
  const GroupShape shape = ShapeOf(network, group);
  const int n = shape.size();
  if (n == 1) return {};
  const auto bytes = static_cast<double>(size.count());
  // What one of `parts` equal parts of the group must send to the others.
  const auto sent = [&](int parts, bool reduced) {
    const double rest = static_cast<double>(parts - 1) / parts;
    switch (kind) {
      case CollectiveKind::kAllReduce:
        return reduced ? bytes : 2 * rest * bytes;
      case CollectiveKind::kAllGather:
      case CollectiveKind::kReduceScatter:
        return rest * bytes;
      case CollectiveKind::kAllToAll:
        return rest * bytes * n / parts;
      case CollectiveKind::kBroadcast:
      case CollectiveKind::kReduce:
      case CollectiveKind::kSendReceive:
        return bytes;
    }
    return bytes;
  };
  const BytesPerSecond gpu = GpuRate(network, shape.nodes > 1);
  Seconds bound = Seconds::Count(sent(n, switches.in_node) / gpu.bytes_per_second());
  if (shape.nodes > 1) {
    const int groups = network.gpus_per_node() / shape.local;
    const FabricLinkClass& nic = network.fabric->classes().front();
    const BytesPerSecond rate = network.routes.num_nics() * nic.capacity;
    bound = std::max(bound, Seconds::Count(groups * sent(shape.nodes, switches.across) /
                                           rate.bytes_per_second()));
  }
  return bound;
}

double BusFactor(CollectiveKind kind, int ranks) {
  const double part = static_cast<double>(ranks - 1) / ranks;
  switch (kind) {
    case CollectiveKind::kAllReduce:
      return 2 * part;
    case CollectiveKind::kAllGather:
    case CollectiveKind::kReduceScatter:
    case CollectiveKind::kAllToAll:
      return part;
    case CollectiveKind::kBroadcast:
    case CollectiveKind::kReduce:
    case CollectiveKind::kSendReceive:
      return 1;
  }
  return 1;
}

}  // namespace zerosim
