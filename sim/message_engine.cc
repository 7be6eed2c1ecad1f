#include "sim/message_engine.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <simgrid/s4u.hpp>

#include "models/core/check.h"
#include "sim/dependencies.h"
#include "sim/lowering.h"
#include "sim/messages/activities.h"
#include "sim/messages/collective_play.h"
#include "sim/messages/count_messages.h"
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

// Every rank's operations, those of its class, each started when what it waits for on that rank is
// done.
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
    waiting_stages_.resize(program.ops.size());
    for (const Op& op : program.ops) {
      for (const OpId dep : op.deps) {
        std::vector<int>& stages = waiting_stages_[dep.value];
        if (std::ranges::find(stages, op.rank_class) == stages.end()) {
          stages.push_back(op.rank_class);
        }
      }
    }
  }

  Timeline Run();

 private:
  // One of the collectives of an operation, with the ranks that still have to leave it.
  struct Playing {
    std::unique_ptr<CollectivePlay> play;
    int ranks_left = 0;
  };

  void Start(int id, int rank);
  void RunKernel(int id, int rank, int part);
  void RunCollective(int id, int rank);
  void Copy(int id, int rank);
  void Send(int id, int rank);
  void Finish(int id, int rank);
  void Complete(int id, int rank);
  void Join(int id, int part, CallId call, int rank, Seconds before, std::function<void()> next);
  Playing& PlayOf(int id, int part, CallId call);
  void ShareGpu(int rank, int change);

  const StepProgram& program_;
  const NetworkModel& network_;
  CollectiveAlgorithm algorithm_;
  int world_;
  Successors successors_;
  std::vector<Dependencies> dependencies_;
  std::vector<std::vector<int>> waiting_stages_;  // of each operation: those that wait for it
  SimGridSession session_;
  Activities activities_;
  MessagePlatform platform_;
  std::vector<int> collectives_on_ = std::vector<int>(world_, 0);  // of each rank: running now
  std::map<std::pair<int, int>, Playing> plays_;                   // by operation and part of it
  std::vector<bool> started_;
  std::size_t done_ = 0;
  Timeline timeline_;
};

Timeline MessageRun::Run() {
  const auto begin = std::chrono::steady_clock::now();
  for (int rank = 0; rank < world_; ++rank) {
    for (const int op : successors_.roots()) {
      if (program_.ops[op].rank_class != network_.stage_of(rank)) continue;
      session_.Soon([=, this] { Start(op, rank); });
    }
  }
  timeline_.end = session_.Run();
  ZEROSIM_CHECK(done_ == program_.ops.size() * RanksOfStage(network_),
                "{} of {} x {} operations ran", done_, program_.ops.size(), RanksOfStage(network_));
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
      RunKernel(id, rank, 0);
      return;
    case OpKind::kCollective:
      RunCollective(id, rank);
      return;
  }
}

// The kernel in equal parts, each followed by one of the collectives inside of it.
void MessageRun::RunKernel(int id, int rank, int part) {
  const Op& op = program_.ops[id];
  int parts = 0;
  CallId call;
  for (const InlineCall& inside : op.inline_calls) {
    if (part >= parts && part < parts + inside.count) call = inside.call;
    parts += inside.count;
  }
  if (part > 0 && part == parts) {
    Finish(id, rank);
    return;
  }
  const auto next = [=, this] {
    if (parts == 0) {
      Finish(id, rank);
    } else {
      Join(id, part, call, rank, Seconds(), [=, this] { RunKernel(id, rank, part + 1); });
    }
  };
  const Seconds time = 1.0 / std::max(1, parts) * op.time;
  if (time <= Seconds()) {
    session_.Soon(next);
  } else {
    activities_.Execute(platform_.Gpu(rank), time, next);
  }
}

