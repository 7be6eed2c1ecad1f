// The links and GPUs of the fluid engine, shared max-min fairly by the work that runs on them.
//
// A piece of work loads some resources in proportion: it keeps each of them busy for so many
// seconds. Work that meets no other on any of its resources runs at the pace of the slowest one, so
// it is a timer. Where work meets, SimGrid shares the resources out: what is left of each piece
// becomes a parallel task. Nothing else couples the paces, so that this changes no result; it makes
// what seldom meets, as the messages between the stages of a pipeline, several times cheaper.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "models/core/units.h"
#include "sim/simgrid_session.h"

namespace zerosim {

// Seconds for which work keeps a resource of full speed busy.
struct ResourceLoad {
  int resource = 0;
  double seconds = 0;
};

class FluidPlatform {
 public:
  // `session` must outlive it.
  explicit FluidPlatform(SimGridSession* session);
  ~FluidPlatform();
  FluidPlatform(const FluidPlatform&) = delete;
  FluidPlatform& operator=(const FluidPlatform&) = delete;

  // Return the place of the resource. A slowed GPU runs at `slow` of its speed. Before any work.
  int AddLink(const std::string& name);
  int AddGpu(const std::string& name, double slow);
  void Seal();

  // Calls `done` when the work is. Requires at least one load, each above 0.
  void Start(std::vector<ResourceLoad> loads, std::function<void()> done);

  // From now on.
  void SetSlow(int gpu, bool slow);

 private:
  struct Resource;
  struct Work;
  struct Zone;

  void RunAlone(Work* work);
  // What is left of lone work becomes a task.
  void Share(Work* work);
  void Submit(Work* work);
  void Finish(Work* work);
  bool IsOver(const Work& work) const;
  // Counts what was done until now, of lone work.
  void Settle(Work* work) const;

  SimGridSession* session_;
  std::unique_ptr<Zone> zone_;
  std::vector<Resource> resources_;
  // All of it, to the end: SimGrid still needs a task when it reports that it is over.
  std::vector<std::unique_ptr<Work>> works_;
};

}  // namespace zerosim
