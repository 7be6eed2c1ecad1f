// What a GPT-NeoX configuration says of the model.
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "models/core/units_text.h"
#include "models/frameworks/neox_importer.h"

namespace zerosim {

void NeoxImporter::ImportShape() {
  const std::string position = Text("pos_emb", "learned");
  const auto rows = Whole("max_position_embeddings");
  if (position == "learned") {
    if (rows) Put("model", "max_positions", std::to_string(*rows), "max_position_embeddings");
  } else if (position == "rotary") {
    Put("model", "position", "rotary", "pos_emb");
  } else if (position == "none" || position == "sinusoidal" || position == "alibi") {
    Put("model", "position", "none", "pos_emb");  // no weights
  } else {
    Report(*Take("pos_emb"),
           fmt::format("positions of kind {} are not modelled", Quoted(position)));
  }
  const Entry* share = Take("rotary_pct");
  if (position == "rotary" && share != nullptr && ParseNumber(share->value.text).value_or(0) != 1) {
    problems_->Note(share->value.where, "rotary_pct: computed as over all of a head");
  }
  const bool llama = Text("mlp_type", "regular") == "llama";
  ImportMlp(llama);
  ImportNorms(llama);
  Put("model", "tied_embeddings", Flag("no_weight_tying", false) ? "false" : "true",
      "no_weight_tying");
  // The two norms of a block are one if they are tied; a sum over the tensor-parallel ranks is
  // saved either way.
  const bool tied = Flag("gpt_j_tied", false);
  if (Flag("gpt_j_residual", false)) {
    Put("model", "block", tied ? "parallel" : "parallel_two_norms", "gpt_j_residual");
  }
  const auto window = Whole("sliding_window_width");
  if (window && *window > 0) {
    const Entry& entry = *Take("sliding_window_width");
    Node section = MapNode(entry.where);
    PutText(&section, "length", std::to_string(*window), entry);
    model_.entries.push_back({"sliding_window", entry.where, std::move(section)});
  }
}

void NeoxImporter::ImportMlp(bool llama) {
  const std::string activation = Text("activation", "gelu");
  if (activation != "swiglu" && activation != "geglu" && !llama) return;
  const std::string_view key = activation == "gelu" ? "mlp_type" : "activation";
  Put("model", "gated_mlp", "true", key);
  if (model_.Find("ffn_hidden") == nullptr && Own("model.ffn_hidden") == nullptr) {
    Report(*Take(key),
           "a gated MLP has no width of its own here; add intermediate_size, or "
           "model.ffn_hidden to the scenario");
  }
}

void NeoxImporter::ImportNorms(bool llama) {
  const bool attention = Flag("use_bias_in_attn_linear", true);
  // The gated MLP of LLaMA never has biases.
  const bool mlp = Flag("use_bias_in_mlp", true) && !llama;
  const bool both = attention && mlp;
  Put("model", "biases", both ? "true" : "false", "use_bias_in_attn_linear");
  if (attention != both) {
    Put("model", "qkv_biases", "true", "use_bias_in_attn_linear");
    Put("model", "output_biases", "true", "use_bias_in_attn_linear");
  }
  if (mlp != both) Put("model", "mlp_biases", "true", "use_bias_in_mlp");

  const bool in_norms = Flag("use_bias_in_norms", true);
  const std::string kind = Text("norm", "layernorm");
  const char* norm = in_norms ? "layer" : "layer_without_bias";
  if (kind.find("rmsnorm") != std::string::npos) {
    norm = "rms";
  } else if (kind == "scalenorm" || kind == "non_parametric_layernorm") {
    norm = "without_weights";  // at most one value
  } else if (kind != "layernorm" && kind != "te_layernorm") {
    Report(*Take("norm"), fmt::format("norms of kind {} are not modelled", Quoted(kind)));
  }
  if (std::string_view(norm) != (both ? "layer" : "rms")) Put("model", "norm", norm, "norm");
  if (Flag("use_qk_layernorm", false)) {
    Put("model", "query_key_norm", "width", "use_qk_layernorm");
  }
}

void NeoxImporter::ImportVocabulary() {
  const auto multiple = Whole("make_vocab_size_divisible_by");
  if (Own("model.vocabulary") != nullptr) return;
  if (context_.vocabulary) {
    Put("model", "vocabulary", std::to_string(*context_.vocabulary), "");
    return;
  }
  const std::string what = fmt::format(
      "the vocabulary is that of the tokenizer, padded to a multiple of {} x model_parallel_size: "
      "add model.vocabulary",
      multiple.value_or(128));
  if (context_.own == nullptr) {
    problems_->Note(config_.where, what);
    return;
  }
  problems_->Add(config_.where, what);
  Node unresolved;
  unresolved.kind = Node::Kind::kUnresolved;
  unresolved.where = config_.where;
  model_.entries.push_back({"vocabulary", config_.where, std::move(unresolved)});
}

}  // namespace zerosim
