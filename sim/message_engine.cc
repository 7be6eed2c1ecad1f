#include "sim/message_engine.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <simgrid/s4u.hpp>

#include "models/core/check.h"
#include "sim/collectives/plan.h"
#include "sim/dependencies.h"
#include "sim/lowering.h"
#include "sim/messages/activities.h"
#include "sim/messages/collective_play.h"
#include "sim/messages/platform.h"
#include "sim/simgrid_session.h"

namespace zerosim {
namespace {

int WorldOf(const NetworkModel& network) {
  return network.nodes * network.gpus_per_node;
}

std::vector<int> GpuOfEachRank(const NetworkModel& network, const std::vector<int>& chosen) {
  if (!chosen.empty()) return chosen;
  std::vector<int> gpus(static_cast<std::size_t>(WorldOf(network)));
  std::iota(gpus.begin(), gpus.end(), 0);
  return gpus;
}

bool HasCopies(const StepProgram& program) {
  return std::ranges::any_of(program.kinds, [](const CallKind& kind) { return IsCopy(kind.op); });
}

// Every rank's operations, each started when what it waits for on that rank is done.
class MessageRun {
 public:
  MessageRun(const StepProgram& program, const NetworkModel& network, CollectiveAlgorithm algorithm,
             const std::vector<int>& gpu_of_rank)
      : program_(program),
        network_(network),
        algorithm_(algorithm),
        world_(WorldOf(network)),
        successors_(program),
        dependencies_(static_cast<std::size_t>(world_), Dependencies(successors_)),
        session_(SharingModel::kMessages),
        activities_(&session_),
        platform_(network, GpuOfEachRank(network, gpu_of_rank), HasCopies(program)) {
    timeline_.ops.resize(program.ops.size());
    timeline_.engine = "message";
    started_.resize(program.ops.size(), false);
  }

  Timeline Run();

 private:
  void Start(int id, int rank);
  void Copy(int id, int rank);
  void Finish(int id, int rank);
  CollectivePlay& PlayOf(int id);
  void ShareGpu(int rank, int change);

