// A training step as data: what each class of ranks launches, computes and communicates, and what
// waits for what.
//
// The operations form a directed acyclic graph in the order of launch: an operation depends only on
// earlier ones. Each belongs to a stream (host thread, compute, gather, reduce); kernels and
// collectives of one stream run in order, and so do the collectives of one communicator. Those
// orders are dependencies too, so an engine needs nothing but `deps`.
//
// Nothing in a program depends on time or on the number of GPUs: a program of 100,000 ranks is as
// large as one of 8. Ranks that do the same form one rank class.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/core/ids.h"
#include "models/core/units.h"
#include "models/parallel/groups.h"
#include "models/transformer/transformer.h"

namespace zerosim {

enum class Stream : std::uint8_t { kHost, kCompute, kGather, kReduce, kSend };
enum class OpKind : std::uint8_t { kHost, kKernel, kCollective };
enum class Phase : std::uint8_t { kForward, kBackward, kOptimizer };

// What an operation does; with the part and layer it names it.
enum class Action : std::uint8_t {
  kHostWork,  // launches and hooks
  kHostWait,  // the host waits for its dependencies
  kForward,
  kRecompute,
  kBackward,
  kGather,      // collective of weights
  kDequantize,  // and, of a coalesced gather, the copy into place
  kQuantize,
  kReduce,        // collective of gradients
  kReduceInNode,  // qgZ, first hop
  kRequantize,    // dequantise, sum, quantise between the hops
  kReduceAcross,  // qgZ, second hop
  kAccumulate,    // dequantise and sum after the last hop; adding to the gradient shard
  kOptimizer,
  kRefresh,   // all-gather of updated parameters
  kExchange,  // collective between the ranks that divide a model
  kSend,      // activations or their gradients to another stage
  kCopyToHost,
  kCopyToGpu,
};

// Collectives inside of a compute operation that nothing of its ranks overlaps: `count` times, one
// after the other. The fluid engine takes each as if it were alone on the network.
struct InlineCall {
  CallId call;
  int count = 1;
};

struct Op {
  OpKind kind = OpKind::kHost;
  Stream stream = Stream::kHost;
  Phase phase = Phase::kForward;
  Action action = Action::kHostWork;
  Part part = Part::kEmbedding;
  int layer = -1;
  int micro_step = 0;
  int rank_class = 0;
  // Host: duration. Kernel: time on an idle GPU. Collective: time before its first byte moves
  // beside the steps' latency (quantising the shard, the calls' launch cost).
  Seconds time;
  CallId call;                           // of a collective
  std::vector<InlineCall> inline_calls;  // of a kernel, beside `time`
  std::vector<OpId> deps;
};

enum class CollectiveOp : std::uint8_t {
  kAllGather,
  kReduceScatter,
  kAllReduce,
  kAllToAll,
  kSend,  // from every rank of one class to the rank of equal place in another
  // Between every GPU and the memory of its node: `full` is what each copies.
  kCopyToHost,
  kCopyToGpu,
};

// Collectives that a report adds up under one name.
struct CallKind {
  std::string name;  // "weights_forward"
  CollectiveOp op = CollectiveOp::kAllGather;
  ProcessGroup group;
  std::string group_name;  // "world", "secondary", "node", "across_nodes"
  // Of kSend: classes of ranks. The group is then {number of stages, distance of their ranks}.
  int from_class = 0;
  int to_class = 0;
};

// One collective. `full` is the whole vector: what every rank ends with in an all-gather, what
// every rank starts with in a reduce-scatter, all-reduce or all-to-all. With quantised values it is
// the bytes on the wire, scales included.
struct Call {
  int kind = 0;  // place in StepProgram::kinds
  Bytes full;
  Bytes payload;          // the values, at the precision of the model: what the caller asked for
  int launches = 1;       // collectives that it is made of (payload, scales): each pays latency
  bool pageable = false;  // of a copy: the host's buffer is not pinned
};

enum class MemoryTerm : std::uint8_t {
  kParameters,
  kGradients,
  kOptimizer,
  kSecondaryShard,
  kLiveParameters,
  kBuffers,
  kActivations,
  kLogits,
  kContext
};

// A change of memory when the host reaches `op` (allocators work in the host's order).
struct MemoryEvent {
  OpId op;
  MemoryTerm term = MemoryTerm::kLiveParameters;
  Bytes delta;
  OpId next = OpId{};  // the operation that is written next; -1: the one after `op`
  int rank_class = 0;
};

struct StepProgram {
  std::vector<Op> ops;
  std::vector<CallKind> kinds;
  std::vector<Call> calls;
  std::vector<MemoryEvent> memory;  // in the order of the host
  std::vector<std::string> rank_classes;
  std::vector<std::string> warnings;  // what falls back, has no effect or would fail in DeepSpeed
};

// "forward layers.3.qkv", "all-gather weights_forward layers.3.qkv".
std::string NameOf(const StepProgram& program, OpId id);

}  // namespace zerosim
