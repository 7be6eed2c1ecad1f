#include "models/program/deepspeed.h"

#include <cmath>

#include "models/compute/compute.h"
#include "models/program/gather_call.h"
#include "models/program/kernel_bytes.h"

namespace zerosim {

DeepSpeedSharding::DeepSpeedSharding(const Scenario& scenario, const ModelLayout& layout,
                                     const std::vector<Visit>& trace, const CollectiveKinds& kinds,
                                     ProgramWriter* writer)
    : scenario_(&scenario),
      layout_(&layout),
      trace_(&trace),
      kinds_(kinds),
      writer_(writer),
      copies_(scenario, kinds, writer),
      gradients_(scenario, layout, kinds, writer) {
  if (scenario.zero.stage == 3) weights_.emplace(scenario, layout, trace, kinds, writer);
}

void DeepSpeedSharding::StartMicroStep(const Label&, bool last) {
  last_ = last;
  gradients_.StartMicroStep(last);
  if (weights_) weights_->StartMicroStep();
}

void DeepSpeedSharding::Before(int v, const Label& label) {
  // Stages below 3 have nothing to fetch or release, and no hooks for it.
  const double hook = weights_ ? scenario_->cluster.calibration.host_hook.value : 0;
  writer_->HostWork(label, Seconds::Count(hook));
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
  const std::int64_t all = layout_->trainable_parameters();
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
  const Label refresh = WithAction(label, Action::kRefresh);
  if (scenario_->zero.sends_differences()) {
    RefreshByDifferences(communicator, kind, elements, refresh);
    return;
  }
  const OpId op = writer_->Collective(Stream::kGather, communicator, refresh,
                                      {.kind = kind, .full = full, .payload = full}, Seconds());
  writer_->StreamWaits(Stream::kGather, op);
}

// The own shard's copies are updated as the others' are, by what was sent: all ranks then have the
// same weights.
void DeepSpeedSharding::RefreshByDifferences(Communicator communicator, int kind,
                                             std::int64_t elements, const Label& label) {
  const QuantizationFormat& format = *scenario_->zero.weight_differences;
  const ClusterSpec& cluster = scenario_->cluster;
  const int shards = kinds_.GroupOf(communicator).size;
  const std::int64_t shard = CeilDiv(elements, shards);
  GatherCall gather = GatherCallOf(elements, shard, shards, format, cluster);
  gather.call.kind = kind;
  gather.lead = MemoryTime(DifferenceTraffic(shard, format.bits), cluster);
  writer_->Memory(MemoryTerm::kBuffers, gather.call.full);
  const OpId op =
      writer_->Collective(Stream::kGather, communicator, label, gather.call, gather.lead);
  writer_->StreamWaits(Stream::kGather, op);
  const OpId added =
      writer_->Kernel(Stream::kGather, WithAction(label, Action::kDequantize),
                      MemoryTime(AddDifferenceTraffic(elements, format.bits), cluster));
  writer_->HostWaits(label, added);
  writer_->Memory(MemoryTerm::kBuffers, -1 * gather.call.full);
}

std::int64_t DeepSpeedSharding::host_optimizer_elements() const {
  return std::llround(scenario_->zero.offloaded_optimizer() *
                      static_cast<double>(optimizer_elements()));
}

// Stage 3 casts on the CPU and copies 16 bit (_reassign_or_swap_out_partitioned_parameters: PyTorch
// casts before it copies to a GPU); stages 1 and 2 copy fp32 and cast on the GPU (stage_1_and_2.py,
// step). The host waits: the next part of the states is updated after the copy.
void DeepSpeedSharding::CopyUpdates(const Label& label) {
  const ZeroConfig& zero = scenario_->zero;
  const std::int64_t on_host = host_optimizer_elements();
  const std::int64_t on_gpu = optimizer_elements() - on_host;
  if (zero.offloads_parameters()) {
    copies_.ToHost(Stream::kGather, "updates_to_host", label, Bytes::Count(2 * on_gpu), 1,
                   zero.offload.parameters_pinned);
  } else {
    const int bytes = zero.stage == 3 ? 2 : 4;
    copies_.ToGpu(Stream::kGather, "updates_to_gpu", label, Bytes::Count(bytes * on_host), 1,
                  zero.offload.optimizer_pinned);
  }
  writer_->HostWaits(label, Stream::kGather);
}

void DeepSpeedSharding::FinishStep(const Label& label) {
  if (scenario_->offloads()) CopyUpdates(label);
  if (weights_) {
    weights_->FinishStep(label);
  } else if (scenario_->zero.stage > 0) {
    const std::int64_t experts = scenario_->divided_experts(*layout_);
    Refresh(Communicator::kShard, layout_->trainable_parameters() - experts, label);
    if (experts > 0) Refresh(Communicator::kExpertData, experts, label);
  }
  writer_->HostWaits(label, Stream::kCompute);
  writer_->HostWaits(label, Stream::kGather);
}

}  // namespace zerosim
