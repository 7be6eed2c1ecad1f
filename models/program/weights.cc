#include "models/program/weights.h"

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "models/compute/compute.h"
#include "models/program/gather_call.h"
#include "models/program/kernel_bytes.h"
#include "models/quantization/quantization.h"

namespace zerosim {
namespace {

// A fetch that the host must wait for when this many later ones were waited for too.
constexpr std::size_t kMaxUnfinishedFetches = 2;

std::vector<std::int64_t> ElementsOf(const ModelLayout& layout) {
  std::vector<std::int64_t> elements;
  for (const Weight& w : layout.weights) elements.push_back(w.elements());
  return elements;
}

std::vector<bool> PersistentWeights(const ModelLayout& layout, std::int64_t threshold) {
  std::vector<bool> persistent;
  for (const Weight& w : layout.weights) persistent.push_back(w.tensor_elements() <= threshold);
  return persistent;
}

}  // namespace

WeightGatherer::WeightGatherer(const Scenario& scenario, const ModelLayout& layout,
                               const std::vector<Visit>& trace, CollectiveKinds kinds,
                               ProgramWriter* writer)
    : scenario_(&scenario),
      layout_(&layout),
      trace_(&trace),
      kinds_(kinds),
      writer_(writer),
      copies_(scenario, kinds, writer),
      persistent_(PersistentWeights(layout, scenario.zero.param_persistence_threshold)),
      coordinator_(trace, ElementsOf(layout), persistent_, scenario.zero,
                   !scenario.training.first_step),
      handle_of_(layout.weights.size(), -1),
      has_secondary_(layout.weights.size(), false) {}

void WeightGatherer::StartMicroStep() {
  coordinator_.Restart();
}

bool WeightGatherer::UsesSecondary(int weight, const Label& label) const {
  if (!scenario_->zero.has_secondary() || !has_secondary_[weight]) return false;
  return scenario_->zero.secondary_rule == SecondaryRule::kOncePerStep ||
         label.phase == Phase::kBackward;
}

bool WeightGatherer::MayOverlap(const Label& label) const {
  const OverlapPolicy& overlap = scenario_->zero.overlap;
  return label.phase == Phase::kForward ? overlap.gather_forward : overlap.gather_backward;
}

void WeightGatherer::Gather(const std::vector<int>& weights, const Label& label) {
  // In the order of the calls: the secondary group first, and 16 bit first.
  std::map<std::pair<Communicator, int>, std::vector<int>, std::greater<>> calls;
  for (const int w : weights) {
    const Communicator from =
        UsesSecondary(w, label) ? Communicator::kSecondary : Communicator::kShard;
    calls[{from, layout_->weights[w].bits}].push_back(w);
  }
  for (const auto& [call, members] : calls) GatherFrom(call.first, members, call.second, label);
}

void WeightGatherer::GatherFrom(Communicator communicator, const std::vector<int>& weights,
                                int bits, const Label& label) {
  const ClusterSpec& cluster = scenario_->cluster;
  const int shards = kinds_.GroupOf(communicator).size;
  std::int64_t shard_elements = 0;
  Handle handle;
  for (const int w : weights) {
    const Weight& weight = layout_->weights[w];
    handle.elements += weight.elements();
    handle.weights += static_cast<std::size_t>(weight.count);
    shard_elements += weight.count * CeilDiv(weight.tensor_elements(), shards);
  }
  if (!MayOverlap(label)) writer_->StreamWaits(Stream::kGather, Stream::kCompute);
  if (scenario_->zero.offloads_parameters()) {
    const Bytes kept = bits == 16 ? Bytes::Count(2 * shard_elements)
                                  : QuantizedSizeOf(shard_elements, FrozenFormat(bits)).total();
    copies_.ToGpu(Stream::kGather, "weights_to_gpu", label, kept, static_cast<int>(handle.weights),
                  scenario_->zero.offload.parameters_pinned);
  }

  handle.format = bits < 16 ? FrozenFormat(bits) : scenario_->zero.quantized_weights;
  GatherCall gather = GatherCallOf(handle.elements, shard_elements, shards, handle.format, cluster);
  // They are kept as they travel.
  if (bits < 16) gather.lead = Seconds();
  if (!gather.deepspeed_accepts && bits == 16) {
    writer_->Warn(fmt::format(
        "qwZ: a shard of {} elements ({} ranks) has no group count that DeepSpeed accepts "
        "(assertion \"multiple of 8\", issue 4386); timed as if it were padded",
        shard_elements, shards));
  }
  Call& call = gather.call;
  const char* name = label.phase == Phase::kForward ? "weights_forward" : "weights_backward";
  call.kind = kinds_.Kind(name, CollectiveOp::kAllGather, communicator, writer_);
  handle.buffer = call.full;
  writer_->HostWork(label,
                    Seconds::Count((2 + call.launches) * cluster.calibration.host_launch.value));
  handle.gather = writer_->Collective(Stream::kGather, communicator,
                                      WithAction(label, Action::kGather), call, gather.lead);
  writer_->Memory(MemoryTerm::kLiveParameters, handle.buffer);
  for (const int w : weights) handle_of_[w] = static_cast<int>(handles_.size());
  handles_.push_back(handle);
}

void WeightGatherer::Wait(int weight, const Label& label) {
  if (handle_of_[weight] < 0) return;
  Handle& handle = handles_[handle_of_[weight]];
  handle_of_[weight] = -1;
  if (handle.ready) return;

  if (unfinished_.size() > kMaxUnfinishedFetches) {
    FinishFetch(label);
  }
  writer_->StreamWaits(Stream::kGather, handle.gather);
  Bytes traffic;
  if (handle.format) {
    traffic += QuantizeTraffic(handle.elements, handle.format->bits);
  }
  if (handle.weights > 1) traffic += CopyTraffic(handle.elements);
  handle.ready = handle.gather;
  if (traffic != Bytes()) {
    handle.ready = writer_->Kernel(Stream::kGather, WithAction(label, Action::kDequantize),
                                   MemoryTime(traffic, scenario_->cluster));
  }
  // What was gathered becomes weights: in place if it is one 16-bit tensor; else dequantised, and
  // cut into tensors by a copy. The gather stream reads the buffers until the host knows that it is
  // done.
  const Bytes weights = Bytes::Count(2 * handle.elements);
  Bytes temporary = handle.buffer - weights;
  if (handle.format) {
    writer_->Memory(MemoryTerm::kLiveParameters, weights);
    temporary += weights;
  }
  if (handle.weights > 1) {
    writer_->Memory(MemoryTerm::kLiveParameters, weights);
    temporary += weights;
  }
  unfinished_.push_back({*handle.ready, temporary});
}

void WeightGatherer::FinishFetch(const Label& label) {
  writer_->HostWaits(label, unfinished_.front().op);
  writer_->Memory(MemoryTerm::kLiveParameters, -1 * unfinished_.front().buffers);
  unfinished_.pop_front();
}

void WeightGatherer::Before(int v, const Label& label) {
  const std::vector<int> missing = coordinator_.Fetch(v);
  if (!missing.empty()) Gather(missing, label);
  for (const int w : (*trace_)[v].weights) Wait(w, label);
  if (!(*trace_)[v].weights.empty()) writer_->StreamWaits(Stream::kCompute, Stream::kGather);
  if (!MayOverlap(label)) return;
  const std::vector<int> ahead = coordinator_.Prefetch(v);
  if (!ahead.empty()) Gather(ahead, label);
}

void WeightGatherer::After(int v, const Label& label) {
  for (const int w : coordinator_.Release(v)) {
    const std::int64_t elements = layout_->weights[w].elements();
    writer_->Memory(MemoryTerm::kLiveParameters, Bytes::Count(-2 * elements));
    if (!scenario_->zero.has_secondary() || has_secondary_[w]) continue;
    WriteSecondary(w, label);
  }
}

void WeightGatherer::WriteSecondary(int w, const Label& label) {
  has_secondary_[w] = true;
  const Weight& weight = layout_->weights[w];
  const std::int64_t tensor =
      CeilDiv(weight.tensor_elements(), scenario_->zero.secondary_partition_size);
  const std::int64_t shard = weight.count * tensor;
  const Bytes kept =
      weight.bits == 16 ? Bytes::Count(2 * shard)
                        : weight.count * QuantizedSizeOf(tensor, FrozenFormat(weight.bits)).total();
  if (scenario_->zero.offloads_parameters()) {
    copies_.ToHost(Stream::kCompute, "secondary_to_host", label, kept,
                   static_cast<int>(weight.count), scenario_->zero.offload.parameters_pinned);
    return;
  }
  writer_->ExtendCompute(label, MemoryTime(CopyTraffic(shard), scenario_->cluster));
  writer_->Memory(MemoryTerm::kSecondaryShard, kept);
  secondary_bytes_ += kept;
}

void WeightGatherer::FinishMicroStep(const Label& label) {
  while (!unfinished_.empty()) FinishFetch(label);
}

void WeightGatherer::FinishStep(const Label& label) {
  writer_->Memory(MemoryTerm::kSecondaryShard, -1 * secondary_bytes_);
  secondary_bytes_ = Bytes();
  has_secondary_.assign(has_secondary_.size(), false);
  const int kind =
      kinds_.Kind("persistent_refresh", CollectiveOp::kAllGather, Communicator::kShard, writer_);
  for (std::size_t w = 0; w < persistent_.size(); ++w) {
    if (!persistent_[w]) continue;
    // One call a tensor.
    const int tensors = static_cast<int>(layout_->weights[w].count);
    const Bytes full = Bytes::Count(2 * layout_->weights[w].elements());
    if (scenario_->zero.offloads_parameters()) {
      const std::int64_t shard = tensors * CeilDiv(layout_->weights[w].tensor_elements(),
                                                   kinds_.GroupOf(Communicator::kShard).size);
      copies_.ToGpu(Stream::kGather, "weights_to_gpu", label, Bytes::Count(2 * shard), tensors,
                    scenario_->zero.offload.parameters_pinned);
    }
    writer_->HostWork(label,
                      Seconds::Count(tensors * scenario_->cluster.calibration.host_launch.value));
    const OpId op = writer_->Collective(
        Stream::kGather, Communicator::kShard, WithAction(label, Action::kRefresh),
        {.kind = kind, .full = full, .payload = full, .launches = tensors}, Seconds());
    writer_->StreamWaits(Stream::kGather, op);
  }
}

}  // namespace zerosim
