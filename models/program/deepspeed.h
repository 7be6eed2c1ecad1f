// ZeRO as DeepSpeed runs it: hooks on every module, the fetch coordinator of stage 3, buckets of
// gradients, wall-clock timers between the passes.
#pragma once

#include <optional>
#include <vector>

#include "models/program/collective_kinds.h"
#include "models/program/gradients.h"
#include "models/program/host_copies.h"
#include "models/program/sharding.h"
#include "models/program/trace.h"
#include "models/program/weights.h"
#include "models/scenario/scenario.h"
#include "models/transformer/transformer.h"

namespace zerosim {

class DeepSpeedSharding : public Sharding {
 public:
  // All arguments must outlive it.
  DeepSpeedSharding(const Scenario& scenario, const ModelLayout& layout,
                    const std::vector<Visit>& trace, const CollectiveKinds& kinds,
                    ProgramWriter* writer);

  void StartMicroStep(const Label& label, bool last) override;
  void Before(int v, const Label& label) override;
  void After(int v, const Label& label) override;
  void BetweenPasses(const Label& label) override;
  void FinishMicroStep(const Label& label) override;
  bool IsQuiet() const override { return !ReducesInBackward(); }
  std::int64_t optimizer_elements() const override;
  std::int64_t host_optimizer_elements() const override;
  void FinishStep(const Label& label) override;

 private:
  // Brings the weights that the optimizer updated to where the next step reads them.
  void CopyUpdates(const Label& label);
  // Gathers updated weights over the ranks that share their optimizer states; with
  // quantized_weight_differences what they changed by.
  void Refresh(Communicator communicator, std::int64_t elements, const Label& label);
  void RefreshByDifferences(Communicator communicator, int kind, std::int64_t elements,
                            const Label& label);
  // Stages 0 and 1 reduce only in the last micro-step, and after backward.
  bool ReducesInBackward() const { return scenario_->zero.stage >= 2; }

  const Scenario* scenario_;
  const ModelLayout* layout_;
  const std::vector<Visit>* trace_;
  CollectiveKinds kinds_;
  ProgramWriter* writer_;
  HostCopies copies_;
  GradientReducer gradients_;
  std::optional<WeightGatherer> weights_;  // stage 3
  bool last_ = false;
};

}  // namespace zerosim