  const StepProgram& program_;
  const NetworkModel& network_;
  CollectiveAlgorithm algorithm_;
  int world_;
  Successors successors_;
  std::vector<Dependencies> dependencies_;
  SimGridSession session_;
  Activities activities_;
  MessagePlatform platform_;
  std::vector<int> collectives_on_ = std::vector<int>(world_, 0);  // of each rank: running now
  std::vector<std::unique_ptr<CollectivePlay>> plays_ =
      std::vector<std::unique_ptr<CollectivePlay>>(program_.ops.size());
  std::vector<bool> started_;
  std::size_t done_ = 0;
  Timeline timeline_;
};

Timeline MessageRun::Run() {
  const auto begin = std::chrono::steady_clock::now();
  for (int rank = 0; rank < world_; ++rank) {
    for (const int op : successors_.roots()) session_.Soon([=, this] { Start(op, rank); });
  }
  timeline_.end = session_.Run();
  ZEROSIM_CHECK(done_ == program_.ops.size() * world_, "{} of {} x {} operations ran", done_,
                program_.ops.size(), world_);
  timeline_.activities = activities_.started();
  timeline_.link_classes =
      HasCopies(program_) ? NetworkModel::kNumKinds : NetworkModel::kToHost.value;
  timeline_.wall = Seconds::Count(
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  return std::move(timeline_);
}

void MessageRun::Start(int id, int rank) {
  const Op& op = program_.ops[id];
  Interval& interval = timeline_.ops[id];
  if (!started_[id] || session_.now() < interval.start) interval.start = session_.now();
  started_[id] = true;
  switch (op.kind) {
    case OpKind::kHost:
      session_.After(op.time, [=, this] { Finish(id, rank); });
      return;
    case OpKind::kKernel:
      if (op.time <= Seconds()) {
        session_.Soon([=, this] { Finish(id, rank); });
        return;
      }
      activities_.Execute(platform_.Gpu(rank), op.time, [=, this] { Finish(id, rank); });
      return;
    case OpKind::kCollective:
      if (IsCopy(program_.kinds[program_.calls[op.call.value].kind].op)) {
        Copy(id, rank);
        return;
      }
      session_.After(op.time + PlayOf(id).lead(), [=, this] {
        ShareGpu(rank, +1);
        PlayOf(id).Enter(rank, [=, this] {
          ShareGpu(rank, -1);
          Finish(id, rank);
        });
      });
      return;
  }
}

// A copy waits for no other rank.
void MessageRun::Copy(int id, int rank) {
  const Op& op = program_.ops[id];
  const Call& call = program_.calls[op.call.value];
  const CallKind& kind = program_.kinds[call.kind];
  const LoweredCall lowered = Lower(call, kind, network_, algorithm_);
  session_.After(op.time + lowered.launch, [=, this] {
    const double bytes =
        lowered.stages.front().loads.empty() ? 0 : lowered.stages.front().loads.front().occupied;
    activities_.Send(platform_.Copy(rank, kind.op), bytes, [=, this] { Finish(id, rank); });
  });
}

// As in the fluid engine: a collective's kernel enters the GPU or leaves it.
void MessageRun::ShareGpu(int rank, int change) {
  if (network_.collective_share == 0) return;
  int& running = collectives_on_[rank];
  running += change;
  platform_.Gpu(rank)->set_pstate(running > 0 ? 1 : 0);
}

CollectivePlay& MessageRun::PlayOf(int id) {
  std::unique_ptr<CollectivePlay>& slot = plays_[id];
  if (slot == nullptr) {
    const Call& call = program_.calls[program_.ops[id].call.value];
    slot = std::make_unique<CollectivePlay>(program_.kinds[call.kind], call, network_, algorithm_,
                                            platform_, &activities_);
  }
  return *slot;
}

void MessageRun::Finish(int id, int rank) {
  timeline_.ops[id].end = std::max(timeline_.ops[id].end, session_.now());
  ++done_;
  dependencies_[rank].Complete(
      id, [this, rank](int next) { session_.Soon([=, this] { Start(next, rank); }); });
}

// Every rank sends one message a round and channel.
double CountMessages(const StepProgram& program, const NetworkModel& network,
                     CollectiveAlgorithm algorithm) {
  double messages = 0;
  for (const Call& call : program.calls) {
    const CallKind& kind = program.kinds[call.kind];
    if (IsCopy(kind.op)) {
      messages += 1.0 * WorldOf(network);
      continue;
    }
    const Plan plan =
        PlanCollective(kind.op, call.full, PlacementOf(kind.group, network.gpus_per_node),
                       algorithm, network.nics_per_node);
    for (const PlanStage& stage : plan.stages) {
      messages += 1.0 * stage.rounds * stage.channels * WorldOf(network);
    }
  }
  return messages;
}

}  // namespace

Timeline RunMessages(const StepProgram& program, const NetworkModel& network,
                     CollectiveAlgorithm algorithm, const std::vector<int>& gpu_of_rank) {
  const std::int64_t world = std::int64_t{network.nodes} * network.gpus_per_node;
  if (world > kMaxMessageRanks) {
    throw EngineLimit(
        fmt::format("the message engine simulates up to {} ranks, not {}; use the fluid engine",
                    kMaxMessageRanks, world));
  }
  if (network.has_pipeline()) {
    throw EngineLimit("the message engine does not simulate pipelines; use the fluid engine");
  }
  const double messages = CountMessages(program, network, algorithm);
  if (messages > kMaxMessages) {
    throw EngineLimit(
        fmt::format("the message engine would send {:.3g} messages, more than its limit of {:.3g}; "
                    "use the fluid engine, or a smaller cluster or model",
                    messages, kMaxMessages));
  }
  if (!gpu_of_rank.empty() && std::cmp_not_equal(gpu_of_rank.size(), world)) {
    throw std::invalid_argument(
        fmt::format("places of {} ranks in a world of {}", gpu_of_rank.size(), world));
  }
  MessageRun run(program, network, algorithm, gpu_of_rank);
  return run.Run();
}

}  // namespace zerosim
