// The time of a collective over sizes, as nccl-tests measure it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "models/collectives/algorithms.h"
#include "models/hardware/hardware.h"
#include "models/nccl/nccl.h"
#include "models/nccl/overrides.h"
#include "models/network/collective_cost.h"
#include "models/network/collective_timer.h"

namespace zerosim {

struct CollectiveQuestion {
  CollectiveKind kind = CollectiveKind::kAllReduce;
  int nodes = 1;
  int gpus_per_node = 1;  // of each node; fewer than it has need a node whose GPUs are all alike
  // What NCCL takes; otherwise this algorithm at full rate, without NCCL's protocols.
  std::optional<Algorithm> algorithm;
  bool best = false;  // the fastest for each size, without an algorithm (CollectiveTimer::Best)
  NcclVersion version;
  NcclOverrides overrides;
  int gpus_per_process = 1;
  std::vector<Bytes> sizes;
};

struct CollectiveRow {
  Bytes size;
  CollectiveCost cost;
  Seconds bound;
  BytesPerSecond algbw;
  BytesPerSecond busbw;
  BytesPerSecond busbw_bound;
};

// Sizes from `least` to `most`, each `factor` times the one before. Requires least >= 1, factor
// > 1.
std::vector<Bytes> Sizes(Bytes least, Bytes most, double factor);

// One row a size. Throws std::invalid_argument, with a text for the user, if the cluster or NCCL
// cannot do what is asked, and std::logic_error if a time beats the bound.
std::vector<CollectiveRow> SweepCollective(const ClusterSpec& cluster,
                                           const CollectiveQuestion& question);

}  // namespace zerosim
