#include "models/memory/memory.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "models/parallel/scenario_groups.h"
#include "models/quantization/quantization.h"

namespace zerosim {
namespace {

constexpr std::int64_t kValueBytes = 2;  // fp16 and bf16, weights and gradients
constexpr std::int64_t kFp32Bytes = 4;
constexpr std::int64_t kOptimizerBytes = 12;  // fp32 master weight, Adam's two moments
constexpr std::int64_t kMebibyte = 1 << 20;

// What nvidia-smi shows for a process that has made a CUDA context and nothing else, and what a
// NCCL communicator adds for its channels' buffers. Both assumed; see README.md.
constexpr std::int64_t kCudaContext = 512 * kMebibyte;
constexpr std::int64_t kNcclCommunicator = 256 * kMebibyte;

// Elements of the trainable weights in one rank's shard; ZeRO-3 pads every tensor by itself.
std::int64_t TrainableShard(const ModelLayout& layout, int ranks) {
  std::int64_t sum = 0;
  for (const Weight& weight : layout.weights) {
    if (weight.trainable) sum += weight.count * CeilDiv(weight.tensor_elements(), ranks);
  }
  return sum;
}

// `elements` of one tensor of `weight`, as they are kept.
std::int64_t KeptBytes(const Weight& weight, std::int64_t elements) {
  if (weight.bits == 16) return kValueBytes * elements;
  return QuantizedSizeOf(elements, FrozenFormat(weight.bits)).total().count();
}

// All weights in one rank's shard, each tensor padded by itself.
std::int64_t ShardBytes(const ModelLayout& layout, int ranks) {
  std::int64_t sum = 0;
  for (const Weight& weight : layout.weights) {
    sum += weight.count * KeptBytes(weight, CeilDiv(weight.tensor_elements(), ranks));
  }
  return sum;
}

// Elements of weights that stay gathered (DeepSpeed: numel <= param_persistence_threshold).
std::int64_t PersistentElements(const ModelLayout& layout, const ZeroConfig& zero) {
  std::int64_t sum = 0;
  for (const Weight& weight : layout.weights) {
    if (weight.tensor_elements() <= zero.param_persistence_threshold) sum += weight.elements();
  }
  return sum;
}

std::int64_t BufferElements(const ZeroConfig& zero) {
  if (zero.stage == 0 || !zero.contiguous_gradients) return 0;
  // Stages 1 and 2 fill a second bucket while the first is reduced; stage 3 has one flat buffer.
  const int buckets = zero.stage < 3 && zero.overlaps() ? 2 : 1;
  return buckets * zero.reduce_bucket_size;
}

// Transformer Engine's placeholders of weight gradients: one tensor of 16 bit for each shape of the
// blocks' matrices (module/base.py, get_dummy_wgrad), kept once backward has asked for it.
std::int64_t PlaceholderBytes(const ModelLayout& layout) {
  std::set<std::pair<std::int64_t, std::int64_t>> shapes;
  for (const Module& module : layout.modules) {
    if (module.layer < 0) continue;
    for (const int w : module.weights) {
      const Weight& weight = layout.weights[w];
      if (weight.trainable && !weight.is_vector()) shapes.insert({weight.rows, weight.columns});
    }
  }
  std::int64_t elements = 0;
  for (const auto& [rows, columns] : shapes) elements += rows * columns;
  return kValueBytes * elements;
}

int Communicators(const Scenario& scenario, const ProcessGroups& groups) {
  if (scenario.world_size() == 1) return 0;
  int count = 1;
  if (scenario.secondary_size() > 1) ++count;
  if (groups.replicas.size > 1) ++count;
  for (const int size : {groups.tensor.size, groups.context.size, groups.pipeline.size}) {
    if (size > 1) ++count;
  }
  if (groups.expert.size > 1) count += 2;
  if (scenario.quantizes_gradients() && groups.across.size > 1) count += 2;
  return count;
}

// Trained elements of a rank's part if they lie in one flat buffer, experts in another where fewer
// ranks hold the same.
std::int64_t FlatShard(const Scenario& scenario, const ModelLayout& layout,
                       const ProcessGroups& groups) {
  const std::int64_t experts = scenario.divided_experts(layout);
  return CeilDiv(layout.trainable_parameters() - experts, groups.shard.size) +
         CeilDiv(experts, groups.expert_data.size);
}

// FSDP keeps weights and gradients in fp32 and Adam's moments with them; 16-bit weights exist only
// while they are gathered. Frozen weights are in 16 bit, or quantised, only.
StaticMemory FsdpStates(const Scenario& scenario, const ModelLayout& layout,
                        const ProcessGroups& groups) {
  const bool whole = scenario.fsdp->sharding == FsdpStrategy::kNoShard;
  const std::int64_t shard =
      whole ? layout.trainable_parameters() : FlatShard(scenario, layout, groups);
  std::int64_t frozen = 0;
  for (const Weight& weight : layout.weights) {
    if (weight.trainable) continue;
    const bool divided = weight.expert && scenario.parallel.expert > 1;
    const int parts = whole ? 1 : divided ? groups.expert_data.size : groups.shard.size;
    frozen += weight.count * KeptBytes(weight, CeilDiv(weight.tensor_elements(), parts));
  }
  return {.parameters = Bytes::Count(kFp32Bytes * shard + frozen),
          .gradients = Bytes::Count(kFp32Bytes * shard),
          .optimizer = Bytes::Count(2 * kFp32Bytes * shard),
          .buffers = {},
          .host = {},
          .context = {}};
}

// Moves everything that FSDP keeps between steps to the host's memory.
void OffloadAll(StaticMemory* states) {
  states->host = states->allocated();
  states->parameters = states->gradients = states->optimizer = Bytes();
}

std::int64_t LargestTensor(const ModelLayout& layout) {
  std::int64_t largest = 0;
  for (const Weight& weight : layout.weights) {
    largest = std::max(largest, weight.tensor_elements());
  }
  return largest;
}

// Moves what offload_optimizer and offload_param say. The host also holds fp32 gradients for its
// part of the states (4 bytes) and 16-bit gradients that it sums: in stage 3 always
// (grad_partitions_flat_buffer, of gradient_precision), else with several micro-steps
// (accumulated_grads_in_cpu). Stages 1 and 2 keep a buffer of the largest tensor on the GPU
// (temp_grad_buffer_for_gpu_offload).
void OffloadZero(const Scenario& scenario, const ModelLayout& layout, std::int64_t shard,
                 StaticMemory* states) {
  const ZeroConfig& zero = scenario.zero;
  const double part = zero.offloaded_optimizer();
  if (part > 0) {
    const std::int64_t on_host = std::llround(part * static_cast<double>(shard));
    const bool sums = zero.stage == 3 || scenario.training.gradient_accumulation_steps > 1;
    states->optimizer = Bytes::Count(kOptimizerBytes * (shard - on_host));
    states->host += Bytes::Count((kOptimizerBytes + 4) * on_host);
    const bool fp32 = zero.stage == 3 && zero.gradient_precision == GradientPrecision::kFp32;
    const std::int64_t summed = fp32 ? kFp32Bytes : kValueBytes;
    if (sums && zero.stage > 1) states->host += Bytes::Count(summed * shard);
    if (zero.stage > 1) states->gradients = Bytes();
    if (zero.stage < 3) states->buffers += Bytes::Count(kValueBytes * LargestTensor(layout));
  }
  if (!zero.offloads_parameters()) return;
  states->parameters = Bytes::Count(kValueBytes * PersistentElements(layout, zero));
  states->host += Bytes::Count(ShardBytes(layout, ProcessGroupsOf(scenario).shard.size));
  if (zero.has_secondary()) {
    states->host += Bytes::Count(ShardBytes(layout, zero.secondary_partition_size));
  }
}

bool NeedsInput(Part part, const TransformerSpec& model) {
  return !model.lora || AdaptersOf(part, 1, model).matrices > 0;
}

// What the adapters of a layer keep for one token: A x.
std::int64_t AdapterValuesPerToken(const TransformerSpec& model, bool experts) {
  if (!model.lora) return 0;
  std::int64_t values = 0;
  for (const Part part : PartsOfLayer(model, experts, false)) {
    const bool copies = part == Part::kExpertsIn || part == Part::kExpertsOut;
    values += (copies ? model.mixture->experts_per_token : 1) *
              AdaptersOf(part, 1, model).matrices * model.lora->rank;
  }
  return values;
}

// Values that norms and linear layers keep of their inputs, beside those within attention and MLP.
std::int64_t InputsPerToken(const TransformerSpec& model) {
  // Inputs of QKV, of the MLP and of two norms. Norms beside each other share theirs, and with one
  // norm its output is the input of both.
  std::int64_t inputs = 4;
  if (model.block == Block::kParallel) inputs = 2;
  if (model.block == Block::kParallelTwoNorms) inputs = 3;
  if (model.block == Block::kSandwich) inputs = 6;
  // A frozen matrix without an adapter does not need its input again.
  const bool attention = NeedsInput(Part::kQkv, model);
  const bool mlp = NeedsInput(Part::kMlpIn, model);
  if (model.block == Block::kParallel) {
    inputs -= attention || mlp ? 0 : 1;
  } else {
    inputs -= (attention ? 0 : 1) + (mlp ? 0 : 1);
  }
  return inputs * model.hidden;
}

// Queries, keys and values, and what comes between them and the residual stream.
std::int64_t AttentionValuesPerToken(const TransformerSpec& model) {
  std::int64_t values = model.attention_hidden();  // the output projection's input
  if (model.latent_attention) {
    const LatentAttentionSpec& latent = *model.latent_attention;
    values += 2 * model.query_hidden() + model.attention_hidden();
    // Latents before and after their norms; the rotary key.
    return values + 2 * latent.query_rank + 2 * latent.kv_rank + latent.rope_dimension;
  }
  values += model.query_hidden() + 2 * model.kv_hidden();
  // Norms keep their inputs.
  if (model.query_key_norm != QueryKeyNorm::kNone) {
    values += model.query_hidden() + model.kv_hidden();
  }
  return values;
}

// Width of what a token goes through between the MLP's matrices.
std::int64_t MlpWidth(const TransformerSpec& model, bool experts) {
  if (!experts) return model.ffn_hidden;
  return model.mixture->experts_per_token * model.mixture->ffn_hidden +
         model.mixture->shared_ffn_hidden;
}

// Bytes a layer keeps for backward when nothing is recomputed, for one token: what
// arXiv 2205.05198, section 4.1 counts, by tensor. 34 h in total for its GPT layer.
// Sequence parallelism divides what lies outside of attention and MLP into `parts`.
std::int64_t LinearBytesPerToken(const TransformerSpec& model, bool experts, int parts,
                                 bool fused_activation) {
  std::int64_t bytes =
      kValueBytes * (CeilDiv(InputsPerToken(model), parts) + AttentionValuesPerToken(model));
  // GELU keeps its input and the next matrix its own. SwiGLU keeps the gate, its SiLU (unless it is
  // computed again), the other factor and the product.
  const int unneeded = NeedsInput(Part::kMlpOut, model) ? 0 : 1;
  const int gated = fused_activation ? 3 : 4;
  bytes += kValueBytes * ((model.gated_mlp ? gated : 2) - unneeded) * MlpWidth(model, experts);
  bytes += kValueBytes * AdapterValuesPerToken(model, experts);
  if (experts) {
    // Copies of the token for its experts and their outputs, which the router's gradient needs; its
    // probabilities in fp32.
    const MixtureSpec& mixture = *model.mixture;
    bytes += kValueBytes * 2 * mixture.experts_per_token * model.hidden + 4 * mixture.experts;
  }
  // Masks of two dropouts, a byte an element; models with gated MLPs train without dropout.
  if (!model.gated_mlp) bytes += CeilDiv(2 * model.hidden, parts);
  return bytes;
}

// What checkpointing by operators keeps of it: the layer's input, attention's output, and of the
// products every second one: Q, V, gate, and MLP out, which is kept though nothing needs it.
std::int64_t OperatorBytesPerToken(const TransformerSpec& model, bool experts, int parts) {
  return kValueBytes * (CeilDiv(2 * model.hidden, parts) + model.attention_hidden() +
                        model.query_hidden() + model.kv_hidden() + MlpWidth(model, experts));
}

}  // namespace

StaticMemory StaticMemoryOf(const Scenario& scenario, const ModelLayout& layout) {
  const ZeroConfig& zero = scenario.zero;
  const ProcessGroups groups = ProcessGroupsOf(scenario);
  const int ranks = groups.shard.size;
  const Bytes context =
      Bytes::Count(kCudaContext + Communicators(scenario, groups) * kNcclCommunicator);
  if (scenario.fsdp) {
    StaticMemory states = FsdpStates(scenario, layout, groups);
    if (scenario.fsdp->offload) OffloadAll(&states);
    states.context = context;
    return states;
  }
  const std::int64_t full = layout.trainable_parameters();
  const std::int64_t flat_shard = FlatShard(scenario, layout, groups);
  const std::int64_t shard = zero.stage == 3 ? TrainableShard(layout, ranks) : flat_shard;

  std::int64_t parameters = ShardBytes(layout, zero.stage == 3 ? ranks : 1);
  if (zero.stage == 3) parameters += kValueBytes * PersistentElements(layout, zero);
  const bool fp32 = zero.gradient_precision == GradientPrecision::kFp32;
  const std::int64_t gradients =
      (fp32 ? kFp32Bytes : kValueBytes) * (zero.stage >= 2 ? shard : full);
  const std::int64_t optimizer = zero.stage >= 1 ? shard : full;

  std::int64_t buffers = kValueBytes * BufferElements(zero);
  if (scenario.fuses_weight_gradients()) buffers += PlaceholderBytes(layout);

  StaticMemory states{.parameters = Bytes::Count(parameters),
                      .gradients = Bytes::Count(gradients),
                      .optimizer = Bytes::Count(kOptimizerBytes * optimizer),
                      .buffers = Bytes::Count(buffers),
                      .host = {},
                      .context = context};
  OffloadZero(scenario, layout, shard, &states);
  return states;
}

ActivationMemory ActivationMemoryOf(const Scenario& scenario, bool experts, bool checkpointed) {
  const Checkpointing checkpointing =
      checkpointed ? scenario.training.checkpointing : Checkpointing::kNone;
  const TransformerSpec& model = scenario.model;
  const std::int64_t tokens = scenario.tokens_per_micro_batch();
  const std::int64_t scores = model.heads * scenario.training.sequence_length * tokens;
  const bool fused =
      scenario.compute.flash_attention && !scenario.cluster.node.gpu.attention.empty();

  const std::int64_t width = model.embedding_width > 0 ? model.embedding_width : model.hidden;
  const int parts = scenario.sequence_parts();
  const std::int64_t hidden = CeilDiv(kValueBytes * tokens * model.hidden, parts);
  const std::int64_t linear =
      tokens * LinearBytesPerToken(model, experts, parts, scenario.compute.fused_activation);
  // Unfused: scores after softmax and after dropout in 16 bit, and dropout's mask. Fused: the
  // logarithm of each row's sum in fp32.
  const std::int64_t attention = fused ? tokens * 4 * model.heads : 5 * scores;
  // Scores before softmax and their gradients live only while attention runs.
  const std::int64_t transient = fused ? 0 : kValueBytes * scores;
  // Gradients at the widest point: of activation's output and input, of scores after and before
  // softmax; beside either, the residual's.
  const std::int64_t mlp_gradient =
      kValueBytes * (model.gated_mlp ? 3 : 2) * tokens * MlpWidth(model, experts);
  const std::int64_t attention_gradient =
      kValueBytes * tokens * (2 * model.query_hidden() + model.attention_hidden()) + 2 * transient;

  // Logits with their gradients, of one chunk of the tokens, and Megatron-LM's placeholder of the
  // head's gradient, which lives while the head runs backward (core/tensor_parallel/layers.py).
  const std::int64_t chunk = CeilDiv(tokens, std::int64_t{scenario.training.loss_chunks});
  std::int64_t logits = std::llround(scenario.compute.loss_memory * static_cast<double>(chunk) *
                                     static_cast<double>(model.vocabulary));
  if (scenario.fuses_weight_gradients()) logits += kValueBytes * model.vocabulary * width;

  std::int64_t saved = linear + attention;
  std::int64_t working = transient;
  if (checkpointing == Checkpointing::kSelective) {
    saved = linear;
    working = attention + transient;
  } else if (checkpointing == Checkpointing::kFull) {
    saved = CeilDiv(hidden, scenario.checkpoint_parts());
    working = linear + attention + transient;
  } else if (checkpointing == Checkpointing::kOperators) {
    saved = tokens * OperatorBytesPerToken(model, experts, parts) + attention;
    working = linear + attention + transient - saved;
  }
  return {.saved_per_layer = Bytes::Count(saved),
          .working_per_layer = Bytes::Count(working),
          .gradient_per_layer = Bytes::Count(hidden + std::max(mlp_gradient, attention_gradient)),
          .embedding = Bytes::Count(CeilDiv(kValueBytes * tokens * width, parts)),
          .logits = Bytes::Count(logits)};
}

}  // namespace zerosim
