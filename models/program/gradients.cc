#include "models/program/gradients.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "models/compute/compute.h"
#include "models/program/kernel_bytes.h"
#include "models/quantization/quantization.h"

namespace zerosim {
namespace {

// DeepSpeed pops finished reductions and waits for the oldest when more than two are left.
constexpr std::size_t kMaxUnfinishedReductions = 2;

Label WithAction(Label label, Action action) {
  label.action = action;
  return label;
}

}  // namespace

GradientReducer::GradientReducer(const Scenario& scenario, const ModelLayout& layout,
                                 CollectiveKinds kinds, ProgramWriter* writer)
    : scenario_(&scenario), layout_(&layout), kinds_(kinds), writer_(writer) {}

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
  return zero.stage == 3 && zero.collective() == GradientCollective::kAllReduce &&
         zero.contiguous_gradients && bucket_elements_ <= zero.reduce_bucket_size;
}

// Whether DeepSpeed sends this gradient through qgZ: matrices only, on several nodes, of a size
// that divides by twice the world.
bool GradientReducer::QuantizedTogether(int weight) const {
  const ZeroConfig& zero = scenario_->zero;
  if (zero.stage != 3 || !zero.quantized_gradients || scenario_->cluster.nodes < 2) return false;
  const Weight& w = layout_->weights[weight];
  if (w.is_vector()) return false;
  if (w.elements() % (2 * std::int64_t{scenario_->world_size()}) == 0) return true;
  writer_->Warn(
      fmt::format("qgZ: gradients of {} rows x {} columns do not divide by 2 x {} ranks: DeepSpeed "
                  "sends them in 16 bit (5056)",
                  w.rows, w.columns, scenario_->world_size()));
  return false;
}

