// The shape of a decoder-only transformer, and its weights and modules in the order of execution.
//
// Not modelled: encoder-decoder models, mixture of experts, cross attention.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/core/units.h"

namespace zerosim {

enum class Position : std::uint8_t { kLearned, kRotary, kNone };

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
  bool gated_mlp = false;       // SwiGLU: two matrices in, one out
  bool biases = true;           // biases of linear layers and of norms (LayerNorm, not RMSNorm)
  bool tied_embeddings = true;  // the head multiplies with the embedding's weights

  std::int64_t head_dimension() const { return hidden / heads; }
};

// One tensor of weights. columns == 0: a vector (bias, norm), which ZeRO treats apart.
struct Weight {
  std::string name;  // "layers.3.qkv"
  std::int64_t rows = 0;
  std::int64_t columns = 0;

  bool is_vector() const { return columns == 0; }
  std::int64_t elements() const { return is_vector() ? rows : rows * columns; }
};

// What a module does. A module is what a framework hooks: it gathers its weights, runs, releases.
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
};

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

  std::int64_t parameters() const;        // of all weights, each counted once
  std::int64_t layer_parameters() const;  // of the largest layer
};

// Lays out `spec`. Throws std::invalid_argument if a dimension is not positive, heads do not divide
// hidden, or kv_heads do not divide heads.
ModelLayout Layout(const TransformerSpec& spec);

}  // namespace zerosim
