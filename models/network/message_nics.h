// By which NICs a message of a stage leaves a node and arrives in another.
#pragma once

#include "models/collectives/schedule.h"
#include "models/network/cluster_network.h"
#include "models/network/group_places.h"
#include "models/network/stage_loads.h"

namespace zerosim {

class MessageNics {
 public:
  // What it is given must outlive it.
  MessageNics(const ClusterNetwork& network, const Stage& stage, const GroupPlaces& places,
              NicRule rule);

  // Of what `rank` sends on `channel`: that of the channel, as rings and trees over whole nodes
  // have them, or that nearest to its GPU.
  int Out(int rank, int channel) const;
  // Of what leaves a node by `out` for the rank `to`.
  int In(int out, int to) const;

 private:
  const ClusterNetwork& network_;
  const GroupPlaces& places_;
  int channels_;
  bool of_channels_;
  bool same_;
};

}  // namespace zerosim
