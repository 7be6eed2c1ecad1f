// The shape of a decoder-only transformer, and its weights and modules in the order of execution.
//
// Not modelled: encoder-decoder models, cross attention, state-space and linear-attention layers,
// multi-token prediction (DeepSeek-V3's extra layer), vision and audio towers, rotary embeddings
// over a part of the head (computed as over all of it).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/core/units.h"

namespace zerosim {

// kNone: no weights and no work of their own, as ALiBi, whose slopes are constants.
enum class Position : std::uint8_t { kLearned, kRotary, kNone };

// What a norm holds: weight and bias, a weight (LayerNorm without bias, RMSNorm), nothing (OLMo).
enum class Norm : std::uint8_t { kLayer, kLayerWithoutBias, kRms, kWithoutWeights };

// Where a block's norms and additions stand; x is the residual stream, A attention, M the MLP.
enum class Block : std::uint8_t {
  kPreNorm,           // x += A(norm x); x += M(norm x)
  kPostNorm,          // x = norm(x + A x); x = norm(x + M x); no norm after the last block
  kOutputNorm,        // x += norm(A x); x += norm(M x)
  kSandwich,          // x += norm(A(norm x)); x += norm(M(norm x))
  kParallel,          // n = norm x; x += A n + M n
  kParallelTwoNorms,  // x += A(norm x) + M(norm' x)
};

// Norms of queries and keys: none, one weight a dimension of a head shared by all heads, or one for
// each of all dimensions.
enum class QueryKeyNorm : std::uint8_t { kNone, kHead, kWidth };

// Mixture of experts in place of the MLP. A router sends every token to experts_per_token of the
// experts, which get equally many; all tokens go through the shared ones. Without expert
// parallelism every rank runs all experts on its own tokens; with it each holds a part of them and
// runs it on the tokens of its group, which are as many.
struct MixtureSpec {
  std::int64_t held = 0;     // experts on one rank; 0: all
  std::int64_t experts = 0;  // E
  std::int64_t experts_per_token = 1;
  std::int64_t ffn_hidden = 0;         // width of one expert
  std::int64_t shared_ffn_hidden = 0;  // width of all shared experts together; 0: none
  bool shared_gate = false;            // a sigmoid weighs the shared experts: 1 x h weights
  bool router_bias = false;            // E values
  int dense_layers = 0;                // leading layers that have a plain MLP
  int every = 1;  // of the others, layer i (from 0) has experts if every divides i + 1

  std::int64_t experts_held() const { return held > 0 ? held : experts; }
};

// Multi-head latent attention (DeepSeek-V2, arXiv 2405.04434, section 2.1): keys and values come
// from a latent of kv_rank values a token, queries from one of query_rank.
struct LatentAttentionSpec {
  std::int64_t query_rank = 0;  // 0: queries come from the residual stream
  std::int64_t kv_rank = 0;
  std::int64_t rope_dimension = 0;  // of a head's query and key, rotary; keys share it
  std::int64_t nope_dimension = 0;  // of a head's query and key, without position
  std::int64_t value_dimension = 0;
};

// Attention to the last `length` tokens.
struct SlidingWindowSpec {
  std::int64_t length = 0;
  int global_layers = 0;  // leading layers that see the whole sequence
  int global_every = 0;  // of the others, layer i (from 0) does if this divides i + 1; 0: none does
};

// Low-rank adapters (LoRA, arXiv 2106.09685) on the linear layers of the blocks: y = W x + B (A x)
// with A of rank x inputs and B of outputs x rank. They alone are trained. Queries, keys and values
// have an adapter each, and so have both matrices of a gated MLP and every expert, as in PEFT. Not
// modelled: dropout of adapters, adapters of embedding and head, of the router; trained biases.
enum class LoraTargets : std::uint8_t { kAll, kAttention, kMlp, kQueryValue };
struct LoraSpec {
  std::int64_t rank = 16;
  LoraTargets targets = LoraTargets::kAll;
  // Of the frozen matrices in blocks, as they are kept: 16, 8 or 4. What lies outside of the
  // blocks, routers and vectors stay in 16 bit.
  int frozen_bits = 16;
};

struct TransformerSpec {
  std::string name;
  int layers = 0;
  std::int64_t hidden = 0;         // h
  int heads = 0;                   // a
  int kv_heads = 0;                // = heads, or fewer with grouped-query attention
  std::int64_t ffn_hidden = 0;     // width of the MLP
  std::int64_t vocabulary = 0;     // V, padded as it is trained
  std::int64_t max_positions = 0;  // rows of the learned position table, else 0
  Position position = Position::kLearned;
  bool gated_mlp = false;       // SwiGLU: two matrices in, one out; experts too
  bool biases = true;           // biases of linear layers and of norms (LayerNorm, not RMSNorm)
  bool tied_embeddings = true;  // the head multiplies with the embedding's weights

  // What differs from the above; see the functions below.
  std::int64_t own_head_dimension = 0;  // 0: hidden / heads
  std::int64_t embedding_width = 0;     // 0: hidden; else projections to and from hidden (OPT-350m)
  std::optional<bool> own_qkv_biases = {};
  std::optional<bool> own_output_biases = {};
  std::optional<bool> own_mlp_biases = {};
  std::optional<Norm> own_norm = {};
  bool head_bias = false;       // of the output layer: V values (GPT-J)
  bool embedding_norm = false;  // after the embedding (BLOOM)
  Block block = Block::kPreNorm;
  QueryKeyNorm query_key_norm = QueryKeyNorm::kNone;
  std::optional<MixtureSpec> mixture = {};
  std::optional<LatentAttentionSpec> latent_attention = {};
  std::optional<SlidingWindowSpec> sliding_window = {};
  std::optional<LoraSpec> lora = {};

