// What a stage puts on links in which all members of a group are peers, or a switch is.
#pragma once

#include "models/network/group_places.h"
#include "models/network/load_tally.h"

namespace zerosim {

// Adds a stage of the pattern kExchange or kSwitch.
void CountExchange(const ClusterNetwork& network, const Stage& stage, const GroupPlaces& places,
                   NicRule rule, LoadTally* tally);
void CountSwitch(const ClusterNetwork& network, const Stage& stage, const GroupPlaces& places,
                 LoadTally* tally);

}  // namespace zerosim
