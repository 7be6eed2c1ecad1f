// All-to-all and send/receive: grouped sends and receives, which NCCL does not tune.
#pragma once

#include "models/nccl/physical_time.h"

namespace zerosim {

// Channels that a pair of ranks gets (src/graph/paths.cc, src/enqueue.cc). The minimum over all
// peers holds for all of them, so that one peer over the network also limits those in the node.
// Between nodes: 2 up to 2.19; halved while 2 n > 4 pool up to 2.28; from 2.29 the NIC's rate over
// 14 GB/s, halved while channels * ceil(n / 8) > pool. In one node with NVLink a send grows from
// what the pool of 32 gives each of n peers, doubling while a channel carries more than 16 MiB;
// without NVLink 2.
int ChannelsPerPeer(const NcclCommunicator& communicator, Bytes size);

// The time of `call`, kAllToAll or kSendReceive, on two ranks or more.
NcclTime PointToPointTime(const NcclCommunicator& communicator, const NcclCall& call,
                          const NcclAchieved& achieved);

}  // namespace zerosim