  // Of queries and keys, and of values.
  std::int64_t head_dimension() const;
  std::int64_t value_dimension() const;
  // Over all heads: width of the queries, of the keys and values each (without latents), and of
  // attention's output.
  std::int64_t query_hidden() const { return heads * head_dimension(); }
  std::int64_t kv_hidden() const { return kv_heads * head_dimension(); }
  std::int64_t attention_hidden() const { return heads * value_dimension(); }

  bool qkv_biases() const { return own_qkv_biases.value_or(biases); }
  bool output_biases() const { return own_output_biases.value_or(biases); }  // of attention
  bool mlp_biases() const { return own_mlp_biases.value_or(biases); }
  Norm norm() const { return own_norm.value_or(biases ? Norm::kLayer : Norm::kRms); }

  bool has_experts(int layer) const;  // whether that layer (from 0) has a mixture for its MLP
  bool is_local(int layer) const;     // whether it attends to the sliding window only
  int expert_layers() const;          // numbers of such layers
  int local_layers() const;
};

// Weights of one shape that are used together: one tensor, or the `count` tensors of a layer's
// experts, which frameworks keep apart, one a matrix and expert. columns == 0: a vector (bias,
// norm), which ZeRO treats apart.
struct Weight {
  std::string name;  // "layers.3.qkv"
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t count = 1;
  std::int64_t active = 1;  // of `count`, those that one token meets
  bool expert = false;      // of experts, which expert parallelism divides
  bool trainable = true;    // else it has no gradient and no state
  int bits = 16;            // of an element as it is kept; below 16: FrozenFormat

  bool is_vector() const { return columns == 0; }
  std::int64_t tensor_elements() const { return is_vector() ? rows : rows * columns; }
  std::int64_t elements() const { return count * tensor_elements(); }  // of all tensors
};

// What a module does. A module is what a framework hooks: it gathers its weights, runs, releases.
// The experts of a layer are one module: what DeepSpeed calls a leaf module and asks for in
// mixtures (set_z3_leaf_modules), because which experts run is not known ahead.
enum class Part : std::uint8_t {
  kEmbedding,
  kInputNorm,
  kQkv,
  kAttention,  // scores, softmax, values; no weights
  kAttentionOutput,
  kPostNorm,
  kMlpIn,       // both matrices of a gated MLP
  kActivation,  // no weights
  kMlpOut,
  kResidual,  // dropout and addition; no weights
  kFinalNorm,
  kHead,  // logits and loss

  kLocalAttention,     // as kAttention, in the sliding window
  kQueryNorm,          // of queries, or of their latent
  kKeyNorm,            // of keys, or of the latent of keys and values
  kQueryDown,          // latent attention: from the residual stream to the queries' latent
  kQueryUp,            // queries from their latent, or from the residual stream
  kKvDown,             // to the latent of keys and values, and the shared rotary key
  kKvUp,               // keys and values from it
  kAttentionNorm,      // of attention's output, or of the residual stream after it
  kMlpNorm,            // the same for the MLP
  kRouter,             // logits, softmax, choice; the shared experts' gate
  kDispatch,           // copies of tokens in the order of experts; no weights
  kExpertsIn,          // all experts' matrices in
  kExpertsActivation,  // no weights
  kExpertsOut,         // all experts' matrices out
  kSharedIn,           // shared experts, as an MLP of their width together
  kSharedActivation,   // no weights
  kSharedOut,
  kCombine,              // weighted sum of the experts' outputs; no weights
  kEmbeddingProjection,  // from the embedding's width to hidden
  kEmbeddingNorm,
  kHeadProjection,  // from hidden to the embedding's width
};
constexpr int kNumParts = static_cast<int>(Part::kHeadProjection) + 1;

constexpr bool IsAttention(Part part) {
  return part == Part::kAttention || part == Part::kLocalAttention;
}

struct Module {
  Part part = Part::kEmbedding;
  int layer = -1;            // -1 outside of the layers
  std::vector<int> weights;  // places in ModelLayout::weights, its vectors included
};

// Weights and modules of a model in the order in which forward runs through them. A tied head names
// the embedding's weight again.
struct ModelLayout {
  std::vector<Weight> weights;
  std::vector<Module> modules;

  std::int64_t parameters() const;  // of all weights, each counted once
  std::int64_t trainable_parameters() const;
  std::int64_t trainable_expert_parameters() const;
  std::int64_t active_parameters() const;  // without the experts that a token does not meet
  std::int64_t layer_parameters() const;   // of the largest layer
};

// Parts of a layer with or without experts and with local or global attention, and of all outside
// of the layers, in the order of execution.
std::vector<Part> PartsOfLayer(const TransformerSpec& spec, bool experts, bool local);
std::vector<Part> PartsBeforeLayers(const TransformerSpec& spec);
std::vector<Part> PartsAfterLayers(const TransformerSpec& spec);

// Adapters of one product with `outputs` outputs: pairs of matrices, and the outputs that they add
// to. Without LoRA or where it does not reach there are none.
struct Adapters {
  std::int64_t matrices = 0;
  std::int64_t outputs = 0;
};
Adapters AdaptersOf(Part part, std::int64_t outputs, const TransformerSpec& spec);

// Lays out `spec`. Throws std::invalid_argument if a dimension is not positive, heads do not divide
// hidden (without a head dimension), kv_heads do not divide heads, or a token meets more experts
// than there are.
ModelLayout Layout(const TransformerSpec& spec);

// Parameters of `spec` without norms and biases, as a number that cannot overflow: to refuse what
// Layout cannot count.
double ApproximateParameters(const TransformerSpec& spec);

}  // namespace zerosim
