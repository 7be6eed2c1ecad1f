#include "models/frameworks/neox_config.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "models/core/units_text.h"
#include "models/frameworks/deepspeed_config.h"
#include "models/frameworks/deepspeed_keys.h"
#include "models/frameworks/sections.h"

namespace zerosim {
namespace {

// A number that a key of the scenario takes as it is.
struct Copied {
  std::string_view key;
  std::string_view section;
  std::string_view scenario_key;
};
constexpr Copied kCopied[] = {
    {"num_layers", "model", "layers"},
    {"hidden_size", "model", "hidden"},
    {"num_attention_heads", "model", "heads"},
    {"num_kv_heads", "model", "kv_heads"},
    {"intermediate_size", "model", "ffn_hidden"},
    {"feedforward_size", "model", "ffn_hidden"},  // its older name
    {"seq_length", "training", "sequence_length"},
};

// As of the scenario's keys; three of them multiply to less than 2^63.
constexpr std::int64_t kMostModelRanks = 65'536;
// The greatest hidden size whose square is exact.
constexpr std::int64_t kMostHidden = std::int64_t{1} << 26;

std::string WithUnderscores(std::string key) {
  std::ranges::replace(key, '-', '_');
  return key;
}

class NeoxImporter {
 public:
  NeoxImporter(const Node& config, const NeoxContext& context, Problems* problems)
      : config_(config),
        context_(context),
        problems_(problems),
        model_(MapNode(config.where)),
        training_(MapNode(config.where)),
        parallelism_(MapNode(config.where)) {}

  Node Run() {
    Sort();
    for (const Copied& copied : kCopied) {
      const auto count = Whole(copied.key);
      if (count) Put(copied.section, copied.scenario_key, std::to_string(*count), copied.key);
    }
    ImportShape();
    ImportVocabulary();
    ImportParallelism();
    ImportCheckpointing();
    RefuseOtherModels();
    Node deepspeed = ImportDeepSpeedKeys();
    NoteOthers();

    Node sections = MapNode(config_.where);
    sections.entries.push_back({"model", config_.where, std::move(model_)});
    sections.entries.push_back({"training", config_.where, std::move(training_)});
    if (!parallelism_.entries.empty()) {
      sections.entries.push_back({"parallelism", config_.where, std::move(parallelism_)});
    }
    FillIn(&sections, std::move(deepspeed));
    return sections;
  }

 private:
  void Sort();
  void ImportShape();
  void ImportMlp(bool llama);
  void ImportNorms(bool llama);
  void ImportVocabulary();
  void ImportCheckpointing();
  void ImportParallelism();
  void RefuseOtherModels();
  Node ImportDeepSpeedKeys();
  void NoteOthers();

  // The entry of `key`, which counts as read from now on, if it has a value.
  const Entry* Take(std::string_view key) {
    used_.emplace(key);
    const auto found = given_.find(key);
    const bool given = found != given_.end() && found->second->value.kind != Node::Kind::kNull;
    return given ? found->second : nullptr;
  }
  void Report(const Entry& entry, std::string_view what) {
    problems_->Add(entry.value.is_text() ? entry.value.where : entry.where,
                   fmt::format("{}: {}", entry.key, what));
  }
  std::optional<std::int64_t> Whole(std::string_view key);
  bool Flag(std::string_view key, bool fallback);
  std::string Text(std::string_view key, std::string fallback);
  const Node* Own(std::string_view path) const { return FindPath(context_.own, path); }
  void Put(std::string_view section, std::string_view scenario_key, std::string text,
           std::string_view key) {
    const auto found = given_.find(key);
    const Entry none{std::string(key), config_.where, TextNode("", config_.where)};
    Node* const node = section == "model"      ? &model_
                       : section == "training" ? &training_
                                               : &parallelism_;
    PutText(node, scenario_key, std::move(text), found == given_.end() ? none : *found->second);
  }

