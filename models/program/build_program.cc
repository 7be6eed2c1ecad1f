#include "models/program/build_program.h"

#include <optional>
#include <stdexcept>

#include <fmt/format.h>

#include "models/compute/compute.h"
#include "models/memory/memory.h"
#include "models/program/collective_kinds.h"
#include "models/program/gradients.h"
#include "models/program/program_writer.h"
#include "models/program/trace.h"
#include "models/program/weights.h"

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

// The passes of one optimizer step over the trace.
class StepBuilder {
 public:
  StepBuilder(const Scenario& scenario, const ModelLayout& layout)
      : scenario_(scenario),
        layout_(layout),
        trace_(TraceOf(layout, scenario.training.checkpointing)),
        kinds_(scenario.world_size(), scenario.cluster.node.gpus,
               scenario.zero.secondary_partition_size),
        writer_("all ranks"),
        gradients_(scenario, layout, kinds_, &writer_),
        dense_(ActivationMemoryOf(scenario)),
        experts_(scenario.model.mixture ? ActivationMemoryOf(scenario, true) : dense_) {
    if (scenario.zero.stage == 3) weights_.emplace(scenario, layout, trace_, kinds_, &writer_);
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
  void RunVisit(int v, int micro_step, bool reduces);
  void TrackActivations(int v, bool before);
  void RunOptimizer();

  // Stage 0 and 1 reduce only in the last micro-step, and after backward.
  bool ReducesInBackward() const { return scenario_.zero.stage >= 2; }

  const Scenario& scenario_;
  const ModelLayout& layout_;
  const std::vector<Visit> trace_;
  CollectiveKinds kinds_;
  ProgramWriter writer_;
  GradientReducer gradients_;
  std::optional<WeightGatherer> weights_;
  // Of layers with a plain MLP, and of those with experts.
  ActivationMemory dense_;
  ActivationMemory experts_;
};

void StepBuilder::RunMicroStep(int micro_step, bool last) {
  if (weights_) weights_->StartMicroStep();
  const int visits = static_cast<int>(trace_.size());
  for (int v = 0; v < visits; ++v) {
    // Wall-clock timers and the loss make the host wait where forward ends.
    const Label label = LabelOf(trace_[v], micro_step);
    if (v > 0 && trace_[v].phase != trace_[v - 1].phase) {
      writer_.HostWaits(label, Stream::kCompute);
    }
    RunVisit(v, micro_step, ReducesInBackward());
  }
  Label end = LabelOf(trace_.back(), micro_step);
  if (ReducesInBackward()) {
    gradients_.Flush(end);
  } else if (last) {
    for (const Visit& visit : trace_) {
      for (const int w : visit.begun) gradients_.Begin(w);
      for (const int w : visit.gradients) gradients_.Add(w, end);
    }
    gradients_.Flush(end);
  }
  if (weights_) weights_->FinishMicroStep(end);
  for (const Stream stream : {Stream::kCompute, Stream::kReduce, Stream::kGather}) {
    writer_.HostWaits(end, stream);
  }
}

void StepBuilder::RunVisit(int v, int micro_step, bool reduces) {
  const Calibration& calibration = scenario_.cluster.calibration;
  const Visit& visit = trace_[v];
  const Label label = LabelOf(visit, micro_step);
  const ModuleTime time = TimeOf(visit.part, scenario_);

  TrackActivations(v, /*before=*/true);
  writer_.HostWork(label, Seconds::Count(calibration.host_hook.value));
  if (weights_) weights_->Before(v, label);

  const bool backward = visit.action == Action::kBackward;
  Seconds run = visit.action == Action::kForward ? time.forward.total() : time.recompute.total();
  if (backward) {
    run = time.backward.total();
    // Selective checkpointing recomputes inside of backward, without hooks of its own.
    if (scenario_.training.checkpointing == Checkpointing::kSelective) {
      run += time.recompute.total();
    }
  }
  const int kernels = backward ? time.backward_kernels : time.forward_kernels;
  if (run > Seconds()) {
    writer_.HostWork(label, Seconds::Count(kernels * calibration.host_launch.value));
    writer_.Kernel(Stream::kCompute, label, run);
  }
  if (weights_) weights_->After(v, label);
  if (reduces) {
    for (const int w : visit.begun) gradients_.Begin(w);
    for (const int w : visit.gradients) gradients_.Add(w, label);
  }
  TrackActivations(v, /*before=*/false);
}

// Activations by layer: a layer's working set lives while it runs, what it saves from forward to
// the end of its backward.
void StepBuilder::TrackActivations(int v, bool before) {
  const Visit& visit = trace_[v];
  const bool experts = visit.layer >= 0 && scenario_.model.has_experts(visit.layer);
  const ActivationMemory& activations = experts ? experts_ : dense_;
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
      if (scenario_.training.checkpointing != Checkpointing::kFull) {
        extra += activations.working_per_layer;
      }
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
  const std::int64_t parameters = layout_.parameters();
  const int world = scenario_.world_size();
  const bool sharded = scenario_.zero.stage > 0;
  writer_.HostWork(label, Seconds::Count(scenario_.cluster.calibration.host_launch.value));
  writer_.Kernel(
      Stream::kCompute, label,
      OptimizerTime(sharded ? CeilDiv(parameters, world) : parameters, scenario_.cluster));
  writer_.StreamWaits(Stream::kGather, Stream::kCompute);
  if (weights_) {
    weights_->FinishStep(label);
  } else if (sharded) {
    const Bytes full = Bytes::Count(2 * parameters);
    const int kind =
        kinds_.Kind("parameters_refresh", CollectiveOp::kAllGather, Communicator::kWorld, &writer_);
    Label refresh = label;
    refresh.action = Action::kRefresh;
    const OpId op = writer_.Collective(Stream::kGather, Communicator::kWorld, refresh,
                                       {.kind = kind, .full = full, .payload = full}, Seconds());
    writer_.StreamWaits(Stream::kGather, op);
  }
  writer_.HostWaits(label, Stream::kCompute);
  writer_.HostWaits(label, Stream::kGather);
}

}  // namespace

StepProgram BuildProgram(const Scenario& scenario, const ModelLayout& layout) {
  const int world = scenario.world_size();
  if (world < 1 || scenario.training.gradient_accumulation_steps < 1) {
    throw std::invalid_argument(fmt::format("a step of {} ranks and {} micro-steps", world,
                                            scenario.training.gradient_accumulation_steps));
  }
  if (scenario.zero.has_secondary() && world % scenario.zero.secondary_partition_size != 0) {
    throw std::invalid_argument(fmt::format("secondary groups of {} in a world of {}",
                                            scenario.zero.secondary_partition_size, world));
  }
  StepBuilder builder(scenario, layout);
  return builder.Build();
}

}  // namespace zerosim
