#include "models/program/deepspeed.h"

namespace zerosim {

DeepSpeedSharding::DeepSpeedSharding(const Scenario& scenario, const ModelLayout& layout,
                                     const std::vector<Visit>& trace, const CollectiveKinds& kinds,
                                     ProgramWriter* writer)
    : scenario_(&scenario),
      layout_(&layout),
      trace_(&trace),
      kinds_(kinds),
      writer_(writer),
      gradients_(scenario, layout, kinds, writer) {
  if (scenario.zero.stage == 3) weights_.emplace(scenario, layout, trace, kinds, writer);
}

void DeepSpeedSharding::StartMicroStep(const Label&, bool last) {
  last_ = last;
  gradients_.StartMicroStep(last);
  if (weights_) weights_->StartMicroStep();
}

void DeepSpeedSharding::Before(int v, const Label& label) {
  writer_->HostWork(label, Seconds::Count(scenario_->cluster.calibration.host_hook.value));
  if (weights_) weights_->Before(v, label);
}

void DeepSpeedSharding::After(int v, const Label& label) {
  if (weights_) weights_->After(v, label);
  if (!ReducesInBackward()) return;
  const Visit& visit = (*trace_)[v];
  for (const int w : visit.begun) gradients_.Begin(w);
  for (const int w : visit.gradients) gradients_.Add(w, label);
}

void DeepSpeedSharding::BetweenPasses(const Label& label) {
  // Wall-clock timers and the loss make the host wait where forward ends.
  writer_->HostWaits(label, Stream::kCompute);
}

void DeepSpeedSharding::FinishMicroStep(const Label& label) {
  if (ReducesInBackward()) {
    gradients_.Flush(label);
  } else if (last_) {
    for (const Visit& visit : *trace_) {
      for (const int w : visit.begun) gradients_.Begin(w);
      for (const int w : visit.gradients) gradients_.Add(w, label);
    }
    gradients_.Flush(label);
  }
  if (weights_) weights_->FinishMicroStep(label);
  for (const Stream stream : {Stream::kCompute, Stream::kReduce, Stream::kGather}) {
    writer_->HostWaits(label, stream);
  }
}

std::int64_t DeepSpeedSharding::optimizer_elements() const {
  const std::int64_t all = layout_->parameters();
  if (scenario_->zero.stage == 0) return all;
  const std::int64_t experts = scenario_->divided_experts(*layout_);
  return CeilDiv(all - experts, kinds_.groups().shard.size) +
         CeilDiv(experts, kinds_.groups().expert_data.size);
}

void DeepSpeedSharding::Refresh(Communicator communicator, std::int64_t elements,
                                const Label& label) {
  const Bytes full = Bytes::Count(2 * elements);
  const int kind =
      kinds_.Kind("parameters_refresh", CollectiveOp::kAllGather, communicator, writer_);
  Label refresh = label;
  refresh.action = Action::kRefresh;
  const OpId op = writer_->Collective(Stream::kGather, communicator, refresh,
                                      {.kind = kind, .full = full, .payload = full}, Seconds());
  writer_->StreamWaits(Stream::kGather, op);
}

void DeepSpeedSharding::FinishStep(const Label& label) {
  if (weights_) {
    weights_->FinishStep(label);
  } else if (scenario_->zero.stage > 0) {
    const std::int64_t experts = scenario_->divided_experts(*layout_);
    Refresh(Communicator::kShard, layout_->parameters() - experts, label);
    if (experts > 0) Refresh(Communicator::kExpertData, experts, label);
  }
  writer_->HostWaits(label, Stream::kCompute);
  writer_->HostWaits(label, Stream::kGather);
}

}  // namespace zerosim
