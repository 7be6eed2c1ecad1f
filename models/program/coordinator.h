// Which weights a ZeRO-3 rank gathers and releases at each module: DeepSpeed's
// PartitionedParameterCoordinator as a state machine over the trace
// (runtime/zero/partitioned_param_coordinator.py at edaa722).
//
// Its decisions depend on the order of the host alone, not on time, so they are made when the
// program is built. Per visit, in this order: fetch what is missing, wait for it, prefetch, run,
// release.
//
// Not modelled: several dtypes in one call, leaf modules, changes of the trace between steps.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "models/program/trace.h"
#include "models/zero/zero.h"

namespace zerosim {

class FetchCoordinator {
 public:
  // `elements[w]` of each weight; `persistent[w]` if it is never partitioned away. `trace_known`
  // is false in the first step, which prefetches nothing and records the trace.
  FetchCoordinator(const std::vector<Visit>& trace, std::vector<std::int64_t> elements,
                   std::vector<bool> persistent, const ZeroConfig& config, bool trace_known);

  // Starts a micro-step: the trace begins anew, what is gathered stays.
  void Restart();

  // Weights of visit `v` that must be gathered now. They count as in flight from here on.
  std::vector<int> Fetch(int v);

  // Weights to gather ahead at visit `v`, after its own are there: from the trace, until
  // min(max_live - live, prefetch bucket) elements; the last one may overshoot.
  std::vector<int> Prefetch(int v);

  // Weights of visit `v` to release after it ran: not persistent, not marked by a later prefetch,
  // not used again within max_reuse_distance elements of the trace.
  std::vector<int> Release(int v);

  std::int64_t live_elements() const { return live_elements_; }

 private:
  struct Use {
    int weight = 0;
    int visit = 0;
  };

  bool ReusedSoon(int weight, int v) const;

  const std::vector<Visit>* trace_;
  std::vector<std::int64_t> elements_;
  std::vector<bool> persistent_;
  ZeroConfig config_;
  bool trace_known_;

  std::vector<std::int64_t> elements_before_;  // of the trace, up to each visit
  std::vector<std::vector<int>> visits_of_;    // of each weight, ascending
  std::deque<Use> queue_;                      // of the trace that no fetch has passed
  std::vector<int> fetched_for_;               // last visit that a weight was fetched for
  std::vector<bool> live_;                     // gathered or in flight
  std::int64_t live_elements_ = 0;
};

}  // namespace zerosim
