// The one SimGrid engine of a process, with every setting that a prediction depends on.
//
// SimGrid 3.32 keeps clock, platform and configuration in globals: a second engine in one process
// continues the first one's clock or aborts. So a process simulates once; callers that need more
// fork first. Nothing outside of sim/ sees SimGrid.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "models/core/units.h"

namespace simgrid::s4u {
class Engine;
}
namespace simgrid::kernel::timer {
class Timer;
}

namespace zerosim {

enum class SharingModel {
  // Parallel tasks that load several links and CPUs at once (ptask_L07, solver bmf).
  kParallelTasks,
  // Single messages, shared max-min: CM02 without TCP's window and cross-traffic, which RDMA has
  // not. SimGrid's default, LV08, models TCP on a LAN and takes nine times as long for a ring of
  // 1 MiB over 8 ranks.
  kMessages,
};

// Runs callbacks on SimGrid's clock. Callbacks run one after the other, never inside each other, so
// that a chain of operations that take no time does not nest.
class SimGridSession {
 public:
  // Throws std::logic_error if this process has had a session already.
  explicit SimGridSession(SharingModel model);
  ~SimGridSession();
  SimGridSession(const SimGridSession&) = delete;
  SimGridSession& operator=(const SimGridSession&) = delete;

  // Calls `next` after `delay`, at once (but not nested) if it is 0.
  void After(Seconds delay, std::function<void()> next);

  using Alarm = simgrid::kernel::timer::Timer;
  // The same, and may be cancelled as long as `next` was not called. Requires a delay above 0.
  Alarm* SetAlarm(Seconds delay, std::function<void()> next);
  void Cancel(Alarm* alarm);

  // Calls `next` when whatever runs now has returned.
  void Soon(std::function<void()> next);

  // Runs until nothing is left to do. Returns the clock.
  Seconds Run();

  Seconds now() const;

 private:
  void Drain();

  std::unique_ptr<simgrid::s4u::Engine> engine_;
  std::vector<std::function<void()>> queue_;
  bool draining_ = false;
};

}  // namespace zerosim
