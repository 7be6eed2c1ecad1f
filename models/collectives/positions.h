// Where the members of a stage stand in its sub-groups, rings and chains.
#pragma once

#include "models/collectives/schedule.h"

namespace zerosim {

// The place of a member in its sub-group, and who stands at a place of it.
inline int PositionOf(const Stage& stage, int member) {
  return member / stage.among.stride % stage.among.size;
}
inline int MemberAt(const Stage& stage, int member, int position) {
  return member + (position - PositionOf(stage, member)) * stage.among.stride;
}

inline bool Crosses(const GroupShape& shape, int a, int b) {
  return a / shape.local != b / shape.local;
}

// Whether the stage's sub-groups are whole nodes, which channels visit in orders of their own.
bool CoversNodes(const Stage& stage, const GroupShape& shape);

// The place of a position in the ring of a channel, and back.
int RingPlace(const Stage& stage, const GroupShape& shape, int channel, int position);
int PositionInRing(const Stage& stage, const GroupShape& shape, int channel, int place);

// What one position is of the whole vector.
double PositionShare(const Stage& stage, const GroupShape& shape);

}  // namespace zerosim
