// Every link of the cluster as a link of SimGrid, and which of them a message takes.
#pragma once

#include <vector>

#include "models/program/step_program.h"
#include "sim/network.h"

namespace simgrid::s4u {
class Host;
}

namespace zerosim {

// Where a message starts and ends: its route is all links between.
struct Ends {
  simgrid::s4u::Host* from = nullptr;
  simgrid::s4u::Host* to = nullptr;
};

// GPUs with a link of each direction to the others of their node; NICs, and the links of each node
// to the fabric; with copies, the GPUs' PCIe slots. Each has the capacity of its kind.
class MessagePlatform {
 public:
  // `gpu_of_rank` as in RunMessages, not empty. Needs a SimGridSession.
  MessagePlatform(const NetworkModel& network, std::vector<int> gpu_of_rank, bool has_copies);

  // The GPU of a rank. Its second power state is the rate that collectives leave its kernels.
  simgrid::s4u::Host* Gpu(int rank) const { return gpus_[gpu_of_rank_[rank]]; }

  bool Crosses(int from, int to) const { return NodeOf(from) != NodeOf(to); }
  // The NIC of a node that serves the rank's GPU, and all that serve its stage's GPUs there.
  int NicOf(int rank) const;
  std::vector<int> NicsOfStage(int rank) const;

  // A message between ranks of one node.
  Ends InNode(int from, int to) const { return {Gpu(from), Gpu(to)}; }
  // And one that leaves by that NIC of its node and arrives at that NIC of the other's.
  Ends BetweenNodes(int from, int from_nic, int to, int to_nic) const {
    return {Nic(from, from_nic), Nic(to, to_nic)};
  }
  // A copy between the rank's GPU and its node's memory.
  Ends Copy(int rank, CollectiveOp op) const;

 private:
  int NodeOf(int rank) const { return gpu_of_rank_[rank] / network_.gpus_per_node; }
  simgrid::s4u::Host* Nic(int rank, int nic) const {
    return nics_[NodeOf(rank) * network_.nics_per_node + nic];
  }

  const NetworkModel& network_;
  std::vector<int> gpu_of_rank_;
  std::vector<simgrid::s4u::Host*> gpus_;  // by node * gpus_per_node + local place
  std::vector<simgrid::s4u::Host*> nics_;  // by node * nics_per_node + nic
  // By GPU: its PCIe slot, and what it can reach of the host's memory. Empty without copies.
  std::vector<simgrid::s4u::Host*> slots_;
  std::vector<simgrid::s4u::Host*> memories_;
};

}  // namespace zerosim
