#include "models/frameworks/huggingface.h"

#include <algorithm>
#include <filesystem>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "models/frameworks/huggingface_import.h"

namespace zerosim {
namespace {

// A key that changes the shape in a way that is not modelled, whatever the architecture.
struct NotModelled {
  std::string_view key;
  std::string_view what;
};
constexpr NotModelled kNotModelled[] = {
    {"add_cross_attention", "cross attention is not modelled"},
    {"altup_num_inputs", "several residual streams are not modelled"},
    {"attention_k_eq_v", "keys that are the values are not modelled"},
    {"attn_output_gate", "a gate on attention's output is not modelled"},
    {"enable_moe_block", "experts beside the MLP of a block are not modelled"},
    {"global_head_dim", "heads of several widths are not modelled"},
    {"hidden_size_per_layer_input", "embeddings of each layer are not modelled"},
    {"is_encoder_decoder", "encoders are not modelled"},
    {"mamba_d_state", "state-space layers are not modelled"},
    {"num_global_key_value_heads", "layers with other numbers of heads are not modelled"},
    {"num_kv_shared_layers", "layers that share keys and values are not modelled"},
    {"ssm_cfg", "state-space layers are not modelled"},
};

// GPT as the short form means it where no model_type is given.
constexpr HuggingFaceFamily kGpt = {.type = "gpt",
                                    .norm = "layer",
                                    .position = "learned",
                                    .gated_mlp = false,
                                    .qkv_biases = true,
                                    .output_biases = true,
                                    .mlp_biases = true,
                                    .tied_embeddings = true,
                                    .ffn_is_four_hidden = true};

class Importer {
 public:
  Importer(const Node& root, const Node& text, const std::string& file, Problems* problems)
      : root_(root),
        config_(text, &text == &root ? nullptr : &root, problems),
        file_(file),
        problems_(problems),
        before_(problems->error_count()) {}

  std::optional<Node> Run() {
    WarnOfTowers();
    RefuseWhatIsNotModelled();
    const HuggingFaceFamily* family = FindFamily();
    if (family == nullptr || problems_->error_count() > before_) return std::nullopt;
    ReadSizes(*family);
    ReadKinds(*family);
    ReadWindow(*family);
    if (problems_->error_count() > before_) return std::nullopt;
    ApplyPeculiarity(*family, config_, &model_);
    if (IsShort()) ReadShortMlp(*family);
    WarnOfWhatIsLeftOut();
    if (problems_->error_count() > before_) return std::nullopt;
    return SectionOf(std::move(model_), Name(), root_.where, config_);
  }

 private:
  // The keys of llm-analysis.
  bool IsShort() const {
    return config_.Find("num_layers") != nullptr && config_.Find("hidden_dim") != nullptr &&
           config_.Find("n_head") != nullptr;
  }

  void WarnOfTowers() const {
    for (const char* tower : {"vision_config", "audio_config"}) {
      if (config_.Find(tower) != nullptr) {
        config_.Warn(tower, "left out; the model is what text_config describes");
      }
    }
  }

  void WarnOfWhatIsLeftOut() const {
    if (config_.Integer("num_nextn_predict_layers").value_or(0) > 0) {
      config_.Warn("num_nextn_predict_layers",
                   "left out; layers of multi-token prediction are not modelled");
    }
    if (config_.Find("quantization_config") != nullptr) {
      config_.Warn("quantization_config", "left out; weights are computed in 16 bit");
    }
  }

  void RefuseWhatIsNotModelled() const {
    for (const NotModelled& key : kNotModelled) {
      const Entry* entry = config_.Find(key.key);
      if (entry == nullptr || entry->value.text == "false" || entry->value.text == "0") continue;
      config_.Report(key.key, key.what);
    }
    const Entry* types = config_.Find("layer_types");
    if (types == nullptr) return;
    for (const Node& item : types->value.items) {
      if (item.text == "full_attention" || item.text == "sliding_attention") continue;
      problems_->Add(item.where,
                     fmt::format("layer_types: layers of kind {} are not modelled; expected "
                                 "full_attention or sliding_attention",
                                 Quoted(item.text)));
      return;
    }
  }

  const HuggingFaceFamily* FindFamily() const {
    const std::string type = config_.Text("model_type");
    std::vector<std::string_view> known;
    for (const HuggingFaceFamily& family : HuggingFaceFamilies()) {
      if (family.type == type) return &family;
      known.push_back(family.type);
    }
    if (type.empty() && IsShort()) {
      config_.Warn("model_type",
                   "missing; taken as a GPT: LayerNorm, biases, an MLP without gate, tied "
                   "embeddings, learned positions if max_seq_len is given");
      return &kGpt;
    }
    config_.Report("model_type",
                   fmt::format("{}; the architectures that are known are {}",
                               type.empty() ? "missing" : "no architecture " + Quoted(type),
                               fmt::join(known, ", ")));
    return nullptr;
  }

  std::int64_t Required(std::string_view names, std::int64_t otherwise) const {
    const std::size_t before = problems_->error_count();
    const auto value = config_.Integer(names);
    if (value && *value > 0) return *value;
    if (!value && otherwise > 0) return otherwise;
    if (problems_->error_count() == before) {
      config_.Report(names, value ? "expected a whole number from 1, got 0"
                                  : "missing; expected a whole number");
    }
    return 1;
  }

