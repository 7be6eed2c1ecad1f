#include "models/program/build_program.h"

#include <array>
#include <memory>
#include <stdexcept>

#include <fmt/format.h>

#include "models/compute/compute.h"
#include "models/memory/memory.h"
#include "models/parallel/rank_view.h"
#include "models/parallel/scenario_groups.h"
#include "models/program/collective_kinds.h"
#include "models/program/deepspeed.h"
#include "models/program/fsdp.h"
#include "models/program/model_collectives.h"
#include "models/program/program_writer.h"
#include "models/program/trace.h"

namespace zerosim {
namespace {

Label LabelOf(const Visit& visit, int micro_step) {
  return {visit.phase, visit.action, visit.part, visit.layer, micro_step};
}

Label OptimizerLabel(const Scenario& scenario) {
  return {.phase = Phase::kOptimizer,
          .action = Action::kOptimizer,
          .micro_step = scenario.training.gradient_accumulation_steps - 1};
}

std::unique_ptr<Sharding> MakeSharding(const Scenario& scenario, const ModelLayout& layout,
                                       const std::vector<Visit>& trace,
                                       const CollectiveKinds& kinds, ProgramWriter* writer) {
  if (scenario.fsdp) {
    return std::make_unique<FsdpSharding>(scenario, layout, trace, kinds, writer);
  }
  return std::make_unique<DeepSpeedSharding>(scenario, layout, trace, kinds, writer);
}

// The passes of one optimizer step over the trace.
class StepBuilder {
 public:
  StepBuilder(const Scenario& scenario, const ModelLayout& layout)
      : scenario_(RankView(scenario)),
        layout_(layout),
        trace_(
            TraceOf(layout, scenario.training.checkpointing, scenario.training.checkpoint_every)),
        writer_("all ranks"),
        kinds_(ProcessGroupsOf(scenario), scenario.world_size()),
        sharding_(MakeSharding(scenario_, layout, trace_, kinds_, &writer_)),
        collectives_(scenario_, kinds_, &writer_) {
    for (const bool experts : {false, true}) {
      if (experts && !scenario.model.mixture) continue;
      for (const bool checkpointed : {false, true}) {
        activations_[experts][checkpointed] = ActivationMemoryOf(scenario_, experts, checkpointed);
      }
    }
  }

  StepProgram Build() {
    writer_.HostWork(Label{}, Seconds());
    const int micro_steps = scenario_.training.gradient_accumulation_steps;
    for (int k = 0; k < micro_steps; ++k) RunMicroStep(k, k == micro_steps - 1);
    RunOptimizer();
    return std::move(writer_).Finish();
  }

 private:
  void RunMicroStep(int micro_step, bool last);
  void RunVisit(int v, const Label& label);
  void TrackActivations(int v, bool before);
  void RunOptimizer();

