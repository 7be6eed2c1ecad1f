// What a stage puts on links whose members send to few others: rings, trees, partners at distances.
#pragma once

#include "models/network/group_places.h"
#include "models/network/load_tally.h"

namespace zerosim {

// Adds a stage of any pattern but kExchange and kSwitch. Of regular patterns the messages of node 0
// are counted and, over the fabric, those of each node; of ways out of a node that lead to the same
// nodes one is looked at for all.
void CountPeers(const ClusterNetwork& network, const Stage& stage, const GroupPlaces& places,
                NicRule rule, LoadTally* tally);

}  // namespace zerosim
