#include "sim/simgrid_session.h"

#include <atomic>
#include <csignal>
#include <stdexcept>
#include <utility>

#include <simgrid/kernel/Timer.hpp>
#include <simgrid/s4u.hpp>

namespace zerosim {
namespace {

namespace s4u = simgrid::s4u;

// SimGrid forgets an engine that is gone, but not its clock and its models.
bool FirstInProcess() {
  static std::atomic_flag used = ATOMIC_FLAG_INIT;
  return !used.test_and_set();
}

std::unique_ptr<s4u::Engine> MakeEngine(SharingModel model) {
  if (!FirstInProcess()) {
    throw std::logic_error("a process can hold one simulation; fork for another");
  }
  int argc = 2;
  char name[] = "zerosim";
  char quiet[] = "--log=root.thresh:error";
  char* argv[] = {name, quiet, nullptr};
  // SimGrid takes these signals for its own messages; its handler crashes when it unwinds. They
  // stay the caller's.
  void (*const interrupt)(int) = std::signal(SIGINT, SIG_DFL);
  void (*const fault)(int) = std::signal(SIGSEGV, SIG_DFL);
  auto engine = std::make_unique<s4u::Engine>(&argc, argv);
  std::signal(SIGINT, interrupt);
  std::signal(SIGSEGV, fault);
  if (model == SharingModel::kParallelTasks) {
    s4u::Engine::set_config("host/model:ptask_L07");
    s4u::Engine::set_config("host/solver:bmf");
  } else {
    s4u::Engine::set_config("network/model:CM02");
    s4u::Engine::set_config("network/TCP-gamma:0");
    s4u::Engine::set_config("network/crosstraffic:0");
  }
  // Two instants nearer than this are one. Steps of a collective are microseconds.
  s4u::Engine::set_config("surf/precision:1e-12");
  return engine;
}

}  // namespace

SimGridSession::SimGridSession(SharingModel model) : engine_(MakeEngine(model)) {}

SimGridSession::~SimGridSession() = default;

Seconds SimGridSession::now() const {
  return Seconds::Count(s4u::Engine::get_clock());
}

void SimGridSession::Soon(std::function<void()> next) {
  queue_.push_back(std::move(next));
  Drain();
}

void SimGridSession::Drain() {
  if (draining_) return;
  draining_ = true;
  // The queue grows while it is worked off.
  for (std::size_t i = 0; i < queue_.size(); ++i) {
    const std::function<void()> next = std::move(queue_[i]);
    next();
  }
  queue_.clear();
  draining_ = false;
}

void SimGridSession::After(Seconds delay, std::function<void()> next) {
  if (delay <= Seconds()) {
    Soon(std::move(next));
    return;
  }
  SetAlarm(delay, std::move(next));
}

SimGridSession::Alarm* SimGridSession::SetAlarm(Seconds delay, std::function<void()> next) {
  return Alarm::set((now() + delay).seconds(), [this, next = std::move(next)] { Soon(next); });
}

void SimGridSession::Cancel(Alarm* alarm) {
  alarm->remove();
}

Seconds SimGridSession::Run() {
  engine_->run();
  return now();
}

}  // namespace zerosim
