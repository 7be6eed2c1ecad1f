#include "models/program/fsdp.h"

#include "models/compute/compute.h"
#include "models/program/gather_call.h"
#include "models/program/kernel_bytes.h"
#include "models/program/two_hops.h"
#include "models/quantization/quantization.h"

namespace zerosim {
namespace {

// Units whose release the host does not wait for before it gathers another
// (torch/distributed/fsdp/_limiter_utils.py).
constexpr std::size_t kMaxReleasedUnits = 2;

}  // namespace

FsdpSharding::FsdpSharding(const Scenario& scenario, const ModelLayout& layout,
                           const std::vector<Visit>& trace, const CollectiveKinds& kinds,
                           ProgramWriter* writer)
    : scenario_(&scenario),
      fsdp_(&*scenario.fsdp),
      layout_(&layout),
      trace_(&trace),
      spans_(scenario, layout, trace),
      kinds_(kinds),
      writer_(writer),
      copies_(scenario, kinds, writer) {
  for (const FsdpUnit& unit : spans_.units()) units_.push_back({unit});
}

Bytes FsdpSharding::FrozenShard(const FsdpPiece& piece, int bits, int shards) {
  const std::int64_t plain = piece.elements - piece.trainable - piece.quantized;
  Bytes bytes = Bytes::Count(2 * CeilDiv(plain, shards));
  if (piece.quantized > 0) {
    bytes += QuantizedSizeOf(CeilDiv(piece.quantized, shards), FrozenFormat(bits)).total();
  }
  return bytes;
}

bool FsdpSharding::ReleasesAfterForward(const Unit& unit) const {
  return fsdp_->sharding == FsdpStrategy::kFullShard && !unit.root;
}

void FsdpSharding::StartMicroStep(const Label&, bool last) {
  last_ = last;
}

// The rate limiter: with two released units outstanding the host stops until the older is done.
void FsdpSharding::WaitForRelease(const Label& label) {
  writer_->HostWaits(label, released_.front().op);
  writer_->Memory(MemoryTerm::kLiveParameters, -1 * released_.front().bytes);
  released_.pop_front();
}

void FsdpSharding::Unshard(int unit, const Label& label) {
  Unit& u = units_[unit];
  if (u.gathered || fsdp_->sharding == FsdpStrategy::kNoShard) return;
  u.gathered = true;
  u.copied = false;
  if (fsdp_->limit_all_gathers) {
    while (released_.size() >= kMaxReleasedUnits) WaitForRelease(label);
  }
  GatherPiece(u.secondary ? Communicator::kSecondary : Communicator::kShard, u.dense, label, &u);
  if (u.experts.elements > 0) GatherPiece(Communicator::kExpertData, u.experts, label, &u);
}

void FsdpSharding::GatherPiece(Communicator communicator, const FsdpPiece& piece,
                               const Label& label, Unit* unit) {
  Unit& u = *unit;
  const ClusterSpec& cluster = scenario_->cluster;
  const int shards = kinds_.GroupOf(communicator).size;
  const std::int64_t plain = piece.elements - piece.quantized;
  GatherCall gather =
      GatherCallOf(plain, CeilDiv(plain, shards), shards, fsdp_->quantized_weights, cluster);
  if (piece.quantized > 0) {
    // Beside the others in one call, as they are kept.
    gather.call.full +=
        shards * QuantizedSizeOf(CeilDiv(piece.quantized, shards), FrozenFormat(u.bits)).total();
    gather.call.payload += Bytes::Count(2 * piece.quantized);
  }
  const char* name = label.phase == Phase::kForward ? "weights_forward" : "weights_backward";
  gather.call.kind = kinds_.Kind(name, CollectiveOp::kAllGather, communicator, writer_);
  // The shard of trained weights is kept in fp32 and cast to 16 bit before it travels.
  gather.lead += MemoryTime(Bytes::Count(6 * CeilDiv(piece.trainable, shards)), cluster);
  if (fsdp_->offload && !u.secondary) {
    copies_.ToGpu(
        Stream::kGather, "weights_to_gpu", label,
        Bytes::Count(4 * CeilDiv(piece.trainable, shards)) + FrozenShard(piece, u.bits, shards), 1,
        true);
  }
  writer_->HostWork(
      label, Seconds::Count((2 + gather.call.launches) * cluster.calibration.host_launch.value));
  u.ready = writer_->Collective(Stream::kGather, communicator, WithAction(label, Action::kGather),
                                gather.call, gather.lead);
  writer_->StreamWaits(Stream::kGather, u.ready);
  writer_->Memory(MemoryTerm::kLiveParameters, gather.call.full);
  Bytes traffic;
  if (const auto& format = fsdp_->quantized_weights) {
    traffic += QuantizeTraffic(plain, format->bits);
  }
  if (piece.quantized > 0) traffic += QuantizeTraffic(piece.quantized, u.bits);
  if (traffic > Bytes()) {
    u.ready = writer_->Kernel(Stream::kGather, WithAction(label, Action::kDequantize),
                              MemoryTime(traffic, cluster));
    writer_->Memory(MemoryTerm::kLiveParameters,
                    Bytes::Count(2 * piece.elements) - gather.call.full);
  }
}

void FsdpSharding::Reshard(int unit, const Label& label) {
  Unit& u = units_[unit];
  if (!u.gathered) return;
  u.gathered = false;
  if (fsdp_->secondary_partition_size > 1 && !u.secondary) {
    u.secondary = true;
    const int parts = fsdp_->secondary_partition_size;
    // There are no divided experts with it.
    const FsdpPiece& piece = u.dense;
    const std::int64_t shard = CeilDiv(piece.elements, parts);
    const Bytes kept = piece.quantized == 0 ? Bytes::Count(2 * shard)
                                            : Bytes::Count(2 * CeilDiv(piece.trainable, parts)) +
                                                  FrozenShard(piece, u.bits, parts);
    writer_->ExtendCompute(label, MemoryTime(CopyTraffic(shard), scenario_->cluster));
    writer_->Memory(MemoryTerm::kSecondaryShard, kept);
    secondary_bytes_ += kept;
  }
  const std::vector<OpId>& compute = writer_->tail(Stream::kCompute);
  released_.push_back({compute.empty() ? u.ready : compute.back(), Full(u)});
}

void FsdpSharding::Before(int v, const Label& label) {
  const int span = spans_.From(v);
  if (span < 0) return;
  const FsdpSpan& here = spans_[span];
  writer_->HostWork(label, Seconds::Count(scenario_->cluster.calibration.host_hook.value));
  Unshard(here.unit, label);
  Unit& unit = units_[here.unit];
  writer_->StreamWaits(Stream::kCompute, unit.ready);
  if (fsdp_->per_parameter && unit.gathered && !unit.copied) {
    writer_->Kernel(Stream::kCompute, label,
                    MemoryTime(CopyTraffic(unit.elements()), scenario_->cluster));
    unit.copied = true;
  }
  const int next = span + 1;
  if (!spans_.Follows(span)) return;
  const bool ahead =
      here.backward ? fsdp_->backward_prefetch == BackwardPrefetch::kPre : fsdp_->forward_prefetch;
  if (ahead) Unshard(spans_[next].unit, label);
}

void FsdpSharding::After(int v, const Label& label) {
  const Visit& visit = (*trace_)[v];
  for (const int w : visit.begun) {
    // Full gradients of earlier micro-steps are added to.
    if (units_[spans_.UnitOf(v)].has_gradients) break;
    writer_->Memory(MemoryTerm::kGradients, Bytes::Count(2 * layout_->weights[w].elements()));
  }
  const int span = spans_.To(v);
  if (span < 0) return;
  const FsdpSpan& here = spans_[span];
  if (!here.backward) {
    if (ReleasesAfterForward(units_[here.unit])) Reshard(here.unit, label);
    return;
  }
  // A unit that runs at both ends of the model (the root) is done with the last of its spans.
  if (spans_.Again(span)) return;
  if (fsdp_->backward_prefetch == BackwardPrefetch::kPost && spans_.Follows(span)) {
    Unshard(spans_[span + 1].unit, label);
  }
  Reshard(here.unit, label);
  // Full gradients wait for those of later micro-steps, or are reduced.
  units_[here.unit].has_gradients = fsdp_->no_sync && !last_;
  if (!units_[here.unit].has_gradients) ReduceGradients(here.unit, label);
}

void FsdpSharding::ReduceGradients(int unit, const Label& label) {
  const Unit& u = units_[unit];
  if (u.trainable() == 0) return;
  const Label reduce = WithAction(label, Action::kReduce);
  const ClusterSpec& cluster = scenario_->cluster;
  // The last unit's gradients are freed when the next one's reduction is launched.
  writer_->Memory(MemoryTerm::kGradients, -1 * gradients_in_flight_);
  gradients_in_flight_ = Gradients(u);
  writer_->StreamWaits(Stream::kReduce, Stream::kCompute);
  writer_->HostWork(label, Seconds::Count(4 * cluster.calibration.host_launch.value));

  if (fsdp_->quantized_gradients && kinds_.groups().across.size > 1) {
    ReduceInTwoHops(u.trainable(), 1, kinds_.groups().shard.size, *fsdp_->quantized_gradients,
                    cluster, label, &kinds_, writer_);
  } else {
    ReducePart(Communicator::kShard, u.dense.trainable, reduce);
  }
  ReducePart(Communicator::kExpertData, u.experts.trainable, reduce);
  ReduceShard(u, reduce);
}

void FsdpSharding::ReducePart(Communicator communicator, std::int64_t elements,
                              const Label& label) {
  if (elements == 0) return;
  const bool fp32 = fsdp_->reduce_precision == ReducePrecision::kFp32;
  const std::int64_t bytes = fp32 ? 4 : 2;
  // Cast or copied into one buffer in the order of the shards.
  writer_->Kernel(Stream::kReduce, label,
                  MemoryTime(Bytes::Count((2 + bytes) * elements), scenario_->cluster));
  writer_->Memory(MemoryTerm::kBuffers, Bytes::Count(bytes * elements));
  const bool shards = fsdp_->sharding != FsdpStrategy::kNoShard;
  const Bytes full = Bytes::Count(bytes * elements);
  const int kind =
      kinds_.Kind("gradients", shards ? CollectiveOp::kReduceScatter : CollectiveOp::kAllReduce,
                  communicator, writer_);
  const OpId op = writer_->Collective(
      Stream::kReduce, communicator, label,
      {.kind = kind, .full = full, .payload = Bytes::Count(2 * elements)}, Seconds());
  writer_->StreamWaits(Stream::kReduce, op);
  writer_->Memory(MemoryTerm::kBuffers, Bytes::Count(-bytes * elements));
}

// HSDP: the copies of a shard are summed; then the shard is added to the gradients in fp32.
void FsdpSharding::ReduceShard(const Unit& unit, const Label& label) {
  const std::int64_t shard = ShardOf(unit);
  const std::int64_t bytes = fsdp_->reduce_precision == ReducePrecision::kFp32 ? 4 : 2;
  if (kinds_.groups().replicas.size > 1) {
    const Bytes full = Bytes::Count(bytes * shard);
    const int kind = kinds_.Kind("gradients_replicas", CollectiveOp::kAllReduce,
                                 Communicator::kReplicas, writer_);
    const OpId op = writer_->Collective(
        Stream::kReduce, Communicator::kReplicas, label,
        {.kind = kind, .full = full, .payload = Bytes::Count(2 * shard)}, Seconds());
    writer_->StreamWaits(Stream::kReduce, op);
  }
  if (fsdp_->offload) {
    // Only the last micro-step gets here, so that there is nothing to add to.
    copies_.ToHost(Stream::kReduce, "gradients_to_host", label, Bytes::Count(4 * shard), 1, true);
    return;
  }
  writer_->Kernel(Stream::kReduce, label,
                  MemoryTime(Bytes::Count((bytes + 8) * shard), scenario_->cluster));
}

void FsdpSharding::FinishMicroStep(const Label&) {
  writer_->StreamWaits(Stream::kCompute, Stream::kReduce);
  if (fsdp_->no_sync && !last_) return;
  writer_->Memory(MemoryTerm::kGradients, -1 * gradients_in_flight_);
  gradients_in_flight_ = Bytes();
}

std::int64_t FsdpSharding::ShardOf(const Unit& unit) const {
  return CeilDiv(unit.dense.trainable, kinds_.groups().shard.size) +
         CeilDiv(unit.experts.trainable, kinds_.groups().expert_data.size);
}

std::int64_t FsdpSharding::optimizer_elements() const {
  std::int64_t elements = 0;
  for (const Unit& unit : units_) {
    elements += fsdp_->sharding == FsdpStrategy::kNoShard ? unit.trainable() : ShardOf(unit);
  }
  return elements;
}

void FsdpSharding::FinishStep(const Label& label) {
  while (!released_.empty()) WaitForRelease(label);
  writer_->Memory(MemoryTerm::kSecondaryShard, -1 * secondary_bytes_);
  secondary_bytes_ = Bytes();
  for (Unit& unit : units_) unit.secondary = false;
  // The loss is read once a step.
  writer_->HostWaits(label, Stream::kCompute);
}

}  // namespace zerosim
