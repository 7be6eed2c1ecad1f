#include "models/parallel/scenario_groups.h"

namespace zerosim {

ShardingGroups ShardingGroupsOf(const Scenario& scenario) {
  const ProcessGroup data = {scenario.world_size(), 1};
  const int gpus = scenario.cluster.node.gpus;
  if (const auto& fsdp = scenario.fsdp) {
    return ShardingGroupsOf(data, fsdp->shard_size, fsdp->secondary_partition_size, gpus);
  }
  const int secondary = scenario.zero.has_secondary() ? scenario.zero.secondary_partition_size : 1;
  return ShardingGroupsOf(data, scenario.zero.shard_size, secondary, gpus);
}

}  // namespace zerosim
