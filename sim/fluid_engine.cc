#include "sim/fluid_engine.h"

#include <algorithm>
#include <chrono>
#include <set>
#include <string>
#include <utility>

#include "models/core/check.h"
#include "sim/dependencies.h"
#include "sim/fluid_platform.h"
#include "sim/simgrid_session.h"

namespace zerosim {
namespace {

class FluidRun {
 public:
  FluidRun(const StepProgram& program, const std::vector<LoweredCall>& calls,
           const NetworkModel& network)
      : program_(program),
        calls_(calls),
        network_(network),
        successors_(program),
        dependencies_(successors_),
        session_(SharingModel::kParallelTasks),
        platform_(&session_) {
    timeline_.ops.resize(program.ops.size());
    timeline_.engine = "fluid";
    BuildPlatform();
  }

  Timeline Run();

 private:
  void BuildPlatform();
  void Start(int id);
  bool TakesGpu(const Op& op) const;
  void ShareGpu(const Op& op, int change);
  void StartStage(int id, std::size_t stage);
  void Finish(int id);
  std::vector<ResourceLoad> LoadsOf(const LoweredStage& stage) const;

  const StepProgram& program_;
  const std::vector<LoweredCall>& calls_;
  const NetworkModel& network_;
  Successors successors_;
  Dependencies dependencies_;
  SimGridSession session_;
  FluidPlatform platform_;
  std::vector<int> resources_;       // of each link class; -1 where it is not needed
  std::vector<int> gpus_;            // resources, one a rank class
  std::vector<int> collectives_on_;  // of each GPU: running now
  std::vector<bool> shares_gpu_;     // whether anything may run beside kernels of a class
  std::size_t done_ = 0;
  Timeline timeline_;
};

void FluidRun::BuildPlatform() {
  resources_.assign(network_.links.size(), -1);
  for (const LinkId id : NeededLinks(calls_, network_)) {
    resources_[id.value] = platform_.AddLink("link" + std::to_string(id.value));
    ++timeline_.link_classes;
  }
  for (std::size_t i = 0; i < program_.rank_classes.size(); ++i) {
    gpus_.push_back(platform_.AddGpu("gpu" + std::to_string(i), 1.0 - network_.collective_share));
  }
  platform_.Seal();
  collectives_on_.resize(gpus_.size(), 0);
  shares_gpu_.assign(gpus_.size(), false);
  for (const Op& op : program_.ops) {
    if (op.kind == OpKind::kKernel ? op.stream != Stream::kCompute : TakesGpu(op)) {
      shares_gpu_[op.rank_class] = true;
    }
  }
}

Timeline FluidRun::Run() {
  const auto begin = std::chrono::steady_clock::now();
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
      ++timeline_.activities;
      platform_.Start({{gpus_[op.rank_class], time.seconds()}}, [this, id] { Finish(id); });
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
  platform_.SetSlow(gpus_[op.rank_class], running > 0);
}

void FluidRun::StartStage(int id, std::size_t stage) {
  const LoweredCall& call = calls_[program_.ops[id].call.value];
  if (stage == call.stages.size()) {
    ShareGpu(program_.ops[id], -1);
    Finish(id);
    return;
  }
  session_.After(call.stages[stage].latency, [this, id, stage, &call] {
    std::vector<ResourceLoad> loads = LoadsOf(call.stages[stage]);
    if (loads.empty()) {
      StartStage(id, stage + 1);
      return;
    }
    ++timeline_.activities;
    platform_.Start(std::move(loads), [this, id, stage, start = session_.now()] {
      timeline_.flows.push_back({OpId{id}, static_cast<int>(stage), {start, session_.now()}});
      StartStage(id, stage + 1);
    });
  });
}

// The stage's bytes on its link classes, which move at one pace.
std::vector<ResourceLoad> FluidRun::LoadsOf(const LoweredStage& stage) const {
  std::vector<ResourceLoad> loads;
  for (const LinkLoad& load : stage.loads) {
    const int resource = resources_[load.link.value];
    if (resource < 0) continue;
    const double rate = network_.links[load.link.value].capacity.bytes_per_second();
    loads.push_back({resource, load.occupied / rate});
  }
  return loads;
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
  // Seconds that a stage alone would keep each link busy. Most calls of a step are alike.
  std::set<std::vector<std::pair<int, double>>> distinct;
  for (const LoweredCall& call : calls) {
    for (const LoweredStage& stage : call.stages) {
      std::vector<std::pair<int, double>> busy;
      busy.reserve(stage.loads.size());
      for (const LinkLoad& load : stage.loads) {
        const double rate = network.links[load.link.value].capacity.bytes_per_second();
        busy.emplace_back(load.link.value, load.occupied / rate);
      }
      distinct.insert(std::move(busy));
    }
  }
  // The same by link.
  std::vector<std::vector<double>> times;
  for (const std::vector<std::pair<int, double>>& busy : distinct) {
    std::vector<double>& time = times.emplace_back(n, 0.0);
    for (const auto& [link, seconds] : busy) time[link] = seconds;
  }
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
