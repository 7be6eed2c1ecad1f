#include "models/program/build_program.h"

#include <deque>
#include <memory>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>

#include "models/parallel/rank_view.h"
#include "models/parallel/scenario_groups.h"
#include "models/parallel/stages.h"
#include "models/program/collective_kinds.h"
#include "models/program/pipeline.h"
#include "models/program/program_writer.h"
#include "models/program/stage_passes.h"

namespace zerosim {
namespace {

// The step of a job without a pipeline: all ranks do the same.
StepProgram BuildAlike(const Scenario& view, const ModelLayout& layout,
                       const CollectiveKinds& kinds) {
  ProgramWriter writer({"all ranks"});
  StagePasses passes(view, layout, kinds, &writer);
  writer.HostWork(Label{}, Seconds());
  const int micro_steps = view.training.gradient_accumulation_steps;
  for (int k = 0; k < micro_steps; ++k) passes.RunMicroStep(k, k == micro_steps - 1);
  passes.RunOptimizer(micro_steps - 1);
  return std::move(writer).Finish();
}

// The step of a pipeline: one class of ranks a stage, and activations sent between them.
class PipelineBuilder {
 public:
  PipelineBuilder(const Scenario& view, const ModelLayout& layout, const CollectiveKinds& kinds);
  StepProgram Build();

 private:
  struct Stage {
    ModelLayout layout;
    std::unique_ptr<StagePasses> passes;
    std::vector<Pass> order;
    std::size_t next = 0;  // place in `order`
  };

  int Stages() const { return view_.parallel.pipeline; }
  int MicroBatches() const { return view_.training.gradient_accumulation_steps; }
  // The virtual stage, 0 to stages x chunks - 1, in the order of the layers.
  int PlaceOf(int stage, const Pass& pass) const { return pass.chunk * Stages() + stage; }
  // What `pass` waits for: the input or the gradient that another stage sends. None for the first.
  bool IsReady(int stage, const Pass& pass) const;
  void Run(int stage, const Pass& pass);
  void Send(int stage, const Pass& pass);
  // Adds the gradients of an embedding that the first and the last stage both hold.
  void SumTiedGradients();
  // Sends arrived or under way: [backward][virtual stage that receives][micro-batch].
  OpId& Arrival(bool backward, int place, int micro_batch) {
    return arrivals_[backward ? 1 : 0][place * MicroBatches() + micro_batch];
  }

