// The time that a collective takes with NCCL, in the parts by which a simulator charges it.
//
//   time = latency + transfer + fill, and at least the launch floor
//
// latency: base and steps, by NCCL's own step latencies (newest constants, whatever the version:
// they are measurements, and later ones better). transfer: the bytes on the busiest link over the
// rate that it achieves. fill: what a pipeline of chunks pays before all of its stages work. The
// formulas and what each was seen on: README.md.
//
// Not modelled: contention with other traffic, stragglers, message sizes that a fabric handles
// badly (Slingshot and TCP between 4 KiB and 256 MiB), registered buffers and symmetric kernels,
// SHARP beyond NCCL's own numbers.
#pragma once

#include <algorithm>
#include <optional>

#include "models/core/units.h"
#include "models/nccl/achieved.h"
#include "models/nccl/nccl.h"
#include "models/nccl/tuner.h"

namespace zerosim {

struct NcclTime {
  std::optional<NcclChoice> choice;  // of collectives that NCCL tunes
  int node_steps = 0;                // one after the other, in the node
  int network_steps = 0;             // and between nodes
  Seconds latency;
  Bytes gpu_link_bytes;     // on the wire, flags included, that the busiest GPU sends its peers
  Bytes node_egress_bytes;  // that the busiest node sends out
  Seconds transfer;         // of these bytes, if nothing else is on the links
  Seconds fill;
  Seconds launch_floor;

  Seconds total() const { return std::max(latency + transfer + fill, launch_floor); }
};

struct NcclCall {
  NcclCollective collective = NcclCollective::kAllReduce;
  // As nccl-tests prints it: the whole vector of an all-reduce, broadcast or reduce, of all ranks
  // together in an all-gather or reduce-scatter, what one rank sends in all in an all-to-all or to
  // its one peer in a send.
  Bytes size;
  int gpus_per_process = 1;
};

// Nothing if the overrides leave no algorithm. One rank alone takes no time.
std::optional<NcclTime> TimeOf(const NcclCommunicator& communicator, const NcclCall& call,
                               const NcclAchieved& achieved);

}  // namespace zerosim
