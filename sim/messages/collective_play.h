// One collective, message by message, on all groups of its form at once: those of one stage of a
// pipeline, if there is one.
//
// A rank sends its next block when its last one has left and the one that it forwards has arrived.
#pragma once

#include <functional>
#include <vector>

#include "models/program/step_program.h"
#include "models/scenario/scenario.h"
#include "sim/collectives/plan.h"
#include "sim/messages/activities.h"
#include "sim/messages/platform.h"
#include "sim/network.h"

namespace zerosim {

class CollectivePlay {
 public:
  // Neither a send nor a copy to or from the host. `network`, `platform` and `activities` must
  // outlive it.
  CollectivePlay(const CallKind& kind, const Call& call, const NetworkModel& network,
                 CollectiveAlgorithm algorithm, const MessagePlatform& platform,
                 Activities* activities);
  CollectivePlay(const CollectivePlay&) = delete;
  CollectivePlay& operator=(const CollectivePlay&) = delete;

  // What each rank spends before it sends: launches, and the latency of the steps of launches after
  // the first.
  Seconds lead() const { return lead_; }

  // The rank takes part from now on; `leaves` is called when it has sent and received everything.
  void Enter(int rank, std::function<void()> leaves);

 private:
  // How far one rank has come on one channel of one stage of the plan.
  struct Progress {
    int sent = 0;
    int received = 0;
    bool sending = false;
  };
  struct Message {
    int from = 0;
    int to = 0;
    int stage = 0;
    int channel = 0;
  };

  Progress& ProgressOf(int rank, int stage, int channel) {
    return progress_[rank * offsets_.back() + offsets_[stage] + channel];
  }
  void EnterStage(int rank, int stage);
  void Advance(int rank, int channel);
  void Send(int rank, int channel, int round);
  int NicOfChannelOf(int rank, const PlanStage& stage, int channel) const;
  void Arrived(const Message& message);

  ProcessGroup group_;
  const NetworkModel& network_;
  const MessagePlatform& platform_;
  Activities* activities_;
  Plan plan_;
  Seconds lead_;
  std::vector<int> offsets_;                   // of each stage's channels; then how many in all
  std::vector<int> stage_;                     // of each rank; -1 before it entered
  std::vector<std::function<void()>> leaves_;  // of each rank
  std::vector<Progress> progress_;
};

}  // namespace zerosim