  void ReadSizes(const HuggingFaceFamily& family) {
    model_.layers = Required(kLayers, 0);
    model_.hidden = Required(kHidden, 0);
    model_.heads = Required(kHeads, family.heads);
    model_.vocabulary = Required("vocab_size", family.vocabulary);
    const std::int64_t kv_heads = family.kv_heads > 0 ? family.kv_heads : model_.heads;
    model_.kv_heads = Required("num_key_value_heads", IsShort() ? model_.heads : kv_heads);
    const bool four = family.ffn_is_four_hidden || IsShort();
    model_.ffn_hidden = Required(kFfn, four ? 4 * model_.hidden : 0);
    model_.head_dimension =
        config_.Integer("head_dim").value_or(IsShort() ? 0 : family.head_dimension);
  }

  void ReadKinds(const HuggingFaceFamily& family) {
    model_.norm = family.norm;
    model_.block = family.block;
    model_.position = family.position;
    model_.query_key_norm = family.query_key_norm;
    model_.gated_mlp = family.gated_mlp;
    model_.head_bias = family.head_bias;
    model_.embedding_norm = family.embedding_norm;
    const auto flag = [&](std::string_view key, bool otherwise) {
      return key.empty() ? otherwise : config_.Flag(key).value_or(otherwise);
    };
    model_.qkv_biases = flag(family.qkv_bias, flag(family.attention_bias, family.qkv_biases));
    model_.output_biases = flag(family.attention_bias, family.output_biases);
    model_.mlp_biases = flag(family.mlp_bias, family.mlp_biases);
    model_.tied_embeddings = flag("tie_word_embeddings", family.tied_embeddings);
    if (&family == &kGpt && config_.Find(kPositions) == nullptr) model_.position = "none";
    if (model_.position == "learned") model_.max_positions = Required(kPositions, 0);
  }

  void ReadWindow(const HuggingFaceFamily& family) {
    if (IsShort()) return;
    if (!family.window_switch.empty() && !config_.Flag(family.window_switch).value_or(false)) {
      return;
    }
    // null is no window; without the key the family's default holds.
    std::int64_t length = config_.Integer("sliding_window").value_or(0);
    if (length == 0 && !config_.Has("sliding_window")) length = family.window;
    if (length == 0) return;
    model_.window = length;
    model_.window_global_every = config_.Integer("sliding_window_pattern|_sliding_window_pattern")
                                     .value_or(family.window_global_every);
    if (!family.window_switch.empty()) {
      model_.window_global_layers = config_.Integer("max_window_layers").value_or(28);
    }
    ReadLayerTypes();
  }

  // layer_types spells out which layers see the whole sequence.
  void ReadLayerTypes() {
    const Entry* entry = config_.Find("layer_types");
    if (entry == nullptr) return;
    const std::vector<Node>& types = entry->value.items;
    const auto count = static_cast<std::int64_t>(types.size());
    if (count != model_.layers) {
      config_.Report("layer_types",
                     fmt::format("expected {} entries, one a layer, got {}", model_.layers, count));
      return;
    }
    const auto fits = [&](std::int64_t leading, std::int64_t every) {
      for (std::int64_t i = 0; i < count; ++i) {
        const bool global = i < leading || (every > 0 && (i + 1) % every == 0);
        if (global != (types[static_cast<std::size_t>(i)].text == "full_attention")) return false;
      }
      return true;
    };
    const auto leading = std::ranges::find(types, "sliding_attention", &Node::text);
    const std::int64_t first = leading - types.begin();
    if (first == count) {
      model_.window = 0;
      return;
    }
    // Few layers have few periods to try; a long list of garbage has at most most_periods.
    constexpr std::int64_t most_periods = 64;
    for (const std::int64_t start : {std::int64_t{0}, first}) {
      for (std::int64_t every = 0; every <= std::min(count, most_periods); ++every) {
        if (every == 1 || !fits(start, every)) continue;
        model_.window_global_layers = start;
        model_.window_global_every = every;
        return;
      }
    }
    config_.Report("layer_types",
                   "expected a pattern: leading layers of full_attention, and every n-th");
  }

  // llm-analysis has mlp_gated_linear_units, false where it is absent, and then gives models whose
  // MLP is gated the width 4 h of an MLP without gate and of nearly the same size.
  void ReadShortMlp(const HuggingFaceFamily& family) {
    const auto gated = config_.Flag("mlp_gated_linear_units");
    model_.gated_mlp = gated.value_or(family.gated_mlp && model_.ffn_hidden != 4 * model_.hidden);
    if (!gated && family.gated_mlp && !model_.gated_mlp) {
      config_.Warn("ffn_embed_dim",
                   fmt::format("{} is 4 hidden_dim without mlp_gated_linear_units: taken as an MLP "
                               "without gate; {} has a gated one of about 2/3 of that width",
                               model_.ffn_hidden, family.type));
    }
  }

  std::string Name() const {
    std::string name = config_.Text("name");
    if (name.empty()) name = config_.Text("_name_or_path");
    while (name.ends_with('/')) name.pop_back();
    name = name.substr(name.rfind('/') + 1);
    if (!name.empty() && name != "." && name != "..") return name;
    const std::filesystem::path path(file_);
    const std::string folder = path.parent_path().filename().string();
    if (path.stem() != "config") return path.stem().string();
    return folder.empty() || folder == "." || folder == ".." ? config_.Text("model_type") : folder;
  }

  const Node& root_;
  const HuggingFaceConfig config_;
  const std::string& file_;
  Problems* const problems_;
  const std::size_t before_;  // errors that are not of this import
  HuggingFaceModel model_;
};

}  // namespace

std::optional<Node> ModelOfHuggingFace(const Node& config, const std::string& file,
                                       Problems* problems) {
  const Node* text = config.Find("text_config");
  if (text == nullptr || !text->is_map()) text = &config;
  return Importer(config, *text, file, problems).Run();
}

}  // namespace zerosim
