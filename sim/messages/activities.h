// Messages and kernels as SimGrid activities, with what follows each.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

#include <simgrid/s4u.hpp>

#include "models/core/units.h"
#include "sim/messages/platform.h"
#include "sim/simgrid_session.h"

namespace zerosim {

// One a session. What follows an activity is called from SimGridSession::Soon.
class Activities {
 public:
  // `session` must outlive it.
  explicit Activities(SimGridSession* session);
  Activities(const Activities&) = delete;
  Activities& operator=(const Activities&) = delete;

  // Bytes are rounded to whole ones, one at least.
  void Send(const Ends& ends, double bytes, std::function<void()> next);

  // A kernel of that time on the GPU when it has it for itself.
  void Execute(simgrid::s4u::Host* gpu, Seconds time, std::function<void()> next);

  std::int64_t started() const { return started_; }

 private:
  // An activity, and what follows when it is over.
  struct Watched {
    simgrid::s4u::ActivityPtr activity;
    std::function<void()> next;
  };
  void Start(simgrid::s4u::Activity* activity, std::function<void()> next);

  SimGridSession* session_;
  std::deque<Watched> watched_;  // stay where they are: activities point to them
  std::vector<Watched*> free_;
  std::deque<simgrid::s4u::ActivityPtr> over_;
  std::int64_t started_ = 0;
};

}  // namespace zerosim
