// How long one collective takes on the links of a cluster, and which of them decides.
//
//   time = max(latency + transfer + fill, launch floor)
//
// An algorithm's latency is its steps; its transfer is what the busiest link needs for the bytes
// that it carries (stage_loads.h). Where NCCL chooses, latency, fill and what its protocols lose
// are those of models/nccl/, and the links of this cluster only add what limits them further: the
// two agree on nodes and fabrics without narrow places.
//
// Compared with the message engine on random clusters (tests/sim/random_topologies_test.cc),
// without latency: exact for rings, shifts and exchanges whose messages are all sent at once (round
// by round they take up to 2.6 times as long where rounds load the links unevenly); for partners at
// distances, counted round by round, exact on fabrics that treat all alike, within 20 % below and
// 35 % above for PAT, whose members drift apart, and on graphs. Of trees and chains the fill is
// left out where NCCL does not choose: the time of the first chunk.
//
// Not modelled: other traffic, and what models/nccl/physical_time.h lists.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/collectives/algorithms.h"
#include "models/core/units.h"
#include "models/nccl/physical_time.h"
#include "models/network/cluster_network.h"
#include "models/network/stage_loads.h"
#include "models/parallel/groups.h"

namespace zerosim {

// A size is in bytes as nccl-tests counts them: of an all-gather or reduce-scatter those of all
// ranks together, of an all-to-all or send what one rank sends in all.

// A schedule on the links of a cluster, before any size.
struct ScheduleOnLinks {
  // What limits a stage, and the time that it needs there for each byte of the size. Stages with
  // the same limit are added up.
  struct Limit {
    std::string name;
    double seconds_per_byte = 0;
  };
  std::vector<Limit> limits;
  double out_of_node = 0;  // bytes that the busiest node sends out for each byte of the size
  StageLoads loads;        // of all stages together; out_of_node apart
  Steps steps;
};

struct CollectiveCost {
  std::string algorithm;
  std::string protocol;  // empty if the algorithm is not NCCL's
  int channels = 0;
  Seconds latency;
  Seconds transfer;
  Seconds fill;
  Seconds launch_floor;
  std::string limit;       // "nic out", "nvlink", "latency", "launch": what takes the most time
  double out_of_node = 0;  // bytes that the busiest node sends out

  Seconds time() const { return std::max(latency + transfer + fill, launch_floor); }
};

// Times of a step of an algorithm that is not NCCL's.
struct StepLatency {
  Seconds launch;
  Seconds in_node;
  Seconds across;
};

// Whether stages follow each other, or chunks of the vector are in all of them at once, as NCCL's.
enum class StageOrder : std::uint8_t { kOneByOne, kPipelined };

// Counts stages at the rates of `network`: achieved ones, where times are meant. All groups of the
// form `group` run at once.
ScheduleOnLinks PutOnLinks(const ClusterNetwork& network, const Schedule& schedule,
                           const ProcessGroup& group, StageOrder order,
                           NicRule rule = NicRule::kNearest);

// Without NCCL: steps and transfer.
CollectiveCost CostOf(const ScheduleOnLinks& schedule, Bytes size, const StepLatency& latency);

// The schedule that NCCL plays with such a choice (of sends, without one).
Schedule NcclSchedule(const ClusterNetwork& network, const std::optional<NcclChoice>& choice,
                      CollectiveKind kind, const ProcessGroup& group);

// With NCCL. `time` is its own (models/nccl/physical_time.h) for the same group and size, and
// `schedule` that of its choice.
CollectiveCost CostOf(const ScheduleOnLinks& schedule, Bytes size, const NcclTime& time);

// What reduces and multicasts on the way, so that an all-reduce sends each byte once.
struct SwitchesThatReduce {
  bool in_node = false;  // NVLink SHARP
  bool across = false;   // SHARP
};

// The least time for the bytes that must move, whatever the algorithm: those that a GPU must send
// over its links (in one node NVLinks alone where they reach all its GPUs), and a node over its
// NICs, at the rates of `network`.
Seconds BoundOf(const ClusterNetwork& network, CollectiveKind kind, const ProcessGroup& group,
                Bytes size, const SwitchesThatReduce& switches);

// busbw over algbw, as nccl-tests defines it (doc/PERFORMANCE.md).
double BusFactor(CollectiveKind kind, int ranks);

}  // namespace zerosim
