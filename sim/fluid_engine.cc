#include "sim/fluid_engine.h"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <string>
#include <utility>

#include <simgrid/s4u.hpp>

#include "models/core/check.h"
#include "sim/dependencies.h"
#include "sim/simgrid_session.h"

namespace zerosim {
namespace {

namespace s4u = simgrid::s4u;

class FluidRun {
 public:
  FluidRun(const StepProgram& program, const std::vector<LoweredCall>& calls,
           const NetworkModel& network)
      : program_(program),
        calls_(calls),
        network_(network),
        successors_(program),
        dependencies_(successors_),
        session_(SharingModel::kParallelTasks) {
    timeline_.ops.resize(program.ops.size());
    timeline_.engine = "fluid";
    ids_.resize(program.ops.size());
    std::iota(ids_.begin(), ids_.end(), 0);
    BuildPlatform();
  }

  Timeline Run();

 private:
  void BuildPlatform();
  void Start(int id);
  bool TakesGpu(const Op& op) const;
  void ShareGpu(const Op& op, int change);
  void StartStage(int id, std::size_t stage);
  void Launch(int id, s4u::ExecPtr exec);
  void Finish(int id);
  s4u::ExecPtr FlowTask(const LoweredStage& stage) const;

  const StepProgram& program_;
  const std::vector<LoweredCall>& calls_;
  const NetworkModel& network_;
  Successors successors_;
  Dependencies dependencies_;
  SimGridSession session_;
  s4u::Host* hub_ = nullptr;
  std::vector<s4u::Host*> ports_;    // by LinkId; null where a class is not needed
  std::vector<s4u::Host*> gpus_;     // one a rank class
  std::vector<int> collectives_on_;  // of each GPU: running now
  std::vector<bool> shares_gpu_;     // whether anything may run beside kernels of a class
  // All of them, to the end: SimGrid still needs one when it reports that it is over.
  std::vector<s4u::ExecPtr> activities_;
  std::vector<int> ids_;  // of operations, for activities to point to
  std::vector<std::size_t> stage_of_ = std::vector<std::size_t>(program_.ops.size(), 0);
  std::vector<Seconds> flow_start_ = std::vector<Seconds>(program_.ops.size());
  std::size_t done_ = 0;
  Timeline timeline_;
};

void FluidRun::BuildPlatform() {
  // A link class is one SimGrid link from a common host to one of its own: each host that a task
  // names is a row of the solver's matrix. Its capacity is one second of transfer a second, since
  // the solver's precision is absolute and bytes per second are too large for it.
  s4u::NetZone* zone = s4u::create_full_zone("classes");
  hub_ = zone->create_host("hub", 1.0)->seal();
  ports_.resize(network_.links.size());
  for (const LinkId id : NeededLinks(calls_, network_)) {
    const std::string name = "link" + std::to_string(id.value);
    s4u::Host* port = zone->create_host(name, 1.0)->seal();
    const s4u::Link* link = zone->create_link(name, 1.0)->set_latency(0)->seal();
    zone->add_route(hub_->get_netpoint(), port->get_netpoint(), nullptr, nullptr,
                    {s4u::LinkInRoute(link)}, /*symmetrical=*/false);
    ports_[id.value] = port;
    ++timeline_.link_classes;
  }
  // A GPU does one second of kernels a second, or what collectives leave of it.
  for (std::size_t i = 0; i < program_.rank_classes.size(); ++i) {
    const std::vector<double> speeds{1.0, 1.0 - network_.collective_share};
    gpus_.push_back(zone->create_host("gpu" + std::to_string(i), speeds)->seal());
  }
  collectives_on_.resize(gpus_.size(), 0);
  zone->seal();
  shares_gpu_.assign(program_.rank_classes.size(), false);
  for (const Op& op : program_.ops) {
    if (op.kind == OpKind::kKernel ? op.stream != Stream::kCompute : TakesGpu(op)) {
      shares_gpu_[op.rank_class] = true;
    }
  }
}

Timeline FluidRun::Run() {
  const auto begin = std::chrono::steady_clock::now();
  s4u::Activity::on_completion_cb([this](const s4u::Activity& activity) {
    const int op = *activity.get_data<int>();
    session_.Soon([this, op] {
      if (program_.ops[op].kind == OpKind::kCollective) {
        timeline_.flows.push_back(
            {OpId{op}, static_cast<int>(stage_of_[op]), {flow_start_[op], session_.now()}});
        StartStage(op, stage_of_[op] + 1);
      } else {
        Finish(op);
      }
    });
  });
  for (const int op : successors_.roots()) session_.Soon([this, op] { Start(op); });
  timeline_.end = session_.Run();
  ZEROSIM_CHECK(done_ == program_.ops.size(), "{} of {} operations ran", done_,
                program_.ops.size());
  timeline_.wall = Seconds::Count(
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  return std::move(timeline_);
}

void FluidRun::Start(int id) {
  const Op& op = program_.ops[id];
  timeline_.ops[id].start = session_.now();
  switch (op.kind) {
    case OpKind::kHost:
      session_.After(op.time, [this, id] { Finish(id); });
      return;
    case OpKind::kKernel: {
      const Seconds time = op.time + TimeInside(op, calls_);
      // A kernel that no other can run beside needs no sharing.
      if (time <= Seconds() || !shares_gpu_[op.rank_class]) {
        session_.After(time, [this, id] { Finish(id); });
        return;
      }
      s4u::ExecPtr exec = s4u::Exec::init();
      exec->set_flops_amount(time.seconds());
      exec->set_host(gpus_[op.rank_class]);
      Launch(id, std::move(exec));
      return;
    }
    case OpKind::kCollective:
      session_.After(op.time + calls_[op.call.value].launch, [this, id] {
        ShareGpu(program_.ops[id], +1);
        StartStage(id, 0);
      });
      return;
  }
}

bool FluidRun::TakesGpu(const Op& op) const {
  if (network_.collective_share == 0 || op.kind != OpKind::kCollective) return false;
  return zerosim::TakesGpu(program_.kinds[program_.calls[op.call.value].kind].op);
}

// A collective's kernel enters the GPU or leaves it. A second one beside it takes no more.
void FluidRun::ShareGpu(const Op& op, int change) {
  if (!TakesGpu(op)) return;
  int& running = collectives_on_[op.rank_class];
  running += change;
  gpus_[op.rank_class]->set_pstate(running > 0 ? 1 : 0);
}

void FluidRun::StartStage(int id, std::size_t stage) {
  const LoweredCall& call = calls_[program_.ops[id].call.value];
  if (stage == call.stages.size()) {
    ShareGpu(program_.ops[id], -1);
    Finish(id);
    return;
  }
  stage_of_[id] = stage;
  session_.After(call.stages[stage].latency, [this, id, stage, &call] {
    flow_start_[id] = session_.now();
    s4u::ExecPtr task = FlowTask(call.stages[stage]);
    if (task == nullptr) {
      StartStage(id, stage + 1);
    } else {
      Launch(id, std::move(task));
    }
  });
}

// A task that moves the stage's bytes over its link classes at one pace.
s4u::ExecPtr FluidRun::FlowTask(const LoweredStage& stage) const {
  std::vector<s4u::Host*> hosts = {hub_};
  std::vector<double> seconds;
  for (const LinkLoad& load : stage.loads) {
    if (ports_[load.link.value] == nullptr) continue;
    hosts.push_back(ports_[load.link.value]);
    seconds.push_back(load.occupied / network_.links[load.link.value].capacity.bytes_per_second());
  }
  if (seconds.empty()) return nullptr;
  const std::size_t n = hosts.size();
  std::vector<double> matrix(n * n, 0.0);
  for (std::size_t i = 0; i < seconds.size(); ++i) matrix[i + 1] = seconds[i];
  s4u::ExecPtr task = s4u::Exec::init();
  task->set_flops_amounts(std::vector<double>(n, 0.0));
  task->set_bytes_amounts(matrix);
  task->set_hosts(hosts);
  return task;
}

void FluidRun::Launch(int id, s4u::ExecPtr exec) {
  exec->set_data(&ids_[id]);
  exec->vetoable_start();
  activities_.push_back(std::move(exec));
  ++timeline_.activities;
}

void FluidRun::Finish(int id) {
  timeline_.ops[id].end = session_.now();
  ++done_;
  dependencies_.Complete(id, [this](int next) { session_.Soon([this, next] { Start(next); }); });
}

}  // namespace

std::vector<LinkId> NeededLinks(const std::vector<LoweredCall>& calls,
                                const NetworkModel& network) {
  const std::size_t n = network.links.size();
  // time[s][l]: seconds that stage s alone would keep link l busy.
  std::vector<std::vector<double>> times;
  for (const LoweredCall& call : calls) {
    for (const LoweredStage& stage : call.stages) {
      std::vector<double> time(n, 0.0);
      for (const LinkLoad& load : stage.loads) {
        time[load.link.value] =
            load.occupied / network.links[load.link.value].capacity.bytes_per_second();
      }
      times.push_back(std::move(time));
    }
  }
  std::sort(times.begin(), times.end());
  times.erase(std::unique(times.begin(), times.end()), times.end());
  const auto dominated_by = [&](std::size_t a, std::size_t b) {
    return std::all_of(times.begin(), times.end(),
                       [&](const std::vector<double>& t) { return t[a] <= t[b]; });
  };
  std::vector<LinkId> needed;
  for (std::size_t a = 0; a < n; ++a) {
    bool drop = std::all_of(times.begin(), times.end(),
                            [&](const std::vector<double>& t) { return t[a] == 0; });
    for (std::size_t b = 0; b < n && !drop; ++b) {
      if (network.links[a].stage != network.links[b].stage) continue;
      // Of two equal classes the first stays.
      drop = b != a && dominated_by(a, b) && (b < a || !dominated_by(b, a));
    }
    if (!drop) needed.push_back(LinkId{static_cast<int>(a)});
  }
  return needed;
}

Timeline RunFluid(const StepProgram& program, const std::vector<LoweredCall>& calls,
                  const NetworkModel& network) {
  FluidRun run(program, calls, network);
  return run.Run();
}

}  // namespace zerosim
