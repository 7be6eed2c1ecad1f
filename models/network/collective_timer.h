// Times collectives on the links of one cluster: any kind, group and size. A sweep over sizes and a
// training step ask the same timer, so that a lone collective takes the same time in both.
//
// Not modelled: collective_cost.h. What a calibration measured of links is not used: NCCL's
// achieved fractions (models/nccl/achieved.h) hold, or 1 on GPUs that NCCL does not run on.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <tuple>

#include "models/collectives/algorithms.h"
#include "models/hardware/hardware.h"
#include "models/nccl/nccl.h"
#include "models/nccl/overrides.h"
#include "models/network/collective_cost.h"
#include "models/network/spec_network.h"

namespace zerosim {

// What NCCL calls it.
NcclCollective NcclKindOf(CollectiveKind kind);

struct TimedCall {
  CollectiveKind kind = CollectiveKind::kAllReduce;
  ProcessGroup group;
  Bytes size;  // as collective_cost.h counts
  int gpus_per_process = 1;
};

struct TimedCollective {
  CollectiveCost cost;
  const ScheduleOnLinks* on_links = nullptr;  // what takes that time; the timer's
};

class CollectiveTimer {
 public:
  // On all of `part`, which is `cluster` or fewer of its nodes, GPUs and NICs.
  CollectiveTimer(const ClusterSpec& cluster, const ClusterSpec& part, const NcclVersion& version,
                  const NcclOverrides& overrides);
  ~CollectiveTimer();
  CollectiveTimer(const CollectiveTimer&) = delete;
  CollectiveTimer& operator=(const CollectiveTimer&) = delete;

  // As NCCL would carry it out. Throws std::invalid_argument, with a text for the user, if NCCL
  // does not run on the GPU, or its overrides leave no algorithm.
  TimedCollective Nccl(const TimedCall& call);

  // By that algorithm at full rate, without NCCL's protocols. Throws std::invalid_argument if it
  // cannot do the collective.
  TimedCollective Plain(Algorithm algorithm, const TimedCall& call);

  // The fastest of what NCCL takes and of all algorithms that can do the collective on this
  // hardware: those that reduce in switches only where there are such.
  TimedCollective Best(const TimedCall& call);

  // The links at achieved rates, and what of data sheets that is.
  const ClusterNetwork& network() const { return network_; }
  const LinkFractions& fractions() const { return fractions_; }
  // What switches of the hardware reduce.
  const SwitchesThatReduce& switches() const { return switches_; }

 private:
  // Whether NCCL's, which algorithm, kind, and the group.
  using Key = std::tuple<bool, int, CollectiveKind, int, int>;
  struct Communicators;

  AlgorithmOptions OptionsOf(const ProcessGroup& group) const;
  const ScheduleOnLinks& Known(const Key& key, const Schedule& schedule, const ProcessGroup& group,
                               StageOrder order);

  ClusterSpec part_;
  LinkFractions fractions_;
  ClusterNetwork network_;
  SwitchesThatReduce switches_;
  std::unique_ptr<Communicators> communicators_;  // null where NCCL does not run
  std::map<Key, ScheduleOnLinks> on_links_;
};

}  // namespace zerosim
