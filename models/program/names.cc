#include <string>

#include <fmt/format.h>

#include "models/core/check.h"
#include "models/program/step_program.h"

namespace zerosim {
namespace {

const char* NameOf(Action action) {
  switch (action) {
    case Action::kHostWork:
      return "launch";
    case Action::kHostWait:
      return "host waits";
    case Action::kForward:
      return "forward";
    case Action::kRecompute:
      return "recompute";
    case Action::kBackward:
      return "backward";
    case Action::kGather:
      return "gather";
    case Action::kDequantize:
      return "dequantize";
    case Action::kQuantize:
      return "quantize";
    case Action::kReduce:
      return "reduce";
    case Action::kReduceInNode:
      return "all-to-all in node";
    case Action::kRequantize:
      return "sum and requantize";
    case Action::kReduceAcross:
      return "all-to-all across nodes";
    case Action::kAccumulate:
      return "sum gradients";
    case Action::kOptimizer:
      return "optimizer";
    case Action::kSend:
      return "send";
    case Action::kCopyToHost:
      return "copy to the host";
    case Action::kCopyToGpu:
      return "copy from the host";
    case Action::kExchange:
      return "exchange";
    case Action::kRefresh:
      return "refresh weights";
  }
  return "?";
}

const char* NameOf(Part part) {
  switch (part) {
    case Part::kEmbedding:
      return "embedding";
    case Part::kInputNorm:
      return "input_norm";
    case Part::kQkv:
      return "qkv";
    case Part::kAttention:
      return "attention";
    case Part::kAttentionOutput:
      return "attention_output";
    case Part::kPostNorm:
      return "post_norm";
    case Part::kMlpIn:
      return "mlp_in";
    case Part::kActivation:
      return "activation";
    case Part::kMlpOut:
      return "mlp_out";
    case Part::kResidual:
      return "residual";
    case Part::kFinalNorm:
      return "final_norm";
    case Part::kHead:
      return "head";
    case Part::kLocalAttention:
      return "local_attention";
    case Part::kQueryNorm:
      return "query_norm";
    case Part::kKeyNorm:
      return "key_norm";
    case Part::kQueryDown:
      return "query_down";
    case Part::kQueryUp:
      return "query_up";
    case Part::kKvDown:
      return "kv_down";
    case Part::kKvUp:
      return "kv_up";
    case Part::kAttentionNorm:
      return "attention_norm";
    case Part::kMlpNorm:
      return "mlp_norm";
    case Part::kRouter:
      return "router";
    case Part::kDispatch:
      return "dispatch";
    case Part::kExpertsIn:
      return "experts_in";
    case Part::kExpertsActivation:
      return "experts_activation";
    case Part::kExpertsOut:
      return "experts_out";
    case Part::kSharedIn:
      return "shared_in";
    case Part::kSharedActivation:
      return "shared_activation";
    case Part::kSharedOut:
      return "shared_out";
    case Part::kCombine:
      return "combine";
    case Part::kEmbeddingProjection:
      return "embedding_projection";
    case Part::kEmbeddingNorm:
      return "embedding_norm";
    case Part::kHeadProjection:
      return "head_projection";
  }
  return "?";
}

}  // namespace

std::string NameOf(const StepProgram& program, OpId id) {
  ZEROSIM_CHECK(id.value >= 0 && id.value < static_cast<int>(program.ops.size()), "op {}",
                id.value);
  const Op& op = program.ops[id.value];
  if (op.phase == Phase::kOptimizer) return NameOf(op.action);
  if (op.action == Action::kSend) {
    const CallKind& kind = program.kinds[program.calls[op.call.value].kind];
    return fmt::format("send {} from stage {} to {}",
                       op.phase == Phase::kForward ? "activations" : "gradients", kind.from_class,
                       kind.to_class);
  }
  const std::string where =
      op.layer < 0 ? NameOf(op.part) : fmt::format("layers.{}.{}", op.layer, NameOf(op.part));
  return fmt::format("{} {}", NameOf(op.action), where);
}

}  // namespace zerosim
