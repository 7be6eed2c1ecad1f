#include "models/network/stage_loads.h"

#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "models/network/exchange_loads.h"
#include "models/network/group_places.h"
#include "models/network/load_tally.h"
#include "models/network/peer_loads.h"

namespace zerosim {

GroupShape ShapeOf(const ClusterNetwork& network, const ProcessGroup& group) {
  if (!IsRegular(group, network.gpus_per_node())) {
    throw std::invalid_argument(
        fmt::format("a group of {} ranks {} apart does not fill nodes of "
                    "{}",
                    group.size, group.stride, network.gpus_per_node()));
  }
  const NodeSplit split = SplitByNode(group, network.gpus_per_node());
  return {split.across.size, split.in_node.size};
}

StageLoads LoadsOf(const ClusterNetwork& network, const Stage& stage, const ProcessGroup& group,
                   NicRule rule) {
  const GroupPlaces places(network, group);
  // Every node sends and receives alike in all patterns but trees. The nodes of trees differ in
  // their chains' heads alone.
  LoadTally tally(network, stage.pattern != StagePattern::kTree);
  switch (stage.pattern) {
    case StagePattern::kSwitch:
      CountSwitch(network, stage, places, &tally);
      break;
    case StagePattern::kExchange:
      CountExchange(network, stage, places, rule, &tally);
      break;
    case StagePattern::kRing:
    case StagePattern::kHalving:
    case StagePattern::kDissemination:
    case StagePattern::kTree:
    case StagePattern::kShift:
      CountPeers(network, stage, places, rule, &tally);
      break;
  }
  return std::move(tally).Result();
}

}  // namespace zerosim
