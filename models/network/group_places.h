// Where the ranks of all groups of one form are.
#pragma once

#include <algorithm>

#include "models/network/cluster_network.h"
#include "models/network/stage_loads.h"
#include "models/parallel/groups.h"
#include "models/topology/patterns.h"

namespace zerosim {

// Ranks of the cluster, their members of the group that they are in, and their nodes. The group
// must be regular (ShapeOf).
class GroupPlaces {
 public:
  GroupPlaces(const ClusterNetwork& network, const ProcessGroup& group)
      : group_(group), shape_(ShapeOf(network, group)), gpus_(network.gpus_per_node()) {}

  const GroupShape& shape() const { return shape_; }
  int Member(int rank) const { return rank % (group_.size * group_.stride) / group_.stride; }
  int RankOf(int rank, int member) const { return rank + (member - Member(rank)) * group_.stride; }
  int Node(int rank) const { return rank / gpus_; }
  int Gpu(int rank) const { return rank % gpus_; }
  // Groups that share a node, and the place of a rank's among them.
  int groups_in_node() const { return gpus_ / shape_.local; }
  int GroupInNode(int rank) const { return Gpu(rank) % std::min(group_.stride, gpus_); }

  // The nodes that groups of this form span.
  NodeGroups Nodes(int nodes) const {
    return AllGroups(nodes, shape_.nodes, std::max(1, group_.stride / gpus_));
  }

 private:
  ProcessGroup group_;
  GroupShape shape_;
  int gpus_;
};

}  // namespace zerosim
