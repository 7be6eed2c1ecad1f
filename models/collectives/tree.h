// Trees and chains: who is above and below a member, and when it sends.
#pragma once

#include <vector>

#include "models/collectives/schedule.h"

namespace zerosim {

int TreesOf(const Stage& stage);  // 2 or 1; each carries its part of a channel's vector

int TreeRounds(const Stage& stage, const GroupShape& shape);
std::vector<Send> TreeSends(const Stage& stage, const GroupShape& shape, int channel, int member,
                            int round);
std::vector<PeerShare> TreePeers(const Stage& stage, const GroupShape& shape, int channel,
                                 int member);
Steps TreeSteps(const Stage& stage, const GroupShape& shape);

}  // namespace zerosim