void MessageRun::RunCollective(int id, int rank) {
  const Op& op = program_.ops[id];
  const CollectiveOp operation = program_.kinds[program_.calls[op.call.value].kind].op;
  if (IsCopy(operation)) {
    Copy(id, rank);
  } else if (operation == CollectiveOp::kSend) {
    Send(id, rank);
  } else {
    Join(id, 0, op.call, rank, op.time, [=, this] { Finish(id, rank); });
  }
}

void MessageRun::Join(int id, int part, CallId call, int rank, Seconds before,
                      std::function<void()> next) {
  const Seconds lead = PlayOf(id, part, call).play->lead();
  session_.After(before + lead, [=, this, next = std::move(next)] {
    ShareGpu(rank, +1);
    PlayOf(id, part, call).play->Enter(rank, [=, this] {
      ShareGpu(rank, -1);
      if (--PlayOf(id, part, call).ranks_left == 0) {
        // It is still at work when its last rank leaves.
        session_.Soon([=, this] { plays_.erase({id, part}); });
      }
      next();
    });
  });
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

// A message to the rank of equal place in another stage. The kernels of both take nothing of their
// GPUs, as in the fluid engine.
void MessageRun::Send(int id, int rank) {
  const Op& op = program_.ops[id];
  const Call& call = program_.calls[op.call.value];
  const CallKind& kind = program_.kinds[call.kind];
  const int peer = rank + (kind.to_class - kind.from_class) * network_.pipeline.stride;
  const bool leaves = platform_.Crosses(rank, peer);
  const Ends ends =
      leaves ? platform_.BetweenNodes(rank, platform_.NicOf(rank), peer, platform_.NicOf(peer))
             : platform_.InNode(rank, peer);
  const Seconds latency = leaves ? network_.nic_latency : network_.gpu_latency;
  const Seconds lead = call.launches * network_.launch + (call.launches - 1) * latency;
  session_.After(op.time + lead, [=, this, bytes = static_cast<double>(call.full.count())] {
    activities_.Send(ends, bytes, [=, this] { Finish(id, rank); });
  });
}

// As in the fluid engine: a collective's kernel enters the GPU or leaves it.
void MessageRun::ShareGpu(int rank, int change) {
  if (network_.collective_share == 0) return;
  int& running = collectives_on_[rank];
  running += change;
  platform_.Gpu(rank)->set_pstate(running > 0 ? 1 : 0);
}

MessageRun::Playing& MessageRun::PlayOf(int id, int part, CallId call_id) {
  Playing& playing = plays_[{id, part}];
  if (playing.play == nullptr) {
    const Call& call = program_.calls[call_id.value];
    playing.play = std::make_unique<CollectivePlay>(program_.kinds[call.kind], call, network_,
                                                    algorithm_, platform_, &activities_);
    playing.ranks_left = RanksOfStage(network_);
  }
  return playing;
}

void MessageRun::Finish(int id, int rank) {
  timeline_.ops[id].end = std::max(timeline_.ops[id].end, session_.now());
  ++done_;
  Complete(id, rank);
}

// What waits for an operation of `rank` may start: on it, and in other stages on the ranks of equal
// place.
void MessageRun::Complete(int id, int rank) {
  const int own = network_.stage_of(rank);
  for (const int stage : waiting_stages_[id]) {
    const int waiting = rank + (stage - own) * network_.pipeline.stride;
    dependencies_[waiting].Complete(id, [=, this](int next) {
      if (program_.ops[next].rank_class != stage) return;
      session_.Soon([=, this] { Start(next, waiting); });
    });
  }
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
  if (network.topology != nullptr) {
    throw EngineLimit(
        "the message engine simulates nodes with NVSwitches on one switch; use the fluid engine");
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
  if (!gpu_of_rank.empty() && !network.exceptions.empty()) {
    throw std::invalid_argument("places of ranks among nodes that are not alike");
  }
  MessageRun run(program, network, algorithm, gpu_of_rank);
  return run.Run();
}

}  // namespace zerosim
