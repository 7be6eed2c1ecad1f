#include "models/parallel/scenario_groups.h"

namespace zerosim {

ShardingGroups ShardingGroupsOf(const Scenario& scenario) {
  const ProcessGroup data = {scenario.world_size(), 1};
  const int secondary = scenario.zero.has_secondary() ? scenario.zero.secondary_partition_size : 1;
  return ShardingGroupsOf(data, 0, secondary, scenario.cluster.node.gpus);
}

}  // namespace zerosim
