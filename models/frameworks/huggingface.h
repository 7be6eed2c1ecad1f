// A Hugging Face config.json as the `model:` section of a scenario.
//
// Sources: the configuration_<model_type>.py of transformers for keys and for the defaults of keys
// that are absent, and modeling_<model_type>.py for the weights that they stand for; the table of
// families is in huggingface_families.cc. The short form of llm-analysis (num_layers, n_head,
// hidden_dim, ffn_embed_dim, ...; cli99/llm-analysis d841e40a) is read too.
//
// Not modelled, and refused by the name of the key: linear attention and state-space layers, layers
// that share keys and values, heads of several widths, per-layer embeddings, encoders. Left out
// with a warning: vision and audio towers, DeepSeek-V3's multi-token prediction, quantised storage.
#pragma once

#include <optional>
#include <string>

#include "models/scenario/document.h"

namespace zerosim {

// The section that `config`, the root of the file `file`, stands for. Every value keeps the place
// of the key that it comes from, those that the family gives the place of model_type. Returns
// nothing after reporting what is missing, of a wrong form, or not modelled.
std::optional<Node> ModelOfHuggingFace(const Node& config, const std::string& file,
                                       Problems* problems);

}  // namespace zerosim
