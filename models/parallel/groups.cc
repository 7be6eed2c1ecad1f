#include "models/parallel/groups.h"

#include <stdexcept>

#include <fmt/format.h>

namespace zerosim {

bool IsRegular(const ProcessGroup& group, int gpus_per_node) {
  if (group.size == 1) return true;
  if (group.stride >= gpus_per_node) return group.stride % gpus_per_node == 0;
  if (gpus_per_node % group.stride != 0) return false;
  const std::int64_t span = std::int64_t{group.size} * group.stride;
  return span <= gpus_per_node ? gpus_per_node % span == 0 : span % gpus_per_node == 0;
}

NodeSplit SplitByNode(const ProcessGroup& group, int gpus_per_node) {
  const std::int64_t span = std::int64_t{group.size} * group.stride;
  if (group.stride >= gpus_per_node) return {{1, group.stride}, group};
  if (span <= gpus_per_node) return {group, {1, gpus_per_node}};
  const int local = gpus_per_node / group.stride;
  return {{local, group.stride}, {group.size / local, gpus_per_node}};
}

ShardingGroups ShardingGroupsOf(const ProcessGroup& data, int shard_size, int secondary_size,
                                int gpus_per_node) {
  ShardingGroups groups;
  groups.data = data;
  groups.shard = {shard_size == 0 ? data.size : shard_size, data.stride};
  groups.secondary = {secondary_size, data.stride};
  if (groups.shard.size < 1 || data.size % groups.shard.size != 0) {
    throw std::invalid_argument(
        fmt::format("{} ranks that share a shard in a world of {}", groups.shard.size, data.size));
  }
  if (secondary_size < 1 || groups.shard.size % secondary_size != 0) {
    throw std::invalid_argument(
        fmt::format("secondary groups of {} in a world of {}", secondary_size, groups.shard.size));
  }
  groups.replicas = {data.size / groups.shard.size, groups.shard.size * data.stride};
  const NodeSplit split = SplitByNode(groups.shard, gpus_per_node);
  groups.in_node = split.in_node;
  groups.across = split.across;
  for (const ProcessGroup& group : {groups.data, groups.shard, groups.replicas, groups.secondary}) {
    if (IsRegular(group, gpus_per_node)) continue;
    throw std::invalid_argument(
        fmt::format("a group of {} ranks {} apart does not fill nodes of {}", group.size,
                    group.stride, gpus_per_node));
  }
  return groups;
}

}  // namespace zerosim
