#include "models/program/coordinator.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "models/core/check.h"

namespace zerosim {

FetchCoordinator::FetchCoordinator(const std::vector<Visit>& trace,
                                   std::vector<std::int64_t> elements, std::vector<bool> persistent,
                                   const ZeroConfig& config, bool trace_known)
    : trace_(&trace),
      elements_(std::move(elements)),
      persistent_(std::move(persistent)),
      config_(config),
      trace_known_(trace_known),
      visits_of_(elements_.size()),
      live_(elements_.size(), false) {
  std::int64_t sum = 0;
  for (std::size_t v = 0; v < trace.size(); ++v) {
    elements_before_.push_back(sum);
    for (const int w : trace[v].weights) {
      if (persistent_[w]) continue;
      visits_of_[w].push_back(static_cast<int>(v));
      sum += elements_[w];
    }
  }
  elements_before_.push_back(sum);
  Restart();
}

void FetchCoordinator::Restart() {
  queue_.clear();
  for (std::size_t v = 0; v < trace_->size(); ++v) {
    for (const int w : (*trace_)[v].weights) {
      if (!persistent_[w]) queue_.push_back({w, static_cast<int>(v)});
    }
  }
  fetched_for_.assign(elements_.size(), -1);
}

std::vector<int> FetchCoordinator::Fetch(int v) {
  std::vector<int> missing;
  for (const int w : (*trace_)[v].weights) {
    if (persistent_[w] || live_[w]) continue;
    live_[w] = true;
    live_elements_ += elements_[w];
    missing.push_back(w);
  }
  return missing;
}

std::vector<int> FetchCoordinator::Prefetch(int v) {
  if (!trace_known_) return {};
  // Drop this visit's own weights from the queue, unless an earlier prefetch has passed them.
  std::size_t not_passed = 0;
  for (const int w : (*trace_)[v].weights) {
    if (!persistent_[w] && fetched_for_[w] < v) ++not_passed;
  }
  for (; not_passed > 0 && !queue_.empty(); --not_passed) {
    const Use use = queue_.front();
    queue_.pop_front();
    fetched_for_[use.weight] = std::max(fetched_for_[use.weight], use.visit);
  }

  const std::int64_t budget =
      std::min(config_.max_live_parameters - live_elements_, config_.prefetch_bucket_size);
  std::vector<int> ahead;
  std::int64_t gathered = 0;
  while (!queue_.empty() && gathered < budget) {
    const Use use = queue_.front();
    queue_.pop_front();
    fetched_for_[use.weight] = std::max(fetched_for_[use.weight], use.visit);
    if (live_[use.weight]) continue;
    live_[use.weight] = true;
    live_elements_ += elements_[use.weight];
    gathered += elements_[use.weight];
    ahead.push_back(use.weight);
  }
  return ahead;
}

bool FetchCoordinator::ReusedSoon(int weight, int v) const {
  const std::vector<int>& visits = visits_of_[weight];
  const auto next = std::upper_bound(visits.begin(), visits.end(), v);
  if (next == visits.end()) return false;
  return elements_before_[*next] - elements_before_[v + 1] < config_.max_reuse_distance;
}

std::vector<int> FetchCoordinator::Release(int v) {
  std::vector<int> released;
  for (const int w : (*trace_)[v].weights) {
    if (persistent_[w] || !live_[w]) continue;
    if (trace_known_ && (fetched_for_[w] > v || ReusedSoon(w, v))) continue;
    live_[w] = false;
    live_elements_ -= elements_[w];
    ZEROSIM_CHECK(live_elements_ >= 0, "visit {}, weight {}", v, w);
    released.push_back(w);
  }
  return released;
}

}  // namespace zerosim
