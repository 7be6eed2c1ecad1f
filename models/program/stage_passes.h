// What the ranks of one stage launch: passes over the stage's modules, then the optimizer. Without
// a pipeline there is one stage, which has all layers.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "models/program/activations.h"
#include "models/program/collective_kinds.h"
#include "models/program/model_collectives.h"
#include "models/program/pipeline.h"
#include "models/program/program_writer.h"
#include "models/program/sharding.h"
#include "models/program/trace.h"
#include "models/scenario/scenario.h"
#include "models/transformer/transformer.h"

namespace zerosim {

class StagePasses {
 public:
  // `view` is what one rank sees (rank_view.h), `layout` the stage's part of it. All arguments must
  // outlive it; it must stay where it is.
  StagePasses(const Scenario& view, const ModelLayout& layout, const CollectiveKinds& kinds,
              ProgramWriter* writer);
  StagePasses(const StagePasses&) = delete;
  StagePasses& operator=(const StagePasses&) = delete;

  // Forward and backward of one micro-batch, one after the other.
  void RunMicroStep(int micro_step, bool last);

  // One pass of a pipeline, as one operation where nothing in it overlaps and its collectives meet
  // none of other stages. Sends beside it are not counted among those: they move few bytes.
  void RunPass(const Pass& pass, bool last);

  // After the last pass of a pipeline.
  void FinishPasses(int micro_step) { sharding_->FinishMicroStep(LastLabel(micro_step)); }

  void RunOptimizer(int micro_step);

 private:
  // What dequantising frozen weights adds to a visit where every rank keeps all of them.
  Seconds DequantizeTime(const Visit& visit) const;
  void RunVisit(int v, const Label& label);
  Label LastLabel(int micro_step) const;

  const Scenario* view_;
  const ModelLayout* layout_;
  std::vector<Visit> trace_;
  ProgramWriter* writer_;
  std::unique_ptr<Sharding> sharding_;
  ModelCollectives collectives_;
  ActivationTracker activations_;
  // Visits of each chunk in forward and in backward: [first, end).
  std::vector<std::pair<int, int>> forward_;
  std::vector<std::pair<int, int>> backward_;
};

}  // namespace zerosim