  const Scenario scenario_;  // as one rank sees it
  const ModelLayout& layout_;
  const std::vector<Visit> trace_;
  ProgramWriter writer_;
  CollectiveKinds kinds_;
  std::unique_ptr<Sharding> sharding_;
  ModelCollectives collectives_;
  // Of layers with a plain MLP and with experts, and of those left out of checkpointing first.
  std::array<std::array<ActivationMemory, 2>, 2> activations_{};
};

void StepBuilder::RunMicroStep(int micro_step, bool last) {
  const int visits = static_cast<int>(trace_.size());
  sharding_->StartMicroStep(LabelOf(trace_.front(), micro_step), last);
  for (int v = 0; v < visits; ++v) {
    const Label label = LabelOf(trace_[v], micro_step);
    if (v > 0 && trace_[v].phase != trace_[v - 1].phase) sharding_->BetweenPasses(label);
    RunVisit(v, label);
  }
  sharding_->FinishMicroStep(LabelOf(trace_.back(), micro_step));
}

void StepBuilder::RunVisit(int v, const Label& label) {
  const Visit& visit = trace_[v];
  const ModuleTime time = TimeOf(visit.part, scenario_);

  TrackActivations(v, /*before=*/true);
  sharding_->Before(v, label);
  collectives_.Before(visit, label);

  const bool backward = visit.action == Action::kBackward;
  Seconds run = visit.action == Action::kForward ? time.forward.total() : time.recompute.total();
  if (backward) {
    run = time.backward.total();
    // What is not recomputed as a block is inside of backward, without hooks of its own.
    const TrainingSpec& training = scenario_.training;
    if (training.checkpointing != Checkpointing::kFull && training.checkpoints(visit.layer)) {
      run += time.recompute.total();
    }
  }
  const int kernels = backward ? time.backward_kernels : time.forward_kernels;
  if (run > Seconds()) {
    const Seconds launch = Seconds::Count(scenario_.cluster.calibration.host_launch.value);
    writer_.HostWork(label, kernels * launch);
    writer_.Kernel(Stream::kCompute, label, run);
  }
  collectives_.After(visit, label);
  sharding_->After(v, label);
  TrackActivations(v, /*before=*/false);
}

// Activations by layer: a layer's working set lives while it runs, what it saves from forward to
// the end of its backward.
void StepBuilder::TrackActivations(int v, bool before) {
  const Visit& visit = trace_[v];
  const bool experts = visit.layer >= 0 && scenario_.model.has_experts(visit.layer);
  const TrainingSpec& training = scenario_.training;
  const bool checkpointed = training.checkpoints(visit.layer);
  const ActivationMemory& activations = activations_[experts][checkpointed];
  const int visits = static_cast<int>(trace_.size());
  const auto same = [&](int other) {
    return other >= 0 && other < visits && trace_[other].layer == visit.layer &&
           trace_[other].action == visit.action;
  };
  const bool starts = before && !same(v - 1);
  const bool ends = !before && !same(v + 1);
  if (visit.layer < 0) {
    if (visit.part == Part::kEmbedding && visit.action == Action::kForward && before) {
      writer_.Memory(MemoryTerm::kActivations, activations.embedding);
    }
    if (visit.part == Part::kEmbedding && visit.action == Action::kBackward && !before) {
      writer_.Memory(MemoryTerm::kActivations, -1 * activations.embedding);
    }
    if (visit.part == Part::kHead && visit.action == Action::kForward && before) {
      writer_.Memory(MemoryTerm::kLogits, activations.logits);
    }
    if (visit.part == Part::kHead && visit.action == Action::kBackward && !before) {
      writer_.Memory(MemoryTerm::kLogits, -1 * activations.logits);
    }
    return;
  }
  const bool recomputed = checkpointed && training.checkpointing == Checkpointing::kFull;
  switch (visit.action) {
    case Action::kForward:
      if (starts) writer_.Memory(MemoryTerm::kActivations, activations.working_per_layer);
      if (ends) {
        writer_.Memory(MemoryTerm::kActivations,
                       activations.saved_per_layer - activations.working_per_layer);
      }
      break;
    case Action::kRecompute:
      if (starts) writer_.Memory(MemoryTerm::kActivations, activations.working_per_layer);
      break;
    default: {
      Bytes extra = activations.gradient_per_layer;
      if (!recomputed) extra += activations.working_per_layer;
      if (starts) writer_.Memory(MemoryTerm::kActivations, extra);
      if (ends) {
        Bytes freed = activations.gradient_per_layer + activations.working_per_layer +
                      activations.saved_per_layer;
        writer_.Memory(MemoryTerm::kActivations, -1 * freed);
      }
    }
  }
}

void StepBuilder::RunOptimizer() {
  const Label label = OptimizerLabel(scenario_);
  writer_.HostWork(label, Seconds::Count(scenario_.cluster.calibration.host_launch.value));
  writer_.Kernel(Stream::kCompute, label,
                 OptimizerTime(sharding_->optimizer_elements(), scenario_.cluster));
  writer_.StreamWaits(Stream::kGather, Stream::kCompute);
  sharding_->FinishStep(label);
}

}  // namespace

StepProgram BuildProgram(const Scenario& scenario, const ModelLayout& layout) {
  const int world = scenario.world_size();
  if (world < 1 || scenario.training.gradient_accumulation_steps < 1) {
    throw std::invalid_argument(fmt::format("a step of {} ranks and {} micro-steps", world,
                                            scenario.training.gradient_accumulation_steps));
  }
  StepBuilder builder(scenario, layout);
  return builder.Build();
}

}  // namespace zerosim
