#include "models/program/gradients.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "models/compute/compute.h"
#include "models/program/kernel_bytes.h"
#include "models/program/two_hops.h"

namespace zerosim {
namespace {

// DeepSpeed pops finished reductions and waits for the oldest when more than two are left.
constexpr std::size_t kMaxUnfinishedReductions = 2;

}  // namespace

GradientReducer::GradientReducer(const Scenario& scenario, const ModelLayout& layout,
                                 CollectiveKinds kinds, ProgramWriter* writer)
    : scenario_(&scenario),
      layout_(&layout),
      kinds_(kinds),
      writer_(writer),
      copies_(scenario, kinds, writer) {}

void GradientReducer::Begin(int weight) {
  // Stages 0 and 1 keep all gradients: static memory.
  if (scenario_->zero.stage < 2) return;
  writer_->Memory(MemoryTerm::kGradients, Bytes::Count(2 * layout_->weights[weight].elements()));
}

void GradientReducer::Add(int weight, const Label& label) {
  const std::int64_t elements = layout_->weights[weight].elements();
  if (!bucket_.empty() && bucket_elements_ + elements > scenario_->zero.reduce_bucket_size) {
    Reduce(label);
  }
  bucket_.push_back(weight);
  bucket_elements_ += elements;
}

void GradientReducer::Flush(const Label& label) {
  if (!bucket_.empty()) Reduce(label);
  for (; !unfinished_.empty(); unfinished_.pop_front()) {
    writer_->HostWaits(label, unfinished_.front().op);
    writer_->Memory(MemoryTerm::kGradients, -1 * unfinished_.front().gradients);
  }
}

void GradientReducer::WaitForOldReductions(const Label& label) {
  if (unfinished_.size() <= kMaxUnfinishedReductions) return;
  writer_->HostWaits(label, unfinished_.front().op);
  writer_->Memory(MemoryTerm::kGradients, -1 * unfinished_.front().gradients);
  unfinished_.pop_front();
}

// The first branch of __reduce_and_partition_ipg_grads in stage3.py.
bool GradientReducer::AllReducesBucket() const {
  const ZeroConfig& zero = scenario_->zero;
  if (zero.stage != 3 || zero.collective() != GradientCollective::kAllReduce ||
      !zero.contiguous_gradients) {
    return false;
  }
  // The tensors of one weight fill buckets one after the other.
  const std::int64_t elements =
      bucket_.size() == 1 ? layout_->weights[bucket_[0]].tensor_elements() : bucket_elements_;
  return elements <= zero.reduce_bucket_size;
}

bool GradientReducer::HasTwoHops() const {
  return scenario_->zero.quantizes_gradients() && groups().across.size > 1;
}

// Whether DeepSpeed sends this gradient through qgZ: matrices only, on several nodes, of a size
// that divides by twice the world.
bool GradientReducer::QuantizedTogether(int weight) const {
  if (!HasTwoHops() || scenario_->zero.stage != 3) return false;
  const Weight& w = layout_->weights[weight];
  if (w.is_vector()) return false;
  if (w.tensor_elements() % (2 * std::int64_t{groups().shard.size}) == 0) return true;
  writer_->Warn(
      fmt::format("qgZ: gradients of {} rows x {} columns do not divide by 2 x {} ranks: DeepSpeed "
                  "sends them in 16 bit (5056)",
                  w.rows, w.columns, groups().shard.size));
  return false;
}

void GradientReducer::Reduce(const Label& label) {
  WaitForOldReductions(label);
  writer_->StreamWaits(Stream::kReduce, Stream::kCompute);

  std::vector<int> plain;
  std::vector<int> quantized;
  const bool flat = AllReducesBucket();
  for (const int w : bucket_) (!flat && QuantizedTogether(w) ? quantized : plain).push_back(w);
  if (flat) {
    // The bucket's buffer as it is: nothing is joined first.
    const int calls = BucketsOf(bucket_);
    writer_->HostWork(label,
                      Seconds::Count(3 * calls * scenario_->cluster.calibration.host_launch.value));
    ReduceFlat(CollectiveOp::kAllReduce, Communicator::kShard, bucket_elements_, calls, label);
  } else if (HasTwoHops() && scenario_->zero.stage == 3) {
    for (const int w : plain) ReduceTogether({w}, label);
  } else {
    // Experts that the ranks divide are reduced over those that hold the same.
    const auto experts = std::stable_partition(plain.begin(), plain.end(), [&](int w) {
      return scenario_->parallel.expert == 1 || !layout_->weights[w].expert;
    });
    const std::vector<int> divided(experts, plain.end());
    plain.erase(experts, plain.end());
    if (!plain.empty() && HasTwoHops()) {
      ReduceQuantizedBucket(plain, label);
    } else if (!plain.empty()) {
      ReduceTogether(plain, label);
    }
    if (!divided.empty()) ReduceTogether(divided, label, Communicator::kExpertData);
  }
  for (const int w : quantized) ReduceQuantized(w, label);
  if (scenario_->zero.offloaded_optimizer() > 0) CopyToHost(label);

  const OverlapPolicy& overlap = scenario_->zero.overlap;
  const bool chained = !quantized.empty() || (HasTwoHops() && scenario_->zero.stage < 3);
  const bool beside =
      scenario_->zero.overlaps() && (chained ? overlap.quantized_reduce : overlap.reduce);
  if (!beside) writer_->StreamWaits(Stream::kCompute, Stream::kReduce);

  // The reduce stream still reads the full gradients; the host knows that it is done when it waits.
  Bytes gradients;
  if (scenario_->zero.stage >= 2) {
    for (const int w : bucket_) gradients += Bytes::Count(2 * layout_->weights[w].elements());
  }
  unfinished_.push_back({writer_->tail(Stream::kReduce).back(), gradients});
  bucket_.clear();
  bucket_elements_ = 0;
}

void GradientReducer::CopyToHost(const Label& label) {
  const ZeroConfig& zero = scenario_->zero;
  const int shards = groups().shard.size;
  std::int64_t elements = 0;
  int tensors = 0;
  if (zero.stage == 3) {
    for (const int w : bucket_) {
      const Weight& weight = layout_->weights[w];
      elements += weight.count * CeilDiv(weight.tensor_elements(), shards);
      tensors += static_cast<int>(weight.count);
    }
  } else {
    // Tensors lie whole in the shards, but for those at their ends.
    for (const bool divided : {false, true}) {
      std::int64_t all = 0;
      std::int64_t count = 0;
      for (const int w : bucket_) {
        const Weight& weight = layout_->weights[w];
        if ((weight.expert && scenario_->parallel.expert > 1) != divided) continue;
        all += weight.elements();
        count += weight.count;
      }
      const int owners = divided ? groups().expert_data.size : shards;
      elements += CeilDiv(all, owners);
      tensors += static_cast<int>(CeilDiv(count, owners));
    }
  }
  const bool pinned = zero.offload.optimizer_pinned;
  const auto to_host = [&](Bytes bytes) {
    copies_.ToHost(Stream::kReduce, "gradients_to_host", label, bytes, tensors, pinned);
  };
  // Stage 3's buffer is of the type that gradients are kept in; a copy casts before it travels.
  const bool fp32 = zero.stage == 3 && zero.gradient_precision == GradientPrecision::kFp32;
  const Bytes kept = Bytes::Count((fp32 ? 4 : 2) * elements);
  if (zero.stage == 3) to_host(kept);
  if (zero.stage == 3 || (zero.stage == 2 && label.micro_step > 0)) {
    copies_.ToGpu(Stream::kReduce, "gradients_to_gpu", label, kept, tensors, pinned);
  }
  if (boundary_) {
    to_host(
        Bytes::Count(4 * std::llround(zero.offloaded_optimizer() * static_cast<double>(elements))));
  } else if (zero.stage < 3) {
    to_host(kept);
  }
}

void GradientReducer::ReduceTogether(const std::vector<int>& weights, const Label& label,
                                     std::optional<Communicator> over) {
  const ClusterSpec& cluster = scenario_->cluster;
  const Communicator communicator =
      over.value_or(scenario_->zero.stage == 3 ? Communicator::kShard : Communicator::kData);
  const int world = kinds_.GroupOf(communicator).size;
  std::int64_t elements = 0;
  std::int64_t tensors = 0;
  for (const int w : weights) {
    elements += layout_->weights[w].elements();
    tensors += layout_->weights[w].count;
  }
  // qgZ's fall-back reduces one tensor a call.
  const bool one_by_one = HasTwoHops() && scenario_->zero.stage == 3;
  const int calls = one_by_one ? static_cast<int>(tensors) : BucketsOf(weights);

  writer_->HostWork(label, Seconds::Count(3 * calls * cluster.calibration.host_launch.value));
  // Several tensors, or one that does not divide, are first joined into one padded buffer.
  if (tensors > 1 || elements % world != 0) {
    writer_->Kernel(Stream::kReduce, WithAction(label, Action::kReduce),
                    MemoryTime(CopyTraffic(elements), cluster));
  }
  const ZeroConfig& zero = scenario_->zero;
  const bool scatter = zero.stage == 3 ||
                       (zero.stage > 0 && zero.collective() == GradientCollective::kReduceScatter);
  ReduceFlat(scatter ? CollectiveOp::kReduceScatter : CollectiveOp::kAllReduce, communicator,
             elements, calls, label);
}

void GradientReducer::ReduceFlat(CollectiveOp operation, Communicator communicator,
                                 std::int64_t elements, int calls, const Label& label) {
  // DeepSpeed sends the type of the weights whatever it keeps; Megatron-LM what it keeps.
  const ZeroConfig& zero = scenario_->zero;
  const bool fp32 = zero.stage < 2 && zero.gradient_precision == GradientPrecision::kFp32;
  const Bytes full = Bytes::Count((fp32 ? 4 : 2) * elements);
  const int kind = kinds_.Kind("gradients", operation, communicator, writer_);
  const OpId op = writer_->Collective(
      Stream::kReduce, communicator, WithAction(label, Action::kReduce),
      {.kind = kind, .full = full, .payload = full, .launches = calls}, Seconds());
  writer_->StreamWaits(Stream::kReduce, op);
  if (zero.stage == 3) ReduceOverReplicas(elements, label);
}

// MiCS: copies of a shard are summed at the boundary of gradient accumulation
// (runtime/zero/mics.py, allreduce_mics_shard_grads).
void GradientReducer::ReduceOverReplicas(std::int64_t elements, const Label& label) {
  if (groups().replicas.size == 1 || !boundary_) return;
  const Bytes shard = Bytes::Count(2 * CeilDiv(elements, groups().shard.size));
  const int kind =
      kinds_.Kind("gradients_replicas", CollectiveOp::kAllReduce, Communicator::kReplicas, writer_);
  writer_->HostWork(label, Seconds::Count(scenario_->cluster.calibration.host_launch.value));
  const OpId op = writer_->Collective(Stream::kReduce, Communicator::kReplicas,
                                      WithAction(label, Action::kReduce),
                                      {.kind = kind, .full = shard, .payload = shard}, Seconds());
  writer_->StreamWaits(Stream::kReduce, op);
}

// Buckets that the tensors of one weight fill one after the other. They stand in the program as one
// reduction: there may be tens of thousands of experts.
int GradientReducer::BucketsOf(const std::vector<int>& weights) const {
  const Weight& first = layout_->weights[weights[0]];
  if (weights.size() > 1 || first.count == 1) return 1;
  const std::int64_t fitting = std::max<std::int64_t>(
      1, scenario_->zero.reduce_bucket_size / std::max<std::int64_t>(1, first.tensor_elements()));
  return static_cast<int>(CeilDiv(first.count, fitting));
}

// SDP4Bit in stages 1 and 2: a bucket is one buffer, of which each rank keeps its part.
void GradientReducer::ReduceQuantizedBucket(const std::vector<int>& weights, const Label& label) {
  std::int64_t elements = 0;
  for (const int w : weights) elements += layout_->weights[w].elements();
  const int calls = BucketsOf(weights);
  ReduceInTwoHops(CeilDiv(elements, calls), calls, groups().shard.size,
                  *scenario_->zero.quantized_gradients, scenario_->cluster, label, &kinds_,
                  writer_);
}

void GradientReducer::ReduceQuantized(int weight, const Label& label) {
  const GradientQuantization& formats = *scenario_->zero.quantized_gradients;
  const Weight& w = layout_->weights[weight];
  const int world = groups().shard.size;
  const std::int64_t scale_groups = std::max({w.rows, w.columns, std::int64_t{world}});
  if (!formats.in_node.group_size && scale_groups % world != 0) {
    writer_->Warn(fmt::format(
        "qgZ: {} groups of a {} x {} gradient do not divide by {} ranks: DeepSpeed drops the last "
        "of them",
        scale_groups, w.rows, w.columns, world));
  }
  ReduceInTwoHops(w.tensor_elements(), static_cast<int>(w.count), scale_groups, formats,
                  scenario_->cluster, label, &kinds_, writer_);
  ReduceOverReplicas(w.elements(), label);
}

}  // namespace zerosim
