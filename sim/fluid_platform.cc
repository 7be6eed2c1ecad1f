#include "sim/fluid_platform.h"

#include <algorithm>
#include <utility>

#include <simgrid/s4u.hpp>

namespace zerosim {
namespace {

namespace s4u = simgrid::s4u;

// Instants nearer than this are one: that of surf/precision.
constexpr double kInstant = 1e-12;

}  // namespace

struct FluidPlatform::Resource {
  s4u::Host* host = nullptr;
  bool is_gpu = false;
  double slow = 1;
  double speed = 1;
  Work* lone = nullptr;  // runs here without SimGrid
  int tasks = 0;         // of SimGrid, that run here
};

struct FluidPlatform::Work {
  std::vector<ResourceLoad> loads;
  std::function<void()> done;
  double left = 1;  // of the whole, at `since`
  // While it is alone:
  Seconds since;
  Seconds length;  // of the whole, at the present speeds
  SimGridSession::Alarm* alarm = nullptr;
  // Once it is not:
  s4u::ExecPtr task;
};

struct FluidPlatform::Zone {
  s4u::NetZone* zone = nullptr;
  s4u::Host* hub = nullptr;
};

FluidPlatform::FluidPlatform(SimGridSession* session)
    : session_(session), zone_(std::make_unique<Zone>()) {
  zone_->zone = s4u::create_full_zone("classes");
  zone_->hub = zone_->zone->create_host("hub", 1.0)->seal();
  s4u::Activity::on_completion_cb([this](const s4u::Activity& activity) {
    Work* work = activity.get_data<Work>();
    session_->Soon([this, work] { Finish(work); });
  });
}

FluidPlatform::~FluidPlatform() = default;

// A link is one from a common host to one of its own: each host that a task names is a row of the
// solver's matrix. Its capacity is one second of transfer a second, since the solver's precision is
// absolute and bytes per second are too large for it.
int FluidPlatform::AddLink(const std::string& name) {
  s4u::NetZone* zone = zone_->zone;
  s4u::Host* port = zone->create_host(name, 1.0)->seal();
  const s4u::Link* link = zone->create_link(name, 1.0)->set_latency(0)->seal();
  zone->add_route(zone_->hub->get_netpoint(), port->get_netpoint(), nullptr, nullptr,
                  {s4u::LinkInRoute(link)}, /*symmetrical=*/false);
  resources_.push_back({.host = port});
  return static_cast<int>(resources_.size()) - 1;
}

// A GPU does one second of kernels a second, or what is left of it.
int FluidPlatform::AddGpu(const std::string& name, double slow) {
  const std::vector<double> speeds{1.0, slow};
  s4u::Host* host = zone_->zone->create_host(name, speeds)->seal();
  resources_.push_back({.host = host, .is_gpu = true, .slow = slow});
  return static_cast<int>(resources_.size()) - 1;
}

void FluidPlatform::Seal() {
  zone_->zone->seal();
}

bool FluidPlatform::IsOver(const Work& work) const {
  const Seconds end = work.since + work.left * work.length;
  return (end - session_->now()).seconds() <= kInstant;
}

void FluidPlatform::Start(std::vector<ResourceLoad> loads, std::function<void()> done) {
  works_.push_back(std::make_unique<Work>());
  Work* work = works_.back().get();
  work->loads = std::move(loads);
  work->done = std::move(done);
  bool meets = false;
  for (const ResourceLoad& load : work->loads) {
    const Resource& resource = resources_[load.resource];
    if (resource.lone != nullptr && !IsOver(*resource.lone)) Share(resource.lone);
    meets = meets || resource.tasks > 0;
  }
  if (meets) {
    Submit(work);
  } else {
    for (const ResourceLoad& load : work->loads) resources_[load.resource].lone = work;
    RunAlone(work);
  }
}

void FluidPlatform::RunAlone(Work* work) {
  double length = 0;
  for (const ResourceLoad& load : work->loads) {
    length = std::max(length, load.seconds / resources_[load.resource].speed);
  }
  work->since = session_->now();
  work->length = Seconds::Count(length);
  work->alarm = session_->SetAlarm(work->left * work->length, [this, work] {
    for (const ResourceLoad& load : work->loads) {
      Resource& resource = resources_[load.resource];
      if (resource.lone == work) resource.lone = nullptr;
    }
    work->done();
  });
}

void FluidPlatform::Settle(Work* work) const {
  const Seconds now = session_->now();
  work->left = std::max(0.0, work->left - Ratio(now - work->since, work->length));
  work->since = now;
}

void FluidPlatform::Share(Work* work) {
  session_->Cancel(work->alarm);
  Settle(work);
  for (const ResourceLoad& load : work->loads) resources_[load.resource].lone = nullptr;
  Submit(work);
}

void FluidPlatform::Submit(Work* work) {
  std::vector<s4u::Host*> hosts = {zone_->hub};
  for (const ResourceLoad& load : work->loads) {
    Resource& resource = resources_[load.resource];
    hosts.push_back(resource.host);
    ++resource.tasks;
  }
  // From the hub to each of the others, and kernels on those that are GPUs.
  const std::size_t n = hosts.size();
  std::vector<double> kernels(n, 0.0);
  std::vector<double> transfers(n * n, 0.0);
  for (std::size_t i = 1; i < n; ++i) {
    const ResourceLoad& load = work->loads[i - 1];
    (resources_[load.resource].is_gpu ? kernels : transfers)[i] = work->left * load.seconds;
  }
  work->task = s4u::Exec::init();
  work->task->set_flops_amounts(kernels);
  work->task->set_bytes_amounts(transfers);
  work->task->set_hosts(hosts);
  work->task->set_data(work);
  work->task->vetoable_start();
}

void FluidPlatform::Finish(Work* work) {
  for (const ResourceLoad& load : work->loads) --resources_[load.resource].tasks;
  work->done();
}

void FluidPlatform::SetSlow(int gpu, bool slow) {
  Resource& resource = resources_[gpu];
  resource.speed = slow ? resource.slow : 1.0;
  resource.host->set_pstate(slow ? 1 : 0);
  Work* work = resource.lone;
  if (work == nullptr || IsOver(*work)) return;
  session_->Cancel(work->alarm);
  Settle(work);
  RunAlone(work);
}

}  // namespace zerosim
