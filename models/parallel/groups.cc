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

ProcessGroups ProcessGroupsOf(int world, const ParallelSpec& parallel, int shard_size,
                              int secondary_size, int gpus_per_node) {
  const int model_ranks = parallel.model_ranks();
  if (model_ranks < 1 || world % model_ranks != 0) {
    throw std::invalid_argument(
        fmt::format("{} ranks for one copy of the model in a world of {}", model_ranks, world));
  }
  const bool data_first = parallel.order == RankOrder::kTensorDataPipeline;
  const int data = world / (parallel.tensor * parallel.pipeline);
  ProcessGroups groups;
  groups.tensor = {parallel.tensor, 1};
  groups.data = {data, data_first ? parallel.tensor : parallel.tensor * parallel.pipeline};
  groups.context = {parallel.context, groups.data.stride};
  groups.pipeline = {parallel.pipeline, data_first ? parallel.tensor * data : parallel.tensor};

  if (parallel.expert < 1 || data % parallel.expert != 0) {
    throw std::invalid_argument(
        fmt::format("{} ranks that divide the experts in a world of {}", parallel.expert, data));
  }
  groups.expert = {parallel.expert, groups.data.stride};
  groups.expert_data = {data / parallel.expert, parallel.expert * groups.data.stride};

  groups.shard = {shard_size == 0 ? data : shard_size, groups.data.stride};
  groups.secondary = {secondary_size, groups.data.stride};
  if (groups.shard.size < 1 || data % groups.shard.size != 0) {
    throw std::invalid_argument(
        fmt::format("{} ranks that share a shard in a world of {}", groups.shard.size, data));
  }
  if (secondary_size < 1 || groups.shard.size % secondary_size != 0) {
    throw std::invalid_argument(
        fmt::format("secondary groups of {} in a world of {}", secondary_size, groups.shard.size));
  }
  groups.replicas = {data / groups.shard.size, groups.shard.size * groups.data.stride};
  const NodeSplit split = SplitByNode(groups.shard, gpus_per_node);
  groups.in_node = split.in_node;
  groups.across = split.across;
  for (const ProcessGroup& group :
       {groups.tensor, groups.context, groups.data, groups.shard, groups.replicas, groups.secondary,
        groups.expert, groups.expert_data}) {
    if (IsRegular(group, gpus_per_node)) continue;
    throw std::invalid_argument(
        fmt::format("a group of {} ranks {} apart does not fill nodes of {}", group.size,
                    group.stride, gpus_per_node));
  }
  return groups;
}

}  // namespace zerosim
