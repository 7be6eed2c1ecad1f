// A collective algorithm as data: stages of equal rounds, in each of which every rank sends one
// block to one peer.
//
// From a plan come the bytes on every link (lowering.h), the latency, and for small groups every
// message (message_engine.h), so that both engines play the same algorithm.
//
//   ring                 n-1 rounds (all-reduce: 2(n-1)) along one ring through all ranks; with k
//                        NICs a node as k rings (channels) that each carry 1/k and leave the node
//                        from another GPU
//   hierarchical ring    rings between the nodes, then rings inside (all-gather; the others mirror)
//   exchange             pairwise all-to-all: in the node n-1 rounds, across nodes ordered by node
//                        distance, so that in every round all ranks cross or none does
//
// Not modelled: trees, NVLS, PAT, chunked pipelining inside of a round.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/core/units.h"
#include "models/program/step_program.h"
#include "models/scenario/scenario.h"

namespace zerosim {

// Where the members of a group are: `local` of them in each of `nodes` nodes. Member i is local
// member i % local of the group's node i / local.
struct Placement {
  int nodes = 1;
  int local = 1;
  int groups_per_node = 1;  // groups of this form that share a node
  int size() const { return nodes * local; }
};

// Places a group on nodes of `gpus_per_node`. Throws std::invalid_argument if it is not regular
// (models/parallel/groups.h).
Placement PlacementOf(const ProcessGroup& group, int gpus_per_node);

enum class Pattern : std::uint8_t {
  kRing,        // member i to i+1, through all nodes
  kRingInNode,  // among the local members
  kRingAcross,  // among the members of equal local place
  kExchangeInNode,
  kExchangeAcross,
};

struct PlanStage {
  Pattern pattern = Pattern::kRing;
  int rounds = 0;
  Bytes block;       // that each rank sends in a round, over all channels
  int channels = 1;  // rings that the block is divided over
};

struct Plan {
  std::string algorithm;
  Placement placement;
  std::vector<PlanStage> stages;  // one after the other; empty for a group of one
};

// `full` as in Call. Blocks are rounded up, as frameworks pad shards.
Plan PlanCollective(CollectiveOp op, Bytes full, const Placement& placement,
                    CollectiveAlgorithm algorithm, int nics_per_node);

// Whom member `i` sends to in `round` of `stage`, on `channel`.
int PeerOf(const PlanStage& stage, const Placement& placement, int i, int round, int channel);

// The NIC of a node that channel `channel` of its `group`-th group takes: groups and channels have
// NICs of their own as far as there are any.
int NicOfChannel(const PlanStage& stage, const Placement& placement, int group, int channel,
                 int nics_per_node);

// Whether it is in another node.
bool Crosses(const Placement& placement, int from, int to);

}  // namespace zerosim
