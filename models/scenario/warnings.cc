#include "models/scenario/warnings.h"

#include <filesystem>
#include <initializer_list>
#include <string_view>

#include <fmt/format.h>

#include "models/parallel/scenario_groups.h"
#include "models/scenario/assemble.h"
#include "models/scenario/places.h"

namespace zerosim {
namespace {

// Why gradients that are to be quantized are not: qgZ's second hop lies between the nodes of a
// shard group. Null if they are.
const char* WhyUnquantized(const Scenario& scenario) {
  if (scenario.cluster.nodes == 1) return "on one node; gradients then travel unquantised";
  if (ProcessGroupsOf(scenario).across.size > 1) return nullptr;
  return "where the ranks of a shard lie in one node; gradients then travel unquantised";
}

// hpZ's group should be smaller than what a shard is spread over. Where it is not, memory and calls
// change, and with qwZ backward then gathers 16 bits a weight.
void WarnOfSecondaryOfAll(const Places& places, const Scenario& scenario, Problems* problems) {
  const std::string_view key =
      scenario.fsdp ? "fsdp.secondary_partition_size" : "zero.secondary_partition_size";
  const ProcessGroups groups = ProcessGroupsOf(scenario);
  if (scenario.secondary_size() == 1 || groups.secondary.size != groups.shard.size) return;
  // The known problems of DeepSpeed say it of one node.
  if (!scenario.fsdp && scenario.cluster.nodes == 1) return;
  // Other strategies do not gather for backward, and say so of the key.
  if (scenario.fsdp && scenario.fsdp->sharding != FsdpStrategy::kFullShard) return;
  problems->Warn(
      places.Find(key)->where,
      fmt::format("{}: a group of all {} ranks{} gathers over the links that it would without hpZ, "
                  "and its shard costs memory{}",
                  key, groups.secondary.size,
                  groups.shard.size == scenario.world_size() ? "" : " of a shard",
                  groups.across.size == 1 ? "" : "; \"node\" keeps backward gathers in the node"));
}

template <typename Warn>
void WarnOfFsdpKeys(const Scenario& scenario, Warn warn) {
  const FsdpConfig& fsdp = *scenario.fsdp;
  warn({"training.first_step"}, "with fsdp, which has no trace to record");
  if (fsdp.sharding == FsdpStrategy::kNoShard) {
    warn({"fsdp.quantized_weights", "fsdp.secondary_partition_size", "fsdp.backward_prefetch",
          "fsdp.forward_prefetch", "fsdp.limit_all_gathers", "fsdp.shard_size"},
         "with no_shard, which gathers nothing");
  }
  if (fsdp.sharding == FsdpStrategy::kShardGradOp) {
    warn({"fsdp.secondary_partition_size", "fsdp.backward_prefetch"},
         "with shard_grad_op, which does not gather for backward");
  }
  if (fsdp.blocks_per_unit > scenario.model.layers) {
    warn({"fsdp.blocks_per_unit"},
         fmt::format("beyond the {} layers of the model", scenario.model.layers));
  }
  if (scenario.model.tied_embeddings) {
    warn({"fsdp.separate_embeddings"}, "with a tied head, which is in the root with the embedding");
  }
  if (scenario.training.gradient_accumulation_steps == 1) {
    warn({"fsdp.no_sync"}, "with one micro-step");
  }
  if (fsdp.quantized_gradients) {
    if (const char* const why = WhyUnquantized(scenario)) {
      warn({"fsdp.quantized_gradients"}, why);
    } else {
      warn({"fsdp.reduce_precision"}, "with quantized_gradients");
    }
  }
}

template <typename Warn>
void WarnOfOffloadKeys(const Scenario& scenario, Warn warn) {
  const ZeroConfig& zero = scenario.zero;
  if (!scenario.fsdp) {
    if (zero.stage == 0) {
      warn({"zero.offload_optimizer"}, "in stage 0; it belongs to stages 1 to 3");
    }
    if (zero.stage != 3) {
      warn({"zero.offload_param", "zero.offload_optimizer.ratio"},
           fmt::format("in stage {}; it belongs to stage 3", zero.stage));
    }
    if (!zero.offload.optimizer) {
      warn({"zero.offload_optimizer.pin_memory", "zero.offload_optimizer.ratio"},
           "without device: cpu");
    }
    if (!zero.offload.parameters) warn({"zero.offload_param.pin_memory"}, "without device: cpu");
  }
  if (!scenario.model.lora) {
    warn({"training.frozen_weights", "zero.quantized_nontrainable_weights"},
         "without training.lora: nothing is frozen");
  } else if (!scenario.fsdp && zero.stage != 3) {
    warn({"zero.quantized_nontrainable_weights"},
         fmt::format("in stage {}; it belongs to stage 3, and training.frozen_weights to all",
                     zero.stage));
  }
  if (!scenario.offloads()) {
    warn({"cluster.calibration.host_memory_fraction"}, "without offload");
  }
}

// Whether the place is in the file of a framework.
bool IsFrameworkDefault(const Location& where) {
  return std::filesystem::path(where.file).parent_path().filename() == kFrameworkFolder;
}

}  // namespace

void WarnOfKeysWithoutEffect(const Node& root, const Scenario& scenario, Problems* problems) {
  const Places places(root);
  const auto warn = [&](std::initializer_list<std::string_view> keys, std::string_view why) {
    for (const std::string_view key : keys) {
      const Entry* entry = places.Find(key);
      // A key that says false or 1 asks for nothing, and neither does a framework's default.
      const bool asks = entry != nullptr && entry->value.text != "false" &&
                        entry->value.text != "1" && entry->value.text != "16bit";
      if (!asks || IsFrameworkDefault(entry->where)) continue;
      problems->Warn(entry->where, fmt::format("{}: no effect {}", key, why));
    }
  };
  const ZeroConfig& zero = scenario.zero;
  const bool one_node = scenario.cluster.nodes == 1;

  WarnOfOffloadKeys(scenario, warn);
  WarnOfSecondaryOfAll(places, scenario, problems);
  if (zero.stage == 0) warn({"zero.gradient_collective"}, "in stage 0, which always all-reduces");
  if (zero.stage >= 2) {
    warn({"zero.fused_weight_gradients"},
         fmt::format("in stage {}; it belongs to stages 0 and 1", zero.stage));
  }
  if (scenario.fsdp) {
    WarnOfFsdpKeys(scenario, warn);
  } else if (zero.stage != 3) {
    warn({"zero.quantized_weights", "zero.secondary_partition_size", "zero.secondary_rule",
          "zero.prefetch_bucket_size", "zero.max_live_parameters", "zero.max_reuse_distance",
          "zero.param_persistence_threshold", "zero.overlap.gather_forward",
          "zero.overlap.gather_backward", "training.first_step"},
         fmt::format("in stage {}; it belongs to stage 3", zero.stage));
    if (zero.stage == 0) {
      warn({"zero.quantized_weight_differences"}, "in stage 0; it belongs to stages 1 and 2");
    }
    if (!zero.quantizes_gradients()) {
      warn({"zero.quantized_gradients", "zero.overlap.quantized_reduce"},
           fmt::format("in stage {}; it belongs to stage 3, or to stages 1 and 2 with "
                       "quantized_weight_differences",
                       zero.stage));
    } else {
      if (const char* const why = WhyUnquantized(scenario)) {
        warn({"zero.quantized_gradients", "zero.overlap.quantized_reduce"}, why);
      }
      warn({"zero.gradient_collective"}, "with quantized_gradients");
    }
    if (zero.allgather_bucket_size != ZeroConfig().allgather_bucket_size) {
      warn({"zero.allgather_bucket_size"}, "since DeepSpeed gathers all in one call");
    }
  } else {
    warn({"zero.allgather_bucket_size", "zero.quantized_weight_differences"},
         "in stage 3; it belongs to stages 1 and 2");
    if (!zero.has_secondary()) {
      warn({"zero.secondary_rule"}, "without secondary_partition_size");
    } else if (scenario.training.gradient_accumulation_steps == 1) {
      warn({"zero.secondary_rule"}, "with one micro-step; both rules are then the same");
    }
    if (!zero.quantized_gradients) {
      warn({"zero.overlap.quantized_reduce"}, "without quantized_gradients");
    } else if (const char* const why = WhyUnquantized(scenario)) {
      // The known problems of DeepSpeed say it of one node.
      if (!one_node) warn({"zero.quantized_gradients"}, why);
      warn({"zero.overlap.quantized_reduce"}, why);
    } else {
      if (zero.collective() == GradientCollective::kAllReduce && zero.contiguous_gradients) {
        warn({"zero.quantized_gradients"},
             "with gradient_collective all_reduce, except on weights above reduce_bucket_size");
      } else {
        warn({"zero.overlap.reduce"}, "with quantized_gradients; see quantized_reduce");
      }
      if (!zero.quantized_gradients->two_hops) {
        warn({"zero.quantized_gradients.in_node_bits"}, "with one hop");
      }
    }
  }
  if (scenario.parallel.pipeline == 1) {
    warn({"parallelism.virtual_stages", "parallelism.layers_per_stage"}, "without a pipeline");
  }
  if (scenario.parallel.context == 1) {
    warn({"parallelism.context_method"}, "without context parallelism");
  }
  if (scenario.parallel.tensor == 1) {
    warn({"parallelism.tensor_overlap"}, "without tensor parallelism");
    warn({"parallelism.sequence", "training.partition_checkpoints"}, "without tensor parallelism");
  } else if (scenario.training.checkpointing != Checkpointing::kFull) {
    warn({"training.partition_checkpoints"}, "without activation_checkpointing: full");
  } else if (scenario.parallel.sequence_parallel) {
    warn({"training.partition_checkpoints"},
         "with sequence parallelism, which divides the inputs of blocks too");
  }
  if (scenario.cluster.node.in_node == InNodeFabric::kPcie) {
    warn({"cluster.node.in_node"},
         "yet; pcie is computed like nvswitch, each GPU with its whole gpu_bandwidth");
  }
  if (one_node) {
    warn({"cluster.fabric", "cluster.calibration.all_to_all_fraction", "collectives.algorithm"},
         "with one node");
  }
  if (scenario.model.position != Position::kLearned) {
    warn({"model.max_positions"}, "without learned positions");
  }
  if (scenario.model.latent_attention) {
    warn({"model.head_dimension", "model.kv_heads", "model.query_key_norm"},
         "with latent_attention");
  }
  if (scenario.compute.mfu) {
    warn({"compute.flash_attention", "compute.causal_skip", "compute.recompute_skips_last",
          "compute.memory_passes", "compute.loss_bytes"},
         "on times with compute.mfu");
  } else if (scenario.training.checkpointing != Checkpointing::kFull) {
    warn({"compute.recompute_skips_last"}, "without activation_checkpointing: full");
  }
  if (scenario.training.checkpointing == Checkpointing::kSelective &&
      scenario.compute.flash_attention && !scenario.cluster.node.gpu.attention.empty()) {
    const std::string_view key = "training.activation_checkpointing";
    problems->Warn(
        places.Of(key),
        fmt::format("{}: selective runs attention again for the scores that fused "
                    "attention does not keep: it costs time and saves almost no memory; full "
                    "saves memory, none time",
                    key));
  }
  if (scenario.training.checkpointing == Checkpointing::kNone) {
    warn({"training.checkpoint_every"}, "without activation_checkpointing");
  }
  if (scenario.cluster.node.gpu.attention.empty() && places.Has("compute.flash_attention") &&
      scenario.compute.flash_attention) {
    warn({"compute.flash_attention"}, fmt::format("on {}, for which no fused attention is given",
                                                  scenario.cluster.node.gpu.name));
  }
}

}  // namespace zerosim
