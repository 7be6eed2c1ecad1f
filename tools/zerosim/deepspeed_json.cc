#include "tools/zerosim/deepspeed_json.h"

#include <fmt/format.h>

namespace zerosim {
namespace {

using nlohmann::ordered_json;

ordered_json ZeroJson(const ZeroConfig& zero) {
  const ZeroConfig defaults;
  ordered_json json;
  json["stage"] = zero.stage;
  const auto put = [&](const char* key, bool of_stage, const auto& value, const auto& fallback) {
    if (of_stage || value != fallback) json[key] = value;
  };
  const bool three = zero.stage == 3;
  const bool sharded = zero.stage > 0;
  put("contiguous_gradients", sharded, zero.contiguous_gradients, defaults.contiguous_gradients);
  if (zero.overlap_comm) json["overlap_comm"] = *zero.overlap_comm;
  put("reduce_bucket_size", sharded, zero.reduce_bucket_size, defaults.reduce_bucket_size);
  const bool all_reduce = zero.collective() == GradientCollective::kAllReduce;
  if (three) json["reduce_scatter"] = !all_reduce;
  if (sharded && !three) {
    json["reduce_scatter"] = true;
    json["use_multi_rank_bucket_allreduce"] = all_reduce;
  }
  put("allgather_bucket_size", sharded && !three, zero.allgather_bucket_size,
      defaults.allgather_bucket_size);
  put("stage3_prefetch_bucket_size", three, zero.prefetch_bucket_size,
      defaults.prefetch_bucket_size);
  put("stage3_param_persistence_threshold", three, zero.param_persistence_threshold,
      defaults.param_persistence_threshold);
  put("stage3_max_live_parameters", three, zero.max_live_parameters, defaults.max_live_parameters);
  put("stage3_max_reuse_distance", three, zero.max_reuse_distance, defaults.max_reuse_distance);
  put("zero_hpz_partition_size", three, zero.secondary_partition_size, 1);
  if (three && zero.shard_size > 0) json["mics_shard_size"] = zero.shard_size;
  put("zero_quantized_weights", three, zero.quantized_weights.has_value(), false);
  put("zero_quantized_gradients", three, zero.quantized_gradients.has_value(), false);
  const OffloadConfig& offload = zero.offload;
  if (offload.optimizer) {
    ordered_json& section = json["offload_optimizer"];
    section = {{"device", "cpu"}, {"pin_memory", offload.optimizer_pinned}};
    if (three) section["ratio"] = offload.optimizer_ratio;
  }
  if (offload.parameters) {
    json["offload_param"] = {{"device", "cpu"}, {"pin_memory", offload.parameters_pinned}};
  }
  return json;
}

std::vector<std::string> LeftOut(const ZeroConfig& zero) {
  std::vector<std::string> left_out;
  if (zero.quantized_weights && *zero.quantized_weights != QuantizationFormat{}) {
    left_out.emplace_back(
        "zero.quantized_weights: DeepSpeed's qwZ has 8 bits in groups of its own choice, "
        "symmetric");
  }
  if (zero.quantized_gradients && *zero.quantized_gradients != GradientQuantization{}) {
    left_out.emplace_back(
        "zero.quantized_gradients: DeepSpeed's qgZ has 4 bits in groups of its own choice, "
        "symmetric, in two hops");
  }
  if (zero.sends_differences()) {
    left_out.emplace_back(
        "zero.quantized_weight_differences: DeepSpeed has none, and quantises gradients in stage 3 "
        "only");
  }
  if (zero.secondary_rule != SecondaryRule::kOncePerStep) {
    left_out.emplace_back(
        "zero.secondary_rule: DeepSpeed's version decides it: before 2024-01-25, once per "
        "micro-step");
  }
  if (zero.overlap != OverlapPolicy{}) {
    left_out.emplace_back("zero.overlap: no key of DeepSpeed says it");
  }
  if (zero.shard_size > 0 && zero.stage < 3) {
    left_out.emplace_back("zero.shard_size: DeepSpeed has it in stage 3 only");
  }
  if (zero.gradient_precision == GradientPrecision::kFp32 && zero.stage < 2) {
    left_out.emplace_back("zero.gradient_precision: below stage 2 it is Megatron-LM's");
  }
  if (zero.fused_weight_gradients) {
    left_out.emplace_back("zero.fused_weight_gradients: Megatron-LM's");
  }
  return left_out;
}

}  // namespace

DeepSpeedExport ExportDeepSpeed(const Scenario& scenario) {
  const TrainingSpec& training = scenario.training;
  DeepSpeedExport result{.config = {}, .left_out = LeftOut(scenario.zero)};
  if (scenario.parallel.model_ranks() > 1) {
    result.left_out.emplace_back("parallelism: the training script divides the model");
  }
  ordered_json& json = result.config;
  if (training.global_batch_size) json["train_batch_size"] = *training.global_batch_size;
  json["train_micro_batch_size_per_gpu"] = training.micro_batch_size;
  json["gradient_accumulation_steps"] = training.gradient_accumulation_steps;
  json[training.precision == Precision::kBf16 ? "bf16" : "fp16"]["enabled"] = true;
  if (scenario.zero.gradient_precision == GradientPrecision::kFp32 && scenario.zero.stage >= 2) {
    json["data_types"]["grad_accum_dtype"] = "fp32";
  }
  json["zero_optimization"] = ZeroJson(scenario.zero);
  if (const auto& lora = scenario.model.lora) {
    result.left_out.emplace_back("training.lora: the training script adds adapters");
    const bool eight = lora->frozen_bits == 8 && scenario.zero.stage == 3;
    if (eight) json["zero_optimization"]["zero_quantized_nontrainable_weights"] = true;
    if (lora->frozen_bits < 16 && !eight) {
      result.left_out.emplace_back("training.frozen_weights: DeepSpeed has 8 bits in stage 3 only");
    }
  }
  return result;
}

}  // namespace zerosim
