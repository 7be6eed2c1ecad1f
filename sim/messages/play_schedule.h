// The reference that closed forms of collectives are held against
// (tests/sim/random_topologies_test.cc); no command uses it. One collective by itself, message by
// message, on every link of a cluster of any form.
//
// A member begins a round of a stage when what it sent and received in the rounds before, on that
// channel, is over; and a stage when it is done with the one before on all channels. Links share
// their capacity max-min fairly between the messages that pass them. Latencies are left out: they
// are counted by algorithm (models/collectives/schedule.h) and not by link.
#pragma once

#include <cstdint>
#include <vector>

#include "models/core/units.h"
#include "models/network/cluster_network.h"
#include "sim/messages/schedule_messages.h"

namespace zerosim {

struct PlayedSchedule {
  Seconds time;
  std::int64_t messages = 0;
};

// `size` is one group's whole vector; each message is rounded to whole bytes. Once a process
// (simgrid_session.h). Throws std::logic_error if a member waits for what never comes.
PlayedSchedule PlaySchedule(const ClusterNetwork& network,
                            const std::vector<ScheduledMessage>& messages, Bytes size);

}  // namespace zerosim
