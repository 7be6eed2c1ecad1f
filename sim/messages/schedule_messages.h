// Every message of a schedule on a cluster's links: what the message engine plays, and what closed
// forms count without listing it.
#pragma once

#include <cstdint>
#include <vector>

#include "models/collectives/schedule.h"
#include "models/network/cluster_network.h"
#include "models/network/stage_loads.h"

namespace zerosim {

// A link of the cluster: an arc of a node, or of the fabric. Where a flow is spread over a bundle
// of links that are alternatives, the bundle is one link of their capacities.
struct LinkOfCluster {
  int node = -1;            // -1: of the fabric
  std::int64_t number = 0;  // the arc, or the first link
  std::int64_t width = 1;
  friend auto operator<=>(const LinkOfCluster&, const LinkOfCluster&) = default;
};

// How an exchange goes: round by round, or all that a member sends at once.
enum class Exchanging : std::uint8_t { kRoundByRound, kAtOnce };

// Of the rank that sends it.
struct ScheduledMessage {
  int stage = 0;
  int channel = 0;
  int round = 0;
  int from = 0;
  int to = 0;
  double share = 0;  // of one group's whole vector
  std::vector<LinkOfCluster> path;
};

// All of them, of all groups of the form `group`, which must be regular. Throws
// std::invalid_argument where a schedule's switches reduce, or adaptive routing divides a flow
// between ways that are not one bundle: those have no messages.
std::vector<ScheduledMessage> MessagesOf(const ClusterNetwork& network, const Schedule& schedule,
                                         const ProcessGroup& group,
                                         Exchanging exchanging = Exchanging::kRoundByRound,
                                         NicRule rule = NicRule::kNearest);

// Rate of a link, and of a bundle as one.
BytesPerSecond CapacityOf(const ClusterNetwork& network, const LinkOfCluster& link);

}  // namespace zerosim
