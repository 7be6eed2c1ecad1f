// Which ranks of a job work together, as groups of a regular form.
//
// Ranks count through the dimensions of a job in a fixed order, the first one fastest: with the
// order tp-cp-dp-pp, rank = t + TP (c + CP (d + DP p)). So every group of a dimension is `size`
// ranks, `stride` apart, and a program needs no list of ranks at any scale. Node k holds the GPUs
// of ranks k L to k L + L - 1.
#pragma once

#include <cstdint>

#include "models/parallel/parallel.h"

namespace zerosim {

// Ranks of one collective: size members, stride apart. (W, 1) is the world, (G, 1) every block of G
// contiguous ranks, (N, L) the GPUs of equal local rank. All groups of that form run at once.
struct ProcessGroup {
  int size = 1;
  int stride = 1;
  friend bool operator==(const ProcessGroup&, const ProcessGroup&) = default;
};

// The groups of a job.
struct ProcessGroups {
  ProcessGroup tensor;       // divides every matrix
  ProcessGroup context;      // divides the sequence
  ProcessGroup pipeline;     // ranks of equal place in their stages
  ProcessGroup expert;       // divides the experts, and the data-parallel ranks
  ProcessGroup expert_data;  // data-parallel ranks that hold the same experts

  // Over which the states of a model are sharded and gradients are reduced.
  ProcessGroup data;       // all ranks that train the same weights on other tokens
  ProcessGroup shard;      // spreads one copy of the states; = data unless replicas share them
  ProcessGroup replicas;   // ranks of equal place in the shard groups of one data group
  ProcessGroup secondary;  // spreads hpZ's second copy of the weights
  ProcessGroup in_node;    // the ranks of a shard group that share a node
  ProcessGroup across;     // its ranks of equal place in their nodes
};

// Splits a group over nodes of `gpus_per_node`: the part inside of a node, and the ranks of equal
// place. Requires IsRegular(group, gpus_per_node).
struct NodeSplit {
  ProcessGroup in_node;
  ProcessGroup across;
};
NodeSplit SplitByNode(const ProcessGroup& group, int gpus_per_node);

// Whether every group of that form lies in whole nodes alike: inside of one node, or with equally
// many ranks in each node that it reaches.
bool IsRegular(const ProcessGroup& group, int gpus_per_node);

// Groups of `world` ranks on nodes of `gpus_per_node`. Of the data-parallel ranks, `shard_size`
// hold one copy of the states (0: all of them) and `secondary_size` the second copy of the weights
// (1: none). Throws std::invalid_argument if a size does not divide what it is a part of, or a
// group is not regular.
ProcessGroups ProcessGroupsOf(int world, const ParallelSpec& parallel, int shard_size,
                              int secondary_size, int gpus_per_node);

}  // namespace zerosim
