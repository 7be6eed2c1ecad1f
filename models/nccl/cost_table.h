// What NCCL reckons with for each collective, algorithm and protocol: latency and bandwidth.
//
// Formulas of src/graph/tuning.cc, with the constants of a version. Good for the choice that NCCL
// makes by them (tuner.h), less so for the time that the choice takes (physical_time.h).
#pragma once

#include <array>

#include "models/core/units.h"
#include "models/nccl/constants.h"
#include "models/nccl/graphs.h"
#include "models/nccl/nccl.h"
#include "models/nccl/overrides.h"
#include "models/nccl/topology.h"

namespace zerosim {

struct NcclCost {
  Seconds latency;
  BytesPerSecond bandwidth;  // algbw: bytes are the size that nccl-tests prints. 0: not enabled

  bool is_enabled() const { return bandwidth > BytesPerSecond(); }
};

using NcclCostTable = std::array<ByAlgorithm<NcclCost>, kNcclTunedCollectives>;

// Steps that follow one another, and the latency that NCCL sees in them. `base` is paid once.
struct NcclLatency {
  Seconds base;
  int node_steps = 0;
  Seconds node_step;
  int network_steps = 0;
  Seconds network_step;

  Seconds node() const { return node_steps * node_step; }
  Seconds network() const { return network_steps * network_step; }
  Seconds total() const { return base + node() + network(); }
};

// Ring: 2(n-1) steps of an all-reduce, n-1 of an all-gather or reduce-scatter, of which 2(N-1) or
// N-1 are between nodes. Tree: up and down, along the chain of a node's GPUs and log2 N levels of
// nodes. Broadcast and reduce are pipelined: they pay one step. PAT's term that is linear in ranks
// counts as steps in the node.
NcclLatency LatencyOf(NcclCollective collective, NcclAlgorithm algorithm, NcclProtocol protocol,
                      const NcclTopology& topology, const NcclGroup& group,
                      const TunerConstants& constants);

// Entries that the topology, the version or the user rules out are not enabled.
NcclCostTable CostTable(const NcclTopology& topology, const NcclGroup& group,
                        const NcclGraphs& graphs, const NcclVersion& version,
                        const NcclOverrides& overrides, const TunerConstants& constants);

}  // namespace zerosim
