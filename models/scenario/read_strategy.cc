#include <optional>
#include <utility>

#include <fmt/format.h>

#include "models/scenario/read_sections.h"

namespace zerosim {
namespace {

std::optional<QuantizationFormat> ReadFormat(const char* key, int bits, SectionReader* strategy) {
  const bool on = strategy->IsOn(key);
  SectionReader section = strategy->Section(key);
  QuantizationFormat format{.bits = bits, .group_size = {}, .symmetric = true};
  section.Read("bits", &format.bits);
  section.Read("group_size", &format.group_size);
  section.Read("symmetric", &format.symmetric);
  section.Finish();
  return on ? std::optional(format) : std::nullopt;
}

std::optional<GradientQuantization> ReadQuantizedGradients(SectionReader* strategy) {
  const bool on = strategy->IsOn("quantized_gradients");
  SectionReader section = strategy->Section("quantized_gradients");
  QuantizationFormat both{.bits = 4, .group_size = {}, .symmetric = true};
  section.Read("bits", &both.bits);
  section.Read("group_size", &both.group_size);
  section.Read("symmetric", &both.symmetric);
  GradientQuantization gradients{.in_node = both, .between_nodes = both, .two_hops = true};
  std::optional<int> bits;
  section.Read("in_node_bits", &bits);
  if (bits) gradients.in_node.bits = *bits;
  bits.reset();
  section.Read("between_nodes_bits", &bits);
  if (bits) gradients.between_nodes.bits = *bits;
  int hops = 2;
  section.Read("hops", &hops);
  gradients.two_hops = hops == 2;
  section.Finish();
  return on ? std::optional(gradients) : std::nullopt;
}

enum class Device : std::uint8_t { kNone, kCpu, kNvme };

bool ReadDevice(SectionReader* section) {
  Device device = Device::kNone;
  section->ReadChoice("device", &device);
  if (device == Device::kNvme) {
    section->Report("device", "offload to NVMe is not modelled; cpu and none are");
  }
  return device == Device::kCpu;
}

OffloadConfig ReadOffload(SectionReader* zero) {
  OffloadConfig offload;
  SectionReader optimizer = zero->Section("offload_optimizer");
  offload.optimizer = ReadDevice(&optimizer);
  optimizer.Read("pin_memory", &offload.optimizer_pinned);
  optimizer.Read("ratio", &offload.optimizer_ratio);
  optimizer.Finish();
  SectionReader parameters = zero->Section("offload_param");
  offload.parameters = ReadDevice(&parameters);
  parameters.Read("pin_memory", &offload.parameters_pinned);
  parameters.Finish();
  return offload;
}

std::optional<MixtureSpec> ReadMixture(SectionReader* model, std::int64_t ffn_hidden) {
  const bool there = model->Has("mixture");
  SectionReader section = model->Section("mixture");
  MixtureSpec mixture{.ffn_hidden = ffn_hidden};
  section.Read("experts", &mixture.experts);
  section.Read("experts_per_token", &mixture.experts_per_token);
  section.Read("ffn_hidden", &mixture.ffn_hidden);
  std::int64_t shared_experts = 0;
  section.Read("shared_experts", &shared_experts);
  mixture.shared_ffn_hidden = shared_experts * mixture.ffn_hidden;
  section.Read("shared_ffn_hidden", &mixture.shared_ffn_hidden);
  section.Read("shared_gate", &mixture.shared_gate);
  section.Read("router_bias", &mixture.router_bias);
  section.Read("dense_layers", &mixture.dense_layers);
  section.Read("every", &mixture.every);
  section.Finish();
  return there ? std::optional(mixture) : std::nullopt;
}

std::optional<LatentAttentionSpec> ReadLatentAttention(SectionReader* model) {
  const bool there = model->Has("latent_attention");
  SectionReader section = model->Section("latent_attention");
  LatentAttentionSpec latent;
  section.Read("query_rank", &latent.query_rank);
  section.Read("kv_rank", &latent.kv_rank);
  section.Read("rope_dimension", &latent.rope_dimension);
  section.Read("nope_dimension", &latent.nope_dimension);
  section.Read("value_dimension", &latent.value_dimension);
  section.Finish();
  return there ? std::optional(latent) : std::nullopt;
}

std::optional<SlidingWindowSpec> ReadSlidingWindow(SectionReader* model) {
  const bool there = model->Has("sliding_window");
  SectionReader section = model->Section("sliding_window");
  SlidingWindowSpec window;
  section.Read("length", &window.length);
  section.Read("global_layers", &window.global_layers);
  section.Read("global_every", &window.global_every);
  section.Finish();
  return there ? std::optional(window) : std::nullopt;
}

}  // namespace

TransformerSpec ReadModel(SectionReader section) {
  TransformerSpec model;
  section.Read("name", &model.name);
  section.Read("layers", &model.layers);
  section.Read("hidden", &model.hidden);
  section.Read("heads", &model.heads);
  model.kv_heads = model.heads;
  section.Read("kv_heads", &model.kv_heads);
  model.ffn_hidden = 4 * model.hidden;
  section.Read("ffn_hidden", &model.ffn_hidden);
  section.Read("vocabulary", &model.vocabulary);
  section.ReadChoice("position", &model.position);
  section.Read("max_positions", &model.max_positions);
  section.Read("gated_mlp", &model.gated_mlp);
  section.Read("biases", &model.biases);
  section.Read("tied_embeddings", &model.tied_embeddings);
  section.Read("head_dimension", &model.own_head_dimension);
  section.ReadChoice("norm", &model.own_norm);
  section.Read("qkv_biases", &model.own_qkv_biases);
  section.Read("output_biases", &model.own_output_biases);
  section.Read("mlp_biases", &model.own_mlp_biases);
  section.Read("head_bias", &model.head_bias);
  section.Read("embedding_norm", &model.embedding_norm);
  section.Read("embedding_width", &model.embedding_width);
  section.ReadChoice("block", &model.block);
  section.ReadChoice("query_key_norm", &model.query_key_norm);
  model.mixture = ReadMixture(&section, model.ffn_hidden);
  model.latent_attention = ReadLatentAttention(&section);
  model.sliding_window = ReadSlidingWindow(&section);
  section.Finish();
  return model;
}

namespace {

std::optional<LoraSpec> ReadLora(SectionReader* training) {
  const bool on = training->IsOn("lora");
  SectionReader section = training->Section("lora");
  LoraSpec lora;
  section.Read("rank", &lora.rank);
  section.ReadChoice("targets", &lora.targets);
  section.Finish();
  enum class Kept : std::uint8_t { kSixteenBit, kInt8, kInt4 };
  Kept kept = Kept::kSixteenBit;
  training->ReadChoice("frozen_weights", &kept);
  if (kept != Kept::kSixteenBit) lora.frozen_bits = kept == Kept::kInt8 ? 8 : 4;
  return on ? std::optional(lora) : std::nullopt;
}

}  // namespace

TrainingSpec ReadTraining(SectionReader section, TransformerSpec* model) {
  TrainingSpec training;
  section.Read("sequence_length", &training.sequence_length);
  section.Read("micro_batch_size", &training.micro_batch_size);
  section.Read("gradient_accumulation_steps", &training.gradient_accumulation_steps);
  section.Read("global_batch_size", &training.global_batch_size);
  section.ReadChoice("precision", &training.precision);
  section.ReadChoice("activation_checkpointing", &training.checkpointing);
  section.Read("checkpoint_every", &training.checkpoint_every);
  section.Read("partition_checkpoints", &training.partition_checkpoints);
  section.Read("loss_chunks", &training.loss_chunks);
  section.Read("first_step", &training.first_step);
  model->lora = ReadLora(&section);
  section.Finish();
  return training;
}

ZeroConfig ReadZero(SectionReader section, int gpus_per_node, TransformerSpec* model) {
  ZeroConfig zero;
  section.Read("stage", &zero.stage);
  zero.quantized_weights = ReadFormat("quantized_weights", 8, &section);
  zero.weight_differences = ReadFormat("quantized_weight_differences", 4, &section);
  section.ReadCountOrNode("secondary_partition_size", gpus_per_node,
                          &zero.secondary_partition_size);
  section.ReadCountOrNode("shard_size", gpus_per_node, &zero.shard_size);
  section.ReadChoice("secondary_rule", &zero.secondary_rule);
  zero.quantized_gradients = ReadQuantizedGradients(&section);
  bool frozen = false;
  section.Read("quantized_nontrainable_weights", &frozen);
  if (frozen && model->lora && zero.stage == 3) {
    if (model->lora->frozen_bits == 4) {
      section.Report("quantized_nontrainable_weights",
                     "keeps frozen weights in 8 bits, and training.frozen_weights says int4");
    }
    model->lora->frozen_bits = 8;
  }
  GradientCollective collective{};
  section.ReadChoice("gradient_collective", &collective);
  if (section.Has("gradient_collective")) zero.gradient_collective = collective;
  section.ReadChoice("gradient_precision", &zero.gradient_precision);
  section.Read("fused_weight_gradients", &zero.fused_weight_gradients);
  zero.offload = ReadOffload(&section);
  section.Read("prefetch_bucket_size", &zero.prefetch_bucket_size);
  section.Read("max_live_parameters", &zero.max_live_parameters);
  section.Read("max_reuse_distance", &zero.max_reuse_distance);
  section.Read("param_persistence_threshold", &zero.param_persistence_threshold);
  section.Read("reduce_bucket_size", &zero.reduce_bucket_size);
  section.Read("allgather_bucket_size", &zero.allgather_bucket_size);
  section.Read("contiguous_gradients", &zero.contiguous_gradients);
  section.Read("overlap_comm", &zero.overlap_comm);

  SectionReader overlap = section.Section("overlap");
  overlap.Read("gather_forward", &zero.overlap.gather_forward);
  overlap.Read("gather_backward", &zero.overlap.gather_backward);
  overlap.Read("reduce", &zero.overlap.reduce);
  overlap.Read("quantized_reduce", &zero.overlap.quantized_reduce);
  overlap.Finish();
  section.Finish();
  return zero;
}

std::optional<FsdpConfig> ReadFsdp(SectionReader section, bool given, int gpus_per_node) {
  FsdpConfig fsdp;
  section.ReadChoice("sharding", &fsdp.sharding);
  section.ReadCountOrNode("shard_size", gpus_per_node, &fsdp.shard_size);
  section.Read("blocks_per_unit", &fsdp.blocks_per_unit);
  section.Read("separate_embeddings", &fsdp.separate_embeddings);
  section.Read("per_parameter", &fsdp.per_parameter);
  section.Read("forward_prefetch", &fsdp.forward_prefetch);
  section.ReadChoice("backward_prefetch", &fsdp.backward_prefetch);
  section.Read("limit_all_gathers", &fsdp.limit_all_gathers);
  section.ReadChoice("reduce_precision", &fsdp.reduce_precision);
  section.Read("no_sync", &fsdp.no_sync);
  section.Read("offload", &fsdp.offload);
  section.ReadCountOrNode("secondary_partition_size", gpus_per_node,
                          &fsdp.secondary_partition_size);
  fsdp.quantized_weights = ReadFormat("quantized_weights", 8, &section);
  fsdp.quantized_gradients = ReadQuantizedGradients(&section);
  section.Finish();
  return given ? std::optional(fsdp) : std::nullopt;
}

ComputeSpec ReadCompute(SectionReader section) {
  ComputeSpec compute;
  section.Read("mfu", &compute.mfu);
  section.Read("flash_attention", &compute.flash_attention);
  section.Read("causal_skip", &compute.causal_skip);
  section.Read("recompute_skips_last", &compute.recompute_skips_last);
  section.Read("memory_passes", &compute.memory_passes);
  section.Read("loss_bytes", &compute.loss_bytes);
  section.Read("loss_memory", &compute.loss_memory);
  section.Read("fused_activation", &compute.fused_activation);
  section.Finish();
  return compute;
}

ParallelSpec ReadParallelism(SectionReader section) {
  ParallelSpec parallel;
  section.Read("tensor", &parallel.tensor);
  section.Read("sequence", &parallel.sequence_parallel);
  section.Read("context", &parallel.context);
  section.Read("pipeline", &parallel.pipeline);
  section.Read("virtual_stages", &parallel.virtual_stages);
  section.Read("layers_per_stage", &parallel.layers_per_stage);
  section.Read("expert", &parallel.expert);
  section.ReadChoice("order", &parallel.order);
  section.ReadChoice("context_method", &parallel.context_method);
  section.ReadChoice("tensor_overlap", &parallel.tensor_overlap);
  section.Finish();
  return parallel;
}

}  // namespace zerosim