  const Node& config_;
  const NeoxContext& context_;
  Problems* const problems_;
  std::map<std::string, const Entry*, std::less<>> given_;  // by the key with underscores
  std::set<std::string, std::less<>> used_;
  std::int64_t model_ranks_ = 1;  // of one copy of the model
  std::int64_t tensor_ranks_ = 1;
  Node model_;
  Node training_;
  Node parallelism_;
};

void NeoxImporter::Sort() {
  for (const Entry& entry : config_.entries) {
    const auto [place, is_new] = given_.emplace(WithUnderscores(entry.key), &entry);
    if (!is_new) {
      Report(entry, fmt::format("also given as {} (line {}); leave one out", place->second->key,
                                place->second->where.line));
    }
  }
}

std::optional<std::int64_t> NeoxImporter::Whole(std::string_view key) {
  const Entry* entry = Take(key);
  if (entry == nullptr) return std::nullopt;
  const auto value =
      entry->value.is_text() ? ParseInteger(entry->value.text) : std::optional<std::int64_t>();
  if (value && *value >= 0) return value;
  Report(*entry, "expected a whole number, got " + Describe(entry->value));
  return std::nullopt;
}

bool NeoxImporter::Flag(std::string_view key, bool fallback) {
  const Entry* entry = Take(key);
  if (entry == nullptr) return fallback;
  const std::string& text = entry->value.text;
  if (text == "true" || text == "True") return true;
  if (text == "false" || text == "False") return false;
  Report(*entry, "expected true or false, got " + Describe(entry->value));
  return fallback;
}

std::string NeoxImporter::Text(std::string_view key, std::string fallback) {
  const Entry* entry = Take(key);
  if (entry == nullptr) return fallback;
  if (entry->value.is_text()) return entry->value.text;
  Report(*entry, "expected a text, got " + Describe(entry->value));
  return fallback;
}

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

void NeoxImporter::ImportCheckpointing() {
  const bool checkpoints = Flag("checkpoint_activations", false);
  Put("training", "activation_checkpointing", checkpoints ? "full" : "none",
      "checkpoint_activations");
  const auto group = Whole("checkpoint_num_layers");
  if (checkpoints && group && *group > 1) {
    Report(*Take("checkpoint_num_layers"), "checkpoints of several layers each are not modelled");
  }
  // Over the tensor-parallel ranks alone: of one there is nothing to spread.
  const bool spread = Flag("partition_activations", false) && checkpoints;
  if (spread && tensor_ranks_ > 1) {
    Put("training", "partition_checkpoints", "true", "partition_activations");
  }
}

void NeoxImporter::ImportParallelism() {
  const struct {
    const char* key;
    const char* scenario_key;
  } sizes[] = {{"pipe_parallel_size", "pipeline"},
               {"model_parallel_size", "tensor"},
               {"context_parallel_size", "context"}};
  for (const auto& [key, scenario_key] : sizes) {
    const auto given = Whole(key);
    // 0 stages is a model without pipeline.
    const std::int64_t size = std::clamp<std::int64_t>(given.value_or(1), 1, kMostModelRanks);
    const Node* own = Own(fmt::format("parallelism.{}", scenario_key));
    const auto own_size =
        own != nullptr && own->is_text() ? ParseInteger(own->text) : std::optional(size);
    const std::int64_t ranks = std::clamp<std::int64_t>(own_size.value_or(1), 1, kMostModelRanks);
    model_ranks_ *= ranks;
    if (scenario_key == std::string_view("tensor")) tensor_ranks_ = ranks;
    if (given) Put("parallelism", scenario_key, std::to_string(size), key);
    if (size > 1 && scenario_key == std::string_view("context")) {
      problems_->Note(
          Take(key)->value.where,
          fmt::format("{}: ring attention is simulated as a gather of keys and values", key));
    }
  }
  if (Flag("sequence_parallel", false)) {
    Put("parallelism", "sequence", "true", "sequence_parallel");
  }
}

void NeoxImporter::RefuseOtherModels() {
  if (Text("model_arch", "gpt2") != "gpt2") {
    Report(*Take("model_arch"), "only decoders (gpt2) are modelled");
  }
  const struct {
    const char* key;
    std::int64_t harmless;
    const char* why;
  } counts[] = {{"num_unique_layers", 0, "shared layers are not modelled"},
                {"moe_num_experts", 1,
                 "mixtures of experts of GPT-NeoX are not read; give model.mixture in the scenario "
                 "and leave it out"}};
  for (const auto& [key, harmless, why] : counts) {
    const auto given = Whole(key);
    if (given && *given > harmless) Report(*Take(key), why);
  }
  if (Flag("fp32_allreduce", false)) {
    Report(*Take("fp32_allreduce"), "sending gradients in fp32 is not modelled; leave it out");
  }
  const Entry* attention = Take("attention_config");
  if (attention == nullptr) return;
  // [[["flash"], 32]]: kinds, and how often they repeat.
  std::vector<const Node*> open{&attention->value};
  while (!open.empty()) {
    const Node* node = open.back();
    open.pop_back();
    for (const Node& item : node->items) open.push_back(&item);
    if (!node->is_text() || ParseInteger(node->text)) continue;
    if (node->text == "flash") {
      problems_->Note(node->where,
                      "attention_config: whether attention is fused is "
                      "compute.flash_attention, true if that is not given");
    } else if (node->text != "global") {
      problems_->Add(node->where, fmt::format("attention_config: attention of kind {} is not "
                                              "modelled",
                                              Quoted(node->text)));
    }
  }
}

Node NeoxImporter::ImportDeepSpeedKeys() {
  Node keys = MapNode(config_.where);
  for (const auto& [key, entry] : given_) {
    if (FindDeepSpeedKey("", key) == nullptr) continue;
    used_.insert(key);
    keys.entries.push_back({key, entry->where, entry->value});
  }
  const std::string precision = Text("precision", "");
  if (!precision.empty() && keys.Find("fp16") == nullptr && keys.Find("bf16") == nullptr) {
    const Entry& entry = *Take("precision");
    const char* const section = precision == "bfloat16" ? "bf16" : "fp16";
    Node enabled = MapNode(entry.where);
    PutText(&enabled, "enabled", precision == "fp32" ? "false" : "true", entry);
    keys.entries.push_back({section, entry.where, std::move(enabled)});
  }
  std::optional<std::int64_t> ranks = context_.world;
  if (ranks)
    ranks = *ranks % model_ranks_ == 0 ? std::optional(*ranks / model_ranks_) : std::nullopt;
  std::optional<std::int64_t> hidden = Whole("hidden_size");
  if (hidden && *hidden > kMostHidden) hidden.reset();  // the reader refuses it
  const DeepSpeedContext context{
      .ranks = ranks, .hidden = hidden, .own = context_.own, .in_neox = true};
  return ImportDeepSpeed(keys, context, problems_);
}

void NeoxImporter::NoteOthers() {
  std::vector<std::string> others;
  for (const Entry& entry : config_.entries) {
    const std::string& key = entry.key;
    if (!used_.contains(WithUnderscores(key))) {
      others.push_back(key.size() > 60 ? Quoted(key) : key);
    }
  }
  if (others.empty()) return;
  problems_->Note(config_.where, fmt::format("not read, taken to be without effect on a step: {}",
                                             fmt::join(others, ", ")));
}

}  // namespace

Node ImportNeox(const Node& config, const NeoxContext& context, Problems* problems) {
  return NeoxImporter(config, context, problems).Run();
}

}  // namespace zerosim
