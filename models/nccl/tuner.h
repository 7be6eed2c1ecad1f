// A communicator, and which algorithm, protocol and channels NCCL takes for a collective on it.
//
// NCCL reckons for each entry of its table latency + bytes / bandwidth, corrected for trees and for
// rings between nodes, and takes the least (src/enqueue.cc). Tuner plug-ins, which may rewrite the
// table (AWS ships one for EFA), are not modelled; nor is the aggregation of several collectives.
#pragma once

#include <optional>

#include "models/core/units.h"
#include "models/nccl/constants.h"
#include "models/nccl/cost_table.h"
#include "models/nccl/graphs.h"
#include "models/nccl/nccl.h"
#include "models/nccl/overrides.h"
#include "models/nccl/topology.h"

namespace zerosim {

// All that depends on neither collective nor size. Made once; choosing by it takes well below 1 us.
struct NcclCommunicator {
  NcclTopology topology;
  NcclGroup group;
  NcclVersion version;
  NcclOverrides overrides;
  NcclGraphs graphs;
  TunerConstants shipped;  // of the version: what it chooses by
  NcclCostTable costs;
  TunerConstants newest;       // the best known latencies: what a choice takes
  NcclCostTable newest_costs;  // of every algorithm and protocol, whether enabled or not
};

// Throws std::invalid_argument as SearchGraphs does.
NcclCommunicator MakeCommunicator(const NcclTopology& topology, const NcclGroup& group,
                                  const NcclVersion& version = {},
                                  const NcclOverrides& overrides = {});

struct NcclChoice {
  NcclAlgorithm algorithm = NcclAlgorithm::kRing;
  NcclProtocol protocol = NcclProtocol::kSimple;
  int channels = 1;  // thread blocks of each GPU
  int threads = 0;   // of one block
  Seconds cost;      // as NCCL reckons
};

// NCCL's prediction for one algorithm and protocol; nothing if it is not enabled. `size` is what
// nccl-tests prints: the vector of an all-reduce, of all ranks together in an all-gather or a
// reduce-scatter.
std::optional<Seconds> ShippedCost(const NcclCommunicator& communicator, NcclCollective collective,
                                   NcclAlgorithm algorithm, NcclProtocol protocol, Bytes size);

// Nothing if the overrides leave no algorithm (NCCL then fails), if there is one rank, or for
// collectives made of sends and receives, which are not tuned.
std::optional<NcclChoice> Choose(const NcclCommunicator& communicator, NcclCollective collective,
                                 Bytes size);

}  // namespace zerosim
