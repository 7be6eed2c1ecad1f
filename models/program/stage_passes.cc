#include "models/program/stage_passes.h"

#include "models/compute/compute.h"
#include "models/compute/optimizer_time.h"
#include "models/parallel/stages.h"
#include "models/program/deepspeed.h"
#include "models/program/fsdp.h"
#include "models/program/kernel_bytes.h"

namespace zerosim {
namespace {

Label LabelOf(const Visit& visit, int micro_step) {
  return {visit.phase, visit.action, visit.part, visit.layer, micro_step};
}

std::unique_ptr<Sharding> MakeSharding(const Scenario& view, const ModelLayout& layout,
                                       const std::vector<Visit>& trace,
                                       const CollectiveKinds& kinds, ProgramWriter* writer) {
  if (view.fsdp) return std::make_unique<FsdpSharding>(view, layout, trace, kinds, writer);
  return std::make_unique<DeepSpeedSharding>(view, layout, trace, kinds, writer);
}

// Cuts the visits of one phase where the chunk changes. What comes before the layers belongs to the
// first chunk and what comes after them to the last, which may hold no layer.
std::vector<std::pair<int, int>> ChunkRanges(const std::vector<Visit>& trace, Phase phase,
                                             const std::vector<int>& run_of, int stages,
                                             int chunks) {
  std::vector<std::pair<int, int>> ranges(static_cast<std::size_t>(chunks), {-1, -1});
  const bool forward = phase == Phase::kForward;
  bool layers_began = false;
  for (int v = 0; v < static_cast<int>(trace.size()); ++v) {
    if (trace[v].phase != phase) continue;
    const int layer = trace[v].layer;
    layers_began = layers_began || layer >= 0;
    const int outside = layers_began == forward ? chunks - 1 : 0;
    std::pair<int, int>& range = ranges[layer >= 0 ? run_of[layer] / stages : outside];
    if (range.first < 0) range.first = v;
    range.second = v + 1;
  }
  return ranges;
}

}  // namespace

StagePasses::StagePasses(const Scenario& view, const ModelLayout& layout,
                         const CollectiveKinds& kinds, ProgramWriter* writer)
    : view_(&view),
      layout_(&layout),
      trace_(TraceOf(layout, view.training.checkpointing, view.training.checkpoint_every)),
      writer_(writer),
      sharding_(MakeSharding(view, layout, trace_, kinds, writer)),
      collectives_(view, kinds, writer),
      activations_(view, trace_, writer) {
  const ParallelSpec& parallel = view.parallel;
  if (parallel.pipeline == 1) return;
  const std::vector<int> run_of = RunOfLayers(view.model.layers, parallel);
  const int chunks = parallel.virtual_stages;
  forward_ = ChunkRanges(trace_, Phase::kForward, run_of, parallel.pipeline, chunks);
  backward_ = ChunkRanges(trace_, Phase::kBackward, run_of, parallel.pipeline, chunks);
}

Label StagePasses::LastLabel(int micro_step) const {
  return LabelOf(trace_.back(), micro_step);
}

void StagePasses::RunMicroStep(int micro_step, bool last) {
  const int visits = static_cast<int>(trace_.size());
  sharding_->StartMicroStep(LabelOf(trace_.front(), micro_step), last);
  for (int v = 0; v < visits; ++v) {
    const Label label = LabelOf(trace_[v], micro_step);
    if (v > 0 && trace_[v].phase != trace_[v - 1].phase) sharding_->BetweenPasses(label);
    RunVisit(v, label);
  }
  sharding_->FinishMicroStep(LastLabel(micro_step));
}

void StagePasses::RunPass(const Pass& pass, bool last) {
  const auto [first, end] = (pass.backward ? backward_ : forward_)[pass.chunk];
  const Label label = LabelOf(trace_[first], pass.micro_batch);
  sharding_->StartMicroStep(label, last);
  const bool fold =
      sharding_->IsQuiet() && !view_->parallel.overlaps_parts() && !collectives_.MeetOtherStages();
  if (fold) writer_->BeginFold(label);
  for (int v = first; v < end; ++v) RunVisit(v, LabelOf(trace_[v], pass.micro_batch));
  if (fold) writer_->EndFold();
}

Seconds StagePasses::DequantizeTime(const Visit& visit) const {
  Bytes traffic;
  if (!view_->shards_weights()) {
    for (const int w : visit.weights) {
      const Weight& weight = layout_->weights[w];
      if (weight.bits < 16) traffic += QuantizeTraffic(weight.elements(), weight.bits);
    }
  }
  return MemoryTime(traffic, view_->cluster);
}

void StagePasses::RunVisit(int v, const Label& label) {
  const Visit& visit = trace_[v];
  const ModuleTime time = TimeOf(visit.part, *view_);

  activations_.Before(v);
  sharding_->Before(v, label);
  collectives_.Before(visit, label);

  const bool backward = visit.action == Action::kBackward;
  const PassTime& pass = backward                           ? time.backward
                         : visit.action == Action::kForward ? time.forward
                                                            : time.recompute;
  const Seconds product = pass.gemm + pass.attention;
  Seconds other = pass.memory_bound;
  if (backward) {
    // What is not recomputed as a block is inside of backward, without hooks of its own.
    const TrainingSpec& training = view_->training;
    if (training.checkpointing != Checkpointing::kFull && training.checkpoints(visit.layer)) {
      other += time.recompute.total();
    }
  }
  const int kernels = backward ? time.backward_kernels : time.forward_kernels;
  other += DequantizeTime(visit);
  if (product + other > Seconds()) {
    const Seconds launch = Seconds::Count(view_->cluster.calibration.host_launch.value);
    writer_->HostWork(label, kernels * launch);
  }
  collectives_.Kernels(visit, label, product, other);
  collectives_.After(visit, label);
  sharding_->After(v, label);
  activations_.After(v);
}

void StagePasses::RunOptimizer(int micro_step) {
  const Label label = {
      .phase = Phase::kOptimizer, .action = Action::kOptimizer, .micro_step = micro_step};
  writer_->HostWork(label, Seconds::Count(view_->cluster.calibration.host_launch.value));
  const std::int64_t on_host = sharding_->host_optimizer_elements();
  const std::int64_t on_gpu = sharding_->optimizer_elements() - on_host;
  if (on_gpu > 0) {
    writer_->Kernel(Stream::kCompute, label, OptimizerTime(on_gpu, view_->cluster));
  }
  if (on_host > 0) {
    // Gradients are on the host once the stream that copies them is done. What the GPU updates
    // itself, it updates meanwhile.
    writer_->HostWaits(label, Stream::kReduce);
    writer_->HostTask(label, HostOptimizerTime(on_host, HostOptimizerOf(*view_), view_->cluster));
  }
  writer_->StreamWaits(Stream::kGather, Stream::kCompute);
  sharding_->FinishStep(label);
}

}  // namespace zerosim
