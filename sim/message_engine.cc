#include "sim/message_engine.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <simgrid/s4u.hpp>

#include "models/core/check.h"
#include "sim/collectives/plan.h"
#include "sim/dependencies.h"
#include "sim/lowering.h"
#include "sim/simgrid_session.h"

namespace zerosim {
namespace {

namespace s4u = simgrid::s4u;

// Activities that are over and not yet given back.
constexpr std::size_t kKeptActivities = 64;

// How far one rank has come on one channel of one stage.
struct Progress {
  int sent = 0;
  int received = 0;
  bool sending = false;
};

// One collective operation on all ranks: the groups of its form run at once.
struct Collective {
  Plan plan;
  ProcessGroup group;
  Seconds lead;
  std::vector<int> stage;                       // of each rank; -1 before it entered
  std::vector<std::vector<Progress>> progress;  // [rank * stages + stage][channel]
};

struct Message {
  int op = 0;
  int from = 0;
  int to = 0;
  int stage = 0;
  int channel = 0;
};

// An activity, and what follows when it is over.
struct Watched {
  s4u::ActivityPtr activity;
  std::function<void()> next;
};

class MessageRun {
 public:
  MessageRun(const StepProgram& program, const NetworkModel& network, CollectiveAlgorithm algorithm,
             const std::vector<int>& gpu_of_rank)
      : program_(program),
        network_(network),
        algorithm_(algorithm),
        world_(network.nodes * network.gpus_per_node),
        gpu_of_rank_(gpu_of_rank),
        successors_(program),
        dependencies_(static_cast<std::size_t>(world_), Dependencies(successors_)),
        session_(SharingModel::kMessages) {
    timeline_.ops.resize(program.ops.size());
    timeline_.engine = "message";
    started_.resize(program.ops.size(), false);
    if (gpu_of_rank_.empty()) {
      gpu_of_rank_.resize(static_cast<std::size_t>(world_));
      std::iota(gpu_of_rank_.begin(), gpu_of_rank_.end(), 0);
    }
    BuildPlatform();
  }

  Timeline Run();

 private:
  void BuildPlatform();
  bool HasCopies() const;
  void Start(int id, int rank);
  void Copy(int id, int rank);
  void Finish(int id, int rank);
  Collective& CollectiveOf(int id);
  void ShareGpu(int rank, int change);
  void EnterStage(int op, int rank, int stage);
  void Advance(int op, int rank, int channel);
  void Send(int op, int rank, int channel, int round);
  void Arrived(const Message& message);
  void Watch(s4u::Activity* activity, std::function<void()> next);