  const Scenario& view_;
  CollectiveKinds kinds_;
  ProgramWriter writer_;
  std::int64_t tied_elements_;
  std::vector<Stage> stages_;
  std::vector<OpId> arrivals_[2];
};

// "stage 0, layers 0-7, 64-71"; a run without a layer is left out.
std::vector<std::string> StageNames(int layers, const ParallelSpec& parallel) {
  std::vector<std::string> names;
  names.reserve(parallel.pipeline);
  for (int s = 0; s < parallel.pipeline; ++s) names.push_back(fmt::format("stage {}", s));
  std::vector<bool> named(names.size(), false);
  int first = 0;
  int run = 0;
  for (const int held : LayersOfRuns(layers, parallel)) {
    const int stage = run++ % parallel.pipeline;
    if (held > 0) {
      names[stage] += named[stage] ? ", " : ", layers ";
      names[stage] +=
          held > 1 ? fmt::format("{}-{}", first, first + held - 1) : fmt::format("{}", first);
      named[stage] = true;
    }
    first += held;
  }
  return names;
}

PipelineBuilder::PipelineBuilder(const Scenario& view, const ModelLayout& layout,
                                 const CollectiveKinds& kinds)
    : view_(view),
      kinds_(kinds),
      writer_(StageNames(view.model.layers, view.parallel)),
      tied_elements_(TiedElements(layout)) {
  const std::size_t places = static_cast<std::size_t>(Stages()) * view.parallel.virtual_stages;
  for (std::vector<OpId>& arrivals : arrivals_) arrivals.resize(places * MicroBatches());
  stages_.resize(static_cast<std::size_t>(Stages()));
  for (int s = 0; s < Stages(); ++s) {
    Stage& stage = stages_[s];
    writer_.SetRankClass(s);
    stage.layout = StageLayout(layout, view.model.layers, view.parallel, s);
    stage.passes = std::make_unique<StagePasses>(view, stage.layout, kinds_, &writer_);
    stage.order = PassesOfStage(s, Stages(), MicroBatches(), view.parallel.virtual_stages);
  }
}

bool PipelineBuilder::IsReady(int stage, const Pass& pass) const {
  const int place = PlaceOf(stage, pass);
  const int last = Stages() * view_.parallel.virtual_stages - 1;
  if (place == (pass.backward ? last : 0)) return true;
  return arrivals_[pass.backward ? 1 : 0][place * MicroBatches() + pass.micro_batch].value >= 0;
}

void PipelineBuilder::Send(int stage, const Pass& pass) {
  const int place = PlaceOf(stage, pass) + (pass.backward ? -1 : 1);
  if (place < 0 || place >= Stages() * view_.parallel.virtual_stages) return;
  const int to = place % Stages();
  if (to == stage) {
    // One stage holds both chunks (a pipeline of one).
    Arrival(pass.backward, place, pass.micro_batch) = writer_.tail(Stream::kCompute).back();
    return;
  }
  Label label{.phase = pass.backward ? Phase::kBackward : Phase::kForward,
              .action = Action::kSend,
              .micro_step = pass.micro_batch};
  // Sequence parallelism leaves each rank its part of the sequence.
  const Bytes full = Bytes::Count(
      CeilDiv(2 * view_.tokens_per_micro_batch() * view_.model.hidden, view_.sequence_parts()));
  const int kind = kinds_.SendKind(pass.backward ? "gradients_to_stage" : "activations_to_stage",
                                   stage, to, &writer_);
  writer_.HostWork(label, Seconds::Count(view_.cluster.calibration.host_launch.value));
  writer_.StreamWaits(Stream::kSend, Stream::kCompute);
  Arrival(pass.backward, place, pass.micro_batch) = writer_.Collective(
      Stream::kSend, pass.backward ? Communicator::kPreviousStage : Communicator::kNextStage, label,
      {.kind = kind, .full = full, .payload = full}, Seconds());
}

void PipelineBuilder::Run(int stage, const Pass& pass) {
  writer_.SetRankClass(stage);
  const OpId arrival =
      arrivals_[pass.backward ? 1 : 0][PlaceOf(stage, pass) * MicroBatches() + pass.micro_batch];
  writer_.StreamWaits(Stream::kCompute, arrival);
  stages_[stage].passes->RunPass(pass, pass.micro_batch == MicroBatches() - 1);
  Send(stage, pass);
}

// An all-reduce of two ranks, as what each sends to the other: both start when both have their
// gradients, and move the bytes of a ring. Of its two steps one latency is counted. DeepSpeed
// (runtime/pipe/module.py, allreduce_tied_weight_gradients) and Megatron-LM (finalize_model_grads,
// _allreduce_word_embedding_grads) do it once a step, with the gradients in full; DeepSpeed before
// it reduces them over the data-parallel ranks. With shards of FSDP, which no framework ties over
// stages, it is what each rank keeps.
void PipelineBuilder::SumTiedGradients() {
  if (tied_elements_ == 0) return;
  const int last = Stages() - 1;
  const Label label{.phase = Phase::kBackward,
                    .action = Action::kExchange,
                    .part = Part::kEmbedding,
                    .micro_step = MicroBatches() - 1};
  const int shards = view_.shards_weights() ? kinds_.groups().shard.size : 1;
  const bool fp32 = view_.fsdp && view_.fsdp->reduce_precision == ReducePrecision::kFp32;
  const Bytes full = Bytes::Count((fp32 ? 4 : 2) * CeilDiv(tied_elements_, shards));
  std::vector<OpId> ready;
  for (const int stage : {0, last}) {
    writer_.SetRankClass(stage);
    for (const Stream stream : {Stream::kCompute, Stream::kReduce}) {
      const std::vector<OpId>& tail = writer_.tail(stream);
      ready.insert(ready.end(), tail.begin(), tail.end());
    }
  }
  std::vector<OpId> sent;
  for (const int stage : {0, last}) {
    const int to = last - stage;
    writer_.SetRankClass(stage);
    writer_.HostWork(label, Seconds::Count(view_.cluster.calibration.host_launch.value));
    for (const OpId op : ready) writer_.StreamWaits(Stream::kSend, op);
    const int kind = kinds_.SendKind("tied_embedding", stage, to, &writer_);
    sent.push_back(writer_.Collective(Stream::kSend, Communicator::kTiedStages, label,
                                      {.kind = kind, .full = full, .payload = full}, Seconds()));
  }
  for (const int stage : {0, last}) {
    writer_.SetRankClass(stage);
    for (const OpId op : sent) writer_.StreamWaits(Stream::kCompute, op);
  }
}

StepProgram PipelineBuilder::Build() {
  for (int s = 0; s < Stages(); ++s) {
    writer_.SetRankClass(s);
    writer_.HostWork(Label{}, Seconds());
  }
  // Operations depend on earlier ones only, so a pass is written when what it waits for is.
  for (bool any = true; any;) {
    any = false;
    for (int s = 0; s < Stages(); ++s) {
      Stage& stage = stages_[s];
      while (stage.next < stage.order.size() && IsReady(s, stage.order[stage.next])) {
        Run(s, stage.order[stage.next++]);
        any = true;
      }
    }
  }
  for (int s = 0; s < Stages(); ++s) {
    writer_.SetRankClass(s);
    if (stages_[s].next != stages_[s].order.size()) {
      throw std::logic_error(fmt::format("stage {} waits for a pass that is never run", s));
    }
  }
  SumTiedGradients();
  for (int s = 0; s < Stages(); ++s) {
    writer_.SetRankClass(s);
    stages_[s].passes->FinishPasses(MicroBatches() - 1);
    stages_[s].passes->RunOptimizer(MicroBatches() - 1);
  }
  return std::move(writer_).Finish();
}

}  // namespace

StepProgram BuildProgram(const Scenario& scenario, const ModelLayout& layout) {
  const int world = scenario.world_size();
  if (world < 1 || scenario.training.gradient_accumulation_steps < 1) {
    throw std::invalid_argument(fmt::format("a step of {} ranks and {} micro-steps", world,
                                            scenario.training.gradient_accumulation_steps));
  }
  const Scenario view = RankView(scenario);
  const CollectiveKinds kinds(ProcessGroupsOf(scenario), world);
  if (scenario.parallel.pipeline == 1) return BuildAlike(view, layout, kinds);
  return PipelineBuilder(view, layout, kinds).Build();
}

}  // namespace zerosim
