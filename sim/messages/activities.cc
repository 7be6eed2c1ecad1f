#include "sim/messages/activities.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace zerosim {
namespace {

namespace s4u = simgrid::s4u;

// Activities that are over and not yet given back.
constexpr std::size_t kKept = 64;

}  // namespace

Activities::Activities(SimGridSession* session) : session_(session) {
  s4u::Activity::on_completion_cb([this](const s4u::Activity& activity) {
    auto* watched = activity.get_data<Watched>();
    session_->Soon([this, watched] {
      const std::function<void()> next = std::move(watched->next);
      // SimGrid still needs an activity while it reports that it is over.
      over_.push_back(std::move(watched->activity));
      if (over_.size() > kKept) over_.pop_front();
      free_.push_back(watched);
      next();
    });
  });
}

void Activities::Start(s4u::Activity* activity, std::function<void()> next) {
  if (free_.empty()) free_.push_back(&watched_.emplace_back());
  Watched* watched = free_.back();
  free_.pop_back();
  *watched = {activity, std::move(next)};
  activity->set_data(watched);
  ++started_;
  activity->vetoable_start();
}

void Activities::Send(const Ends& ends, double bytes, std::function<void()> next) {
  s4u::CommPtr comm = s4u::Comm::sendto_init(ends.from, ends.to);
  comm->set_payload_size(static_cast<std::uint64_t>(std::max(bytes + 0.5, 1.0)));
  Start(comm.get(), std::move(next));
}

void Activities::Execute(s4u::Host* gpu, Seconds time, std::function<void()> next) {
  s4u::ExecPtr exec = s4u::Exec::init();
  exec->set_flops_amount(time.seconds());
  exec->set_host(gpu);
  Start(exec.get(), std::move(next));
}

}  // namespace zerosim
