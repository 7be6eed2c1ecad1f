#include "models/parallel/scenario_groups.h"

namespace zerosim {

ProcessGroups ProcessGroupsOf(const Scenario& scenario) {
  const int shard_size = scenario.fsdp ? scenario.fsdp->shard_size : scenario.zero.shard_size;
  return ProcessGroupsOf(scenario.world_size(), scenario.parallel, shard_size,
                         scenario.secondary_size(), scenario.cluster.node.gpus);
}

}  // namespace zerosim
