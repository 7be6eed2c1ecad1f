// The reference engine: every message of every rank on a platform that has every link.
//
// Slow (some microseconds a message, and messages grow with ranks times rounds), so for clusters of
// tens of GPUs. It shares nothing with the fluid engine but the program and the plans of the
// collectives: it counts no loads and merges no links. A rank sends its next block when its last
// one has left and the one that it forwards has arrived.
//
// In a pipeline a rank runs the operations of its stage; a send goes from each rank to the one of
// equal place in the other stage, from GPU to GPU in a node, through the NICs of both GPUs between
// nodes, and both ranks go on when it has arrived. What waits for an operation of another stage
// waits for the rank of equal place there. Collectives inside of a kernel are sent as all others,
// the kernel in equal parts before each of them: here they share links with whatever else is sent,
// where the fluid engine takes their time alone.
//
// Not modelled: that a send waits for its receiver to be ready (NCCL's rendezvous), in either
// engine.
#pragma once

#include <stdexcept>
#include <vector>

#include "models/program/step_program.h"
#include "models/scenario/scenario.h"
#include "sim/network.h"
#include "sim/timeline.h"

namespace zerosim {

// The engine cannot take what it is asked to simulate; what() says which engine can.
class EngineLimit : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

// Plays `program` on all ranks of the cluster that `network` describes. An operation's interval is
// from its first start to its last end over the ranks of its class: where sends of one stage share
// a NIC with other traffic its ranks drift apart, and intervals are longer than what one rank does.
// Once a process (simgrid_session.h). Throws EngineLimit for more than kMaxMessageRanks ranks or
// kMaxMessages messages, which take about a minute.
//
// `gpu_of_rank[r]` is the GPU (node * gpus_per_node + local place) that rank r drives; empty: r
// itself. It must be a permutation that keeps the ranks of a node together; on a symmetric cluster
// any such gives the same times.
Timeline RunMessages(const StepProgram& program, const NetworkModel& network,
                     CollectiveAlgorithm algorithm, const std::vector<int>& gpu_of_rank = {});

inline constexpr int kMaxMessageRanks = 512;
inline constexpr double kMaxMessages = 1e7;

}  // namespace zerosim