void GradientReducer::Reduce(const Label& label) {
  WaitForOldReductions(label);
  writer_->StreamWaits(Stream::kReduce, Stream::kCompute);

  std::vector<int> plain;
  std::vector<int> quantized;
  const bool flat = AllReducesBucket();
  for (const int w : bucket_) (!flat && QuantizedTogether(w) ? quantized : plain).push_back(w);
  const bool qgz = scenario_->zero.stage == 3 && scenario_->zero.quantized_gradients &&
                   scenario_->cluster.nodes > 1;
  if (flat) {
    // The bucket's buffer as it is: nothing is joined first.
    writer_->HostWork(label, Seconds::Count(3 * scenario_->cluster.calibration.host_launch.value));
    ReduceFlat(CollectiveOp::kAllReduce, bucket_elements_, label);
  } else if (qgz) {
    // The fall-back of qgZ reduces one tensor a call.
    for (const int w : plain) ReduceTogether({w}, label);
  } else if (!plain.empty()) {
    ReduceTogether(plain, label);
  }
  for (const int w : quantized) ReduceQuantized(w, label);

  const OverlapPolicy& overlap = scenario_->zero.overlap;
  const bool beside =
      scenario_->zero.overlaps() && (quantized.empty() ? overlap.reduce : overlap.quantized_reduce);
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

void GradientReducer::ReduceTogether(const std::vector<int>& weights, const Label& label) {
  const ClusterSpec& cluster = scenario_->cluster;
  const int world = scenario_->world_size();
  std::int64_t elements = 0;
  for (const int w : weights) elements += layout_->weights[w].elements();

  writer_->HostWork(label, Seconds::Count(3 * cluster.calibration.host_launch.value));
  // Several tensors, or one that does not divide, are first joined into one padded buffer.
  if (weights.size() > 1 || elements % world != 0) {
    writer_->Kernel(Stream::kReduce, WithAction(label, Action::kReduce),
                    MemoryTime(CopyTraffic(elements), cluster));
  }
  const ZeroConfig& zero = scenario_->zero;
  const bool scatter = zero.stage == 3 ||
                       (zero.stage > 0 && zero.collective() == GradientCollective::kReduceScatter);
  ReduceFlat(scatter ? CollectiveOp::kReduceScatter : CollectiveOp::kAllReduce, elements, label);
}

void GradientReducer::ReduceFlat(CollectiveOp operation, std::int64_t elements,
                                 const Label& label) {
  const Bytes full = Bytes::Count(2 * elements);
  const int kind = kinds_.Kind("gradients", operation, Communicator::kWorld, writer_);
  const OpId op =
      writer_->Collective(Stream::kReduce, Communicator::kWorld, WithAction(label, Action::kReduce),
                          {.kind = kind, .full = full, .payload = full}, Seconds());
  writer_->StreamWaits(Stream::kReduce, op);
}

OpId GradientReducer::AllToAll(const char* name, Communicator communicator, Action action,
                               const Label& label, Bytes full, Bytes payload) {
  const int kind = kinds_.Kind(name, CollectiveOp::kAllToAll, communicator, writer_);
  const OpId op = writer_->Collective(
      Stream::kReduce, communicator, WithAction(label, action),
      {.kind = kind, .full = full, .payload = payload, .launches = 2}, Seconds());
  writer_->StreamWaits(Stream::kReduce, op);
  return op;
}

// quantise -> all-to-all in the node -> dequantise, sum, quantise -> all-to-all between the GPUs of
// equal local rank -> dequantise, sum. Strictly in sequence, on the reduce stream.
void GradientReducer::ReduceQuantized(int weight, const Label& label) {
  const ClusterSpec& cluster = scenario_->cluster;
  const GradientQuantization& formats = *scenario_->zero.quantized_gradients;
  const Weight& w = layout_->weights[weight];
  const std::int64_t elements = w.elements();
  const int world = scenario_->world_size();
  const int local = cluster.node.gpus;
  const std::int64_t groups = std::max({w.rows, w.columns, std::int64_t{world}});
  if (!formats.in_node.group_size && groups % world != 0) {
    writer_->Warn(fmt::format(
        "qgZ: {} groups of a {} x {} gradient do not divide by {} ranks: DeepSpeed drops the last "
        "of them",
        groups, w.rows, w.columns, world));
  }
  const QuantizedSize first = QuantizedSizeOf(elements, formats.in_node, groups);
  const Bytes payload = Bytes::Count(2 * elements);

  writer_->HostWork(label, Seconds::Count(8 * cluster.calibration.host_launch.value));
  // Input and output of the first all-to-all; those of the second are 1/L of it, the sum is 16 bit.
  const Bytes temporary =
      2 * first.total() + Bytes::Count(3 * CeilDiv(elements, local) + 2 * CeilDiv(elements, world));
  writer_->Memory(MemoryTerm::kBuffers, temporary);
  writer_->Kernel(Stream::kReduce, WithAction(label, Action::kQuantize),
                  MemoryTime(QuantizeTraffic(elements, formats.in_node.bits), cluster));
  if (!formats.two_hops) {
    AllToAll("gradients_all_to_all", Communicator::kWorld, Action::kReduceAcross, label,
             first.total(), payload);
    writer_->Kernel(
        Stream::kReduce, WithAction(label, Action::kAccumulate),
        MemoryTime(AccumulateTraffic(CeilDiv(elements, world), world, formats.in_node.bits),
                   cluster));
    writer_->Memory(MemoryTerm::kBuffers, -1 * temporary);
    return;
  }
  AllToAll("gradients_in_node", Communicator::kNode, Action::kReduceInNode, label, first.total(),
           payload);
  const std::int64_t part = CeilDiv(elements, local);
  writer_->Kernel(
      Stream::kReduce, WithAction(label, Action::kRequantize),
      MemoryTime(RequantizeTraffic(part, local, formats.in_node.bits, formats.between_nodes.bits),
                 cluster));
  const QuantizedSize second =
      QuantizedSizeOf(part, formats.between_nodes, std::max<std::int64_t>(1, groups / local));
  AllToAll("gradients_across_nodes", Communicator::kAcrossNodes, Action::kReduceAcross, label,
           second.total(), Bytes::Count(2 * part));
  writer_->Kernel(Stream::kReduce, WithAction(label, Action::kAccumulate),
                  MemoryTime(AccumulateTraffic(CeilDiv(part, cluster.nodes), cluster.nodes,
                                               formats.between_nodes.bits),
                             cluster));
  writer_->Memory(MemoryTerm::kBuffers, -1 * temporary);
}

}  // namespace zerosim