  const StepProgram& program_;
  const NetworkModel& network_;
  CollectiveAlgorithm algorithm_;
  int world_;
  std::vector<int> gpu_of_rank_;
  Successors successors_;
  std::vector<Dependencies> dependencies_;
  SimGridSession session_;
  std::vector<s4u::Host*> gpus_;  // by node * gpus_per_node + local place
  std::vector<int> collectives_on_ = std::vector<int>(world_, 0);  // of each GPU: running now
  std::vector<s4u::Host*> nics_;                                   // by node * nics_per_node + nic
  // By GPU: its PCIe slot, and what it can reach of the host's memory. Empty without copies.
  std::vector<s4u::Host*> slots_;
  std::vector<s4u::Host*> memories_;
  std::vector<std::unique_ptr<Collective>> collectives_ =
      std::vector<std::unique_ptr<Collective>>(program_.ops.size());
  std::deque<Watched> watched_;  // stay where they are: activities point to them
  std::vector<Watched*> free_;
  std::deque<s4u::ActivityPtr> over_;
  std::vector<bool> started_;
  std::size_t done_ = 0;
  Timeline timeline_;
};

void MessageRun::BuildPlatform() {
  s4u::NetZone* zone = s4u::create_star_zone("cluster");
  const auto link = [&](const std::string& name, LinkId id, Seconds latency) {
    return zone->create_link(name, network_.links[id.value].capacity.bytes_per_second())
        ->set_latency(latency.seconds())
        ->seal();
  };
  const auto port = [&](const std::string& name, const std::vector<s4u::LinkInRoute>& up,
                        const std::vector<s4u::LinkInRoute>& down) {
    const std::vector<double> speeds{1.0, 1.0 - network_.collective_share};
    s4u::Host* host = zone->create_host(name, speeds)->seal();
    zone->add_route(host->get_netpoint(), nullptr, nullptr, nullptr, up, false);
    zone->add_route(nullptr, host->get_netpoint(), nullptr, nullptr, down, false);
    return host;
  };
  const Seconds gpu_half = 0.5 * network_.gpu_latency;
  const Seconds nic_half = 0.5 * network_.nic_latency;
  for (int node = 0; node < network_.nodes; ++node) {
    for (int g = 0; g < network_.gpus_per_node; ++g) {
      const std::string name = fmt::format("gpu{}.{}", node, g);
      gpus_.push_back(
          port(name, {s4u::LinkInRoute(link(name + ".out", NetworkModel::kGpuLink, gpu_half))},
               {s4u::LinkInRoute(link(name + ".in", NetworkModel::kGpuLink, gpu_half))}));
    }
    const std::string fabric = fmt::format("node{}", node);
    const s4u::Link* up = link(fabric + ".up", NetworkModel::kFabric, Seconds());
    const s4u::Link* down = link(fabric + ".down", NetworkModel::kFabric, Seconds());
    for (int n = 0; n < network_.nics_per_node; ++n) {
      const std::string name = fmt::format("nic{}.{}", node, n);
      const s4u::Link* out = link(name + ".out", NetworkModel::kNic, nic_half);
      const s4u::Link* in = link(name + ".in", NetworkModel::kNic, nic_half);
      nics_.push_back(port(name, {s4u::LinkInRoute(out), s4u::LinkInRoute(up)},
                           {s4u::LinkInRoute(down), s4u::LinkInRoute(in)}));
    }
  }
  if (HasCopies()) {
    for (std::size_t g = 0; g < gpus_.size(); ++g) {
      const s4u::Link* out = link(fmt::format("slot{}.out", g), NetworkModel::kToHost, Seconds());
      const s4u::Link* in = link(fmt::format("slot{}.in", g), NetworkModel::kFromHost, Seconds());
      slots_.push_back(
          port(fmt::format("slot{}", g), {s4u::LinkInRoute(out)}, {s4u::LinkInRoute(in)}));
      memories_.push_back(
          port(fmt::format("memory{}", g), {s4u::LinkInRoute(in)}, {s4u::LinkInRoute(out)}));
    }
  }
  zone->seal();
}

bool MessageRun::HasCopies() const {
  return std::ranges::any_of(program_.kinds, [](const CallKind& kind) { return IsCopy(kind.op); });
}

Timeline MessageRun::Run() {
  const auto begin = std::chrono::steady_clock::now();
  s4u::Activity::on_completion_cb([this](const s4u::Activity& activity) {
    auto* watched = activity.get_data<Watched>();
    session_.Soon([this, watched] {
      const std::function<void()> next = std::move(watched->next);
      // SimGrid still needs an activity while it reports that it is over.
      over_.push_back(std::move(watched->activity));
      if (over_.size() > kKeptActivities) over_.pop_front();
      free_.push_back(watched);
      next();
    });
  });
  for (int rank = 0; rank < world_; ++rank) {
    for (const int op : successors_.roots()) session_.Soon([=, this] { Start(op, rank); });
  }
  timeline_.end = session_.Run();
  ZEROSIM_CHECK(done_ == program_.ops.size() * world_, "{} of {} x {} operations ran", done_,
                program_.ops.size(), world_);
  timeline_.link_classes = HasCopies() ? NetworkModel::kNumKinds : NetworkModel::kToHost.value;
  timeline_.wall = Seconds::Count(
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  return std::move(timeline_);
}

void MessageRun::Watch(s4u::Activity* activity, std::function<void()> next) {
  if (free_.empty()) free_.push_back(&watched_.emplace_back());
  Watched* watched = free_.back();
  free_.pop_back();
  *watched = {activity, std::move(next)};
  activity->set_data(watched);
  ++timeline_.activities;
  activity->vetoable_start();
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
    case OpKind::kKernel: {
      if (op.time <= Seconds()) {
        session_.Soon([=, this] { Finish(id, rank); });
        return;
      }
      s4u::ExecPtr exec = s4u::Exec::init();
      exec->set_flops_amount(op.time.seconds());
      exec->set_host(gpus_[gpu_of_rank_[rank]]);
      Watch(exec.get(), [=, this] { Finish(id, rank); });
      return;
    }
    case OpKind::kCollective:
      if (IsCopy(program_.kinds[program_.calls[op.call.value].kind].op)) {
        Copy(id, rank);
        return;
      }
      session_.After(op.time + CollectiveOf(id).lead, [=, this] {
        ShareGpu(rank, +1);
        EnterStage(id, rank, 0);
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
    const int gpu = gpu_of_rank_[rank];
    const bool out = kind.op == CollectiveOp::kCopyToHost;
    s4u::CommPtr comm = out ? s4u::Comm::sendto_init(slots_[gpu], memories_[gpu])
                            : s4u::Comm::sendto_init(memories_[gpu], slots_[gpu]);
    const double bytes =
        lowered.stages.front().loads.empty() ? 0 : lowered.stages.front().loads.front().occupied;
    comm->set_payload_size(static_cast<std::uint64_t>(std::max(bytes + 0.5, 1.0)));
    Watch(comm.get(), [=, this] { Finish(id, rank); });
  });
}

// As in the fluid engine: a collective's kernel enters the GPU or leaves it.
void MessageRun::ShareGpu(int rank, int change) {
  if (network_.collective_share == 0) return;
  int& running = collectives_on_[gpu_of_rank_[rank]];
  running += change;
  gpus_[gpu_of_rank_[rank]]->set_pstate(running > 0 ? 1 : 0);
}

Collective& MessageRun::CollectiveOf(int id) {
  std::unique_ptr<Collective>& slot = collectives_[id];
  if (slot == nullptr) {
    const Call& call = program_.calls[program_.ops[id].call.value];
    const CallKind& kind = program_.kinds[call.kind];
    slot = std::make_unique<Collective>();
    slot->group = kind.group;
    slot->plan = PlanCollective(kind.op, call.full, PlacementOf(kind.group, network_.gpus_per_node),
                                algorithm_, network_.nics_per_node);
    if (!slot->plan.stages.empty()) {
      slot->lead = call.launches * network_.launch + ExtraLatency(call, slot->plan, network_);
    }
    slot->stage.assign(world_, -1);
    for (int rank = 0; rank < world_; ++rank) {
      for (const PlanStage& stage : slot->plan.stages) {
        slot->progress.emplace_back(static_cast<std::size_t>(stage.channels));
      }
    }
  }
  return *slot;
}

void MessageRun::EnterStage(int op, int rank, int stage) {
  Collective& collective = CollectiveOf(op);
  collective.stage[rank] = stage;
  if (stage == static_cast<int>(collective.plan.stages.size())) {
    ShareGpu(rank, -1);
    Finish(op, rank);
    return;
  }
  for (int channel = 0; channel < collective.plan.stages[stage].channels; ++channel) {
    Advance(op, rank, channel);
  }
}

// Sends the next block of a channel if its turn has come, or enters the next stage if all channels
// are done.
void MessageRun::Advance(int op, int rank, int channel) {
  Collective& collective = CollectiveOf(op);
  const int index = collective.stage[rank];
  const int stages = static_cast<int>(collective.plan.stages.size());
  if (index < 0 || index >= stages) return;
  const PlanStage& stage = collective.plan.stages[index];
  std::vector<Progress>& channels = collective.progress[rank * stages + index];
  Progress& own = channels[channel];
  if (!own.sending && own.sent < stage.rounds && own.received >= own.sent) {
    own.sending = true;
    Send(op, rank, channel, own.sent);
    return;
  }
  const bool done = std::all_of(channels.begin(), channels.end(), [&](const Progress& p) {
    return p.sent == stage.rounds && p.received == stage.rounds;
  });
  if (done) EnterStage(op, rank, index + 1);
}

void MessageRun::Send(int op, int rank, int channel, int round) {
  Collective& collective = CollectiveOf(op);
  const int index = collective.stage[rank];
  const PlanStage& stage = collective.plan.stages[index];
  const Placement& placement = collective.plan.placement;
  const ProcessGroup& group = collective.group;
  // Ranks of one group are stride apart, starting at the group's first.
  const int span = group.size * group.stride;
  const int first = rank / span * span + rank % group.stride;
  const int member = (rank - first) / group.stride;
  const int peer_member = PeerOf(stage, placement, member, round, channel);
  const int peer = first + peer_member * group.stride;

  double bytes = static_cast<double>(stage.block.count()) / stage.channels;
  s4u::Host* from = gpus_[gpu_of_rank_[rank]];
  s4u::Host* to = gpus_[gpu_of_rank_[peer]];
  if (Crosses(placement, member, peer_member)) {
    const int gpus = network_.gpus_per_node;
    const int nics = network_.nics_per_node;
    // A ring's channels have NICs of their own; other messages take that of their GPU.
    const bool by_channel = stage.pattern == Pattern::kRing && placement.local > 1;
    const auto nic_of = [&](int r) {
      const int gpu = gpu_of_rank_[r];
      const int nic = by_channel ? NicOfChannel(stage, placement, r % group.stride, channel, nics)
                                 : gpu % gpus * nics / gpus;
      return nics_[gpu / gpus * nics + nic];
    };
    from = nic_of(rank);
    to = nic_of(peer);
    if (stage.pattern == Pattern::kExchangeAcross) bytes /= network_.all_to_all_fraction;
  }
  s4u::CommPtr comm = s4u::Comm::sendto_init(from, to);
  comm->set_payload_size(static_cast<std::uint64_t>(std::max(bytes + 0.5, 1.0)));
  const Message message{op, rank, peer, index, channel};
  Watch(comm.get(), [this, message] { Arrived(message); });
}

void MessageRun::Arrived(const Message& m) {
  Collective& collective = CollectiveOf(m.op);
  const int stages = static_cast<int>(collective.plan.stages.size());
  Progress& sender = collective.progress[m.from * stages + m.stage][m.channel];
  sender.sending = false;
  ++sender.sent;
  ++collective.progress[m.to * stages + m.stage][m.channel].received;
  Advance(m.op, m.from, m.channel);
  if (collective.stage[m.to] == m.stage) Advance(m.op, m.to, m.channel);
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
      messages += 1.0 * network.nodes * network.gpus_per_node;
      continue;
    }
    const Plan plan =
        PlanCollective(kind.op, call.full, PlacementOf(kind.group, network.gpus_per_node),
                       algorithm, network.nics_per_node);
    for (const PlanStage& stage : plan.stages) {
      messages += 1.0 * stage.rounds * stage.channels * network.nodes * network.gpus_per_node;
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
