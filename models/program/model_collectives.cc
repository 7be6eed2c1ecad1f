#include "models/program/model_collectives.h"

#include "models/compute/flops.h"

namespace zerosim {
namespace {

bool IsParallel(Block block) {
  return block == Block::kParallel || block == Block::kParallelTwoNorms;
}

}  // namespace

bool ModelCollectives::IsAsync(Part part) const {
  return view_->parallel.tensor > 1 && view_->parallel.tensor_overlap == TensorOverlap::kAsync &&
         LinearShapeOf(part, view_->model).outputs > 0 && (Enters(part) || Leaves(part));
}

bool ModelCollectives::IsRing(Part part) const {
  return view_->parallel.context > 1 && IsAttention(part) &&
         view_->parallel.context_method == ContextMethod::kRing;
}

bool ModelCollectives::Enters(Part part) const {
  const TransformerSpec& model = view_->model;
  switch (part) {
    case Part::kQkv:
    case Part::kQueryDown:
      return true;
    case Part::kQueryUp:
      return model.latent_attention && model.latent_attention->query_rank == 0;
    case Part::kMlpIn:
    case Part::kRouter:
      return !IsParallel(model.block);
    case Part::kHead:
      return true;
    default:
      return false;
  }
}

bool ModelCollectives::Leaves(Part part) const {
  switch (part) {
    case Part::kAttentionOutput:
      return !IsParallel(view_->model.block);
    case Part::kMlpOut:
    case Part::kCombine:
    case Part::kEmbedding:
      return true;
    default:
      return false;
  }
}

bool ModelCollectives::MeetOtherStages() const {
  const int gpus = view_->cluster.node.gpus;
  const ProcessGroups& groups = kinds_.groups();
  if (groups.pipeline.size == 1 || groups.pipeline.stride >= gpus) return false;
  const auto leaves = [gpus](const ProcessGroup& group) {
    return group.size > 1 && group.size * group.stride > gpus;
  };
  return leaves(groups.tensor) || leaves(groups.context) || leaves(groups.expert);
}

Bytes ModelCollectives::HiddenBytes() const {
  return Bytes::Count(2 * view_->tokens_per_micro_batch() * view_->model.hidden);
}

// Of all context-parallel ranks.
Bytes ModelCollectives::KeysAndValuesBytes() const {
  const TransformerSpec& model = view_->model;
  // Latent attention sends the latents instead.
  const std::int64_t width = model.latent_attention ? model.latent_attention->kv_rank +
                                                          model.latent_attention->rope_dimension
                                                    : 2 * model.kv_hidden();
  return Bytes::Count(2 * width * view_->parallel.context * view_->tokens_per_micro_batch());
}

OpId ModelCollectives::Launch(const char* name, CollectiveOp op, Communicator communicator,
                              Bytes full, int launches, const Label& label) {
  Label own = label;
  own.action = Action::kExchange;
  writer_->HostWork(label, Seconds::Count(launches * view_->cluster.calibration.host_launch.value));
  const int kind = kinds_.Kind(name, op, communicator, writer_);
  return writer_->Collective(Stream::kCompute, communicator, own,
                             {.kind = kind, .full = full, .payload = full, .launches = launches},
                             Seconds());
}

void ModelCollectives::Run(const char* name, CollectiveOp op, Communicator communicator, Bytes full,
                           int launches, const Label& label) {
  writer_->StreamWaits(Stream::kCompute, Launch(name, op, communicator, full, launches, label));
}

void ModelCollectives::Sum(const Label& label) {
  const bool scatters = view_->parallel.sequence_parallel;
  Run("tensor_sum", scatters ? CollectiveOp::kReduceScatter : CollectiveOp::kAllReduce,
      Communicator::kTensor, HiddenBytes(), 1, label);
}

void ModelCollectives::Gather(const Label& label) {
  Run("tensor_gather", CollectiveOp::kAllGather, Communicator::kTensor, HiddenBytes(), 1, label);
}

void ModelCollectives::Exchange(const Label& label) {
  if (view_->parallel.expert == 1) return;
  // Every copy of every token; sequence parallelism leaves each rank its part of them.
  const Bytes copies =
      Bytes::Count(CeilDiv(2 * view_->tokens_per_micro_batch() * view_->model.hidden *
                               view_->model.mixture->experts_per_token,
                           view_->sequence_parts()));
  Run("tokens_to_experts", CollectiveOp::kAllToAll, Communicator::kExpert, copies, 1, label);
}

void ModelCollectives::Kernels(const Visit& visit, const Label& label, Seconds product,
                               Seconds other) {
  const bool backward = visit.action == Action::kBackward;
  if (IsRing(visit.part)) {
    OpId last = Launch("keys_values", CollectiveOp::kAllGather, Communicator::kContext,
                       KeysAndValuesBytes(), 1, label);
    if (backward) {
      // Behind the blocks on the same links.
      last = Launch("keys_values_gradients", CollectiveOp::kReduceScatter, Communicator::kContext,
                    KeysAndValuesBytes(), 1, label);
    }
    KernelsBesideGather(view_->parallel.context, last, label, product, other);
  } else if (IsAsync(visit.part) && (backward ? Leaves(visit.part) : Enters(visit.part))) {
    const OpId gather = Launch("tensor_gather", CollectiveOp::kAllGather, Communicator::kTensor,
                               HiddenBytes(), 1, label);
    KernelsBesideGather(view_->parallel.tensor, gather, label, product, other);
  } else if (IsAsync(visit.part)) {
    const double chunk = 1.0 / view_->parallel.tensor;
    writer_->Kernel(Stream::kCompute, label, other + chunk * product);
    const OpId sum = Launch("tensor_sum", CollectiveOp::kReduceScatter, Communicator::kTensor,
                            HiddenBytes(), 1, label);
    writer_->Kernel(Stream::kCompute, label, (1 - chunk) * product);
    writer_->StreamWaits(Stream::kCompute, sum);
  } else if (product + other > Seconds()) {
    writer_->Kernel(Stream::kCompute, label, product + other);
  }
}

void ModelCollectives::KernelsBesideGather(int ranks, OpId gather, const Label& label,
                                           Seconds product, Seconds other) {
  const double chunk = 1.0 / ranks;
  writer_->Kernel(Stream::kCompute, label, (1 - chunk) * product);
  writer_->StreamWaits(Stream::kCompute, gather);
  writer_->Kernel(Stream::kCompute, label, chunk * product + other);
}

void ModelCollectives::Before(const Visit& visit, const Label& label) {
  const bool backward = visit.action == Action::kBackward;
  const bool recomputes = visit.action == Action::kRecompute;
  // A block's backward follows its recomputation, so that two of them never touch.
  if (recomputes && !recomputing_ && view_->checkpoint_parts() > 1) {
    Run("checkpoint_gather", CollectiveOp::kAllGather, Communicator::kTensor, HiddenBytes(), 1,
        label);
  }
  recomputing_ = recomputes;
  if (view_->parallel.tensor > 1 && view_->parallel.sequence_parallel && !IsAsync(visit.part) &&
      (backward ? Leaves(visit.part) : Enters(visit.part))) {
    Gather(label);
  }
  if (backward ? visit.part == Part::kDispatch : visit.part == Part::kCombine) Exchange(label);
  if (view_->parallel.context > 1 && IsAttention(visit.part) && !IsRing(visit.part)) {
    Run("keys_values", CollectiveOp::kAllGather, Communicator::kContext, KeysAndValuesBytes(), 1,
        label);
  }
}

void ModelCollectives::After(const Visit& visit, const Label& label) {
  const bool backward = visit.action == Action::kBackward;
  if (view_->parallel.tensor > 1) {
    if (!IsAsync(visit.part) && (backward ? Enters(visit.part) : Leaves(visit.part))) Sum(label);
    if (visit.part == Part::kHead && !backward) {
      // Largest logit, sum of exponentials and the target's logit of every token, in fp32.
      Run("loss_sum", CollectiveOp::kAllReduce, Communicator::kTensor,
          Bytes::Count(std::int64_t{12} * view_->tokens_per_micro_batch()), 3, label);
    }
  }
  if (backward ? visit.part == Part::kCombine : visit.part == Part::kDispatch) Exchange(label);
  if (view_->parallel.context > 1 && IsAttention(visit.part) && !IsRing(visit.part) && backward) {
    Run("keys_values_gradients", CollectiveOp::kReduceScatter, Communicator::kContext,
        KeysAndValuesBytes(), 1, label);
  }
}

}  // namespace zerosim
