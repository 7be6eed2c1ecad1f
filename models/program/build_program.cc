#include "models/program/build_program.h"

#include <deque>
#include <memory>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>

#include "models/parallel/rank_view.h"
#include "models/parallel/scenario_groups.h"
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
  // Sends arrived or under way: [backward][virtual stage that receives][micro-batch].
  OpId& Arrival(bool backward, int place, int micro_batch) {
    return arrivals_[backward ? 1 : 0][place * MicroBatches() + micro_batch];
  }

  const Scenario& view_;
  CollectiveKinds kinds_;
  ProgramWriter writer_;
  std::vector<Stage> stages_;
  std::vector<OpId> arrivals_[2];
};

std::vector<std::string> StageNames(int stages) {
  std::vector<std::string> names;
  names.reserve(static_cast<std::size_t>(stages));
  for (int s = 0; s < stages; ++s) names.push_back(fmt::format("stage {}", s));
  return names;
}

PipelineBuilder::PipelineBuilder(const Scenario& view, const ModelLayout& layout,
                                 const CollectiveKinds& kinds)
    : view_(view), kinds_(kinds), writer_(StageNames(view.parallel.pipeline)) {
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
