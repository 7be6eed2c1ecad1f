// Plays a schedule on sets instead of numbers: each block carries the set of members whose input is
// in it, so that an input that is summed twice, lost or sent too early is seen.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "models/collectives/schedule.h"

namespace zerosim {

using Inputs = std::uint64_t;                 // a bit a member; groups of up to 63
using Parcel = std::map<int, Inputs>;         // by block
using Holdings = std::vector<Parcel>;         // by member
using Item = std::pair<int, int>;             // of an all-to-all: from, to
using Mailbag = std::vector<std::set<Item>>;  // by member

// Each throws std::logic_error if a schedule moves what its member does not have, sums an input
// twice or stores a block twice.
void Play(const Schedule& schedule, int channel, Holdings* held);
void PlayPersonal(const Schedule& schedule, Mailbag* held);

}  // namespace zerosim
