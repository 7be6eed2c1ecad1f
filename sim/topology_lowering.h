// Lowering on clusters whose links are not all alike: in-node graphs and fabrics beyond one switch.
//
// Each direction of a node's link is a class of its own, which stands for that link in the node
// where it carries most; each class of the fabric stands for its busiest link. So two collectives
// that run at once are taken to meet on the same link of a class, which is exact where a class is
// symmetric and else no faster than what happens.
//
// Not modelled: pipelines (whose stages load different parts of the fabric). The message engine
// plays single collectives on such clusters (messages/play_schedule.h), not steps.
#pragma once

#include <map>
#include <vector>

#include "models/collectives/algorithms.h"
#include "models/network/stage_loads.h"
#include "sim/lowering.h"
#include "sim/network.h"

namespace zerosim {

// Whether the cluster has more than equal nodes on one switch.
bool HasTopology(const ClusterSpec& cluster);

// Adds the cluster's links to those of `network`.
void AddTopology(const ClusterSpec& cluster, NetworkModel* network);

// What models/collectives calls it. A send or copy, which is no collective, counts as an
// all-to-all.
CollectiveKind KindOfOp(CollectiveOp op);

// A schedule and what each of its stages puts on links, for every size.
struct TopologyLoads {
  std::string algorithm;
  Schedule schedule;
  std::vector<StageLoads> stages;
};

TopologyLoads LoadsOfKind(const CallKind& kind, const NetworkModel& network,
                          CollectiveAlgorithm algorithm);

// A collective of that kind, without launch and times. Requires that nothing but sizes differs from
// the kind of `loads`.
LoweredCall LowerOnTopology(const Call& call, const CallKind& kind, const NetworkModel& network,
                            const TopologyLoads& loads);

}  // namespace zerosim
