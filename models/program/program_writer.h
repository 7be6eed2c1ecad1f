// Writes a step program in the order in which a host thread launches it, and keeps track of what
// each stream and communicator must wait for.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/program/step_program.h"

namespace zerosim {

// The queues in which collectives run one after the other. Those of different communicators may
// overlap and then share links.
enum class Communicator : std::uint8_t {
  kShard,        // the ranks that one copy of the states is spread over
  kData,         // all data-parallel ranks, where that is more
  kReplicas,     // ranks of equal place in their shard groups
  kSecondary,    // hpZ's
  kNode,         // the shard group's ranks of one node
  kAcrossNodes,  // and those of equal place in their nodes
  kTensor,       // the ranks that divide every matrix
  kContext,      // the ranks that divide the sequence
  kExpert,       // the ranks that divide the experts
  kExpertData,   // data-parallel ranks that hold the same experts
  kNextStage,    // of a pipeline
  kPreviousStage,
  kTiedStages,  // its first and its last
  kToHost,      // a GPU's engine for copies to its node's memory
  kFromHost,    // and the one for copies from there
};
inline constexpr int kNumCommunicators = static_cast<int>(Communicator::kFromHost) + 1;
inline constexpr int kNumStreams = 5;

// What the next operations belong to.
struct Label {
  Phase phase = Phase::kForward;
  Action action = Action::kHostWork;
  Part part = Part::kEmbedding;
  int layer = -1;
  int micro_step = 0;
};

// The same, for another action.
inline Label WithAction(Label label, Action action) {
  label.action = action;
  return label;
}

class ProgramWriter {
 public:
  // One class of ranks at least; the first one is active.
  explicit ProgramWriter(std::vector<std::string> rank_classes);

  // What follows is launched by the ranks of that class.
  void SetRankClass(int rank_class) { rank_class_ = rank_class; }

  // Until EndFold, compute kernels and the collectives that compute waits for become one operation
  // that waits for what it would have waited for at its begin; host work is spent beside it. For
  // passes in which nothing overlaps: same time, far fewer operations.
  void BeginFold(const Label& label);
  void EndFold();

  // Time that the host spends before whatever it launches next.
  void HostWork(const Label& label, Seconds time);

  // Work of the host that is an operation of its own, as an optimizer on the CPU.
  void HostTask(const Label& label, Seconds time);

  // The host stops until `op` is done.
  void HostWaits(const Label& label, OpId op);

  // The host stops until all work of `stream` so far is done.
  void HostWaits(const Label& label, Stream stream);

  // A kernel on `stream`. Compute kernels of one layer that follow each other with nothing in
  // between become one operation: same time, fewer operations.
  OpId Kernel(Stream stream, const Label& label, Seconds time);

  // Adds `time` to the last compute kernel, or makes one.
  void ExtendCompute(const Label& label, Seconds time);

  // A collective launched from `issuer` on `communicator`, after `lead` of work of its own. The
  // issuer goes on at once: whoever needs the result waits for the returned operation.
  OpId Collective(Stream issuer, Communicator communicator, const Label& label, const Call& call,
                  Seconds lead);

  // What `stream` launches next waits for `op`, or for all of `other` so far.
  void StreamWaits(Stream stream, OpId op);
  void StreamWaits(Stream stream, Stream other);

  // Operations that `stream` has to wait for now, the last ones of it.
  const std::vector<OpId>& tail(Stream stream) const { return state().tails[Index(stream)]; }

  void Memory(MemoryTerm term, Bytes delta);
  void Warn(std::string text);

  // Adds a kind of call; returns its place.
  int AddKind(CallKind kind);

  StepProgram Finish() &&;
  const StepProgram& program() const { return program_; }

 private:
  static constexpr int Index(Stream stream) { return static_cast<int>(stream); }
  OpId Add(const Label& label, OpKind kind, Stream stream, Seconds time, std::vector<OpId> deps);
  // Turns the host's pending time into an operation and returns the host's last one.
  OpId FlushHost(const Label& label);

  // What the ranks of a class have launched so far.
  struct State {
    std::array<std::vector<OpId>, kNumStreams> tails;
    std::array<OpId, kNumCommunicators> communicator_tails;
    OpId host;  // the host's last operation
    Seconds host_pending;
    OpId open_compute;  // may still be extended; -1 if not
  };
  // An operation in the making.
  struct Fold {
    Label label;
    Seconds time;
    Seconds host;
    std::vector<InlineCall> calls;
  };
  State& state() { return states_[rank_class_]; }
  const State& state() const { return states_[rank_class_]; }

  StepProgram program_;
  std::vector<State> states_;
  int rank_class_ = 0;
  std::optional<Fold> fold_;
};

}  // namespace zerosim
