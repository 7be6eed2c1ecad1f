#include "models/frameworks/deepspeed_config.h"

#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "models/core/units_text.h"
#include "models/frameworks/deepspeed_importer.h"

namespace zerosim {
namespace {

// Above every model, so no limit: DeepSpeed's default is sys.maxsize.
constexpr double kNoLimit = 1e15;

}  // namespace

Node DeepSpeedImporter::Run() {
  zero_ = MapNode(PlaceOfSection("zero_optimization"));
  training_ = MapNode(config_.where);
  ImportStage();
  ImportCopiedKeys();
  ImportMics();
  ImportHiddenSizes();
  ImportGradients();
  ImportPrecision();
  ImportBatch();
  ImportOffload("offload_optimizer", "cpu_offload");
  ImportOffload("offload_param", "cpu_offload_param");
  RefuseOtherOptimizers();
  file_.NoteWithoutEffect();

  Node sections = MapNode(config_.where);
  const Location zero_where = zero_.where;
  sections.entries.push_back({"zero", zero_where, std::move(zero_)});
  sections.entries.push_back({"training", config_.where, std::move(training_)});
  return sections;
}

bool DeepSpeedImporter::CheckRange(const Entry& entry, std::string_view path, const KeySpec& spec,
                                   std::int64_t value) {
  const auto number = static_cast<double>(value);
  if (number >= spec.low && number <= spec.high) return true;
  file_.Report(
      entry, path,
      fmt::format("expected a whole number {}, got {}", RangeText(spec), Describe(entry.value)));
  return false;
}

bool DeepSpeedImporter::OwnWins(const Entry& entry, std::string_view path,
                                std::string_view own_path, const std::string& text) {
  const Node* own = Own(own_path);
  if (own == nullptr) return false;
  const auto number = ParseNumber(text);
  const bool same =
      own->is_text() && (own->text == text || (number && number == ParseNumber(own->text)));
  if (!same) {
    problems_->Warn(entry.where,
                    fmt::format("{}: {} here; {} {} ({}) wins", path, text, own_path,
                                own->is_text() ? own->text : Describe(*own), Place(own->where)));
  }
  return true;
}

void DeepSpeedImporter::ImportStage() {
  const char* const path = "zero_optimization.stage";
  const Entry* section = file_.Find("zero_optimization");
  std::int64_t stage = file_.Whole(path).value_or(0);
  if (section != nullptr && AsFlag(section->value).value_or(false)) stage = 1;
  const Entry* entry = file_.Given(path);
  if (entry == nullptr) entry = section;
  const Entry none{"zero_optimization", config_.where, TextNode("", config_.where)};
  if (entry == nullptr) entry = &none;

  if (!CheckRange(*entry, path, *FindKey("zero.stage"), stage)) stage = 0;
  const std::string text = std::to_string(stage);
  if (OwnWins(*entry, path, "zero.stage", text)) {
    const Node* own = Own("zero.stage");
    stage = own->is_text() ? ParseInteger(own->text).value_or(0) : 0;
  } else {
    PutText(&zero_, "stage", text, *entry);
  }
  stage_ = stage >= 0 && stage <= 3 ? static_cast<int>(stage) : 0;
}

void DeepSpeedImporter::ImportCopiedKeys() {
  for (const DeepSpeedKey& key : DeepSpeedKeys()) {
    if (key.zero_key.empty() || key.zero_key == "stage") continue;
    const Entry* entry = file_.Given(key.path);
    if (entry == nullptr) continue;
    const KeySpec* spec = FindKey(JoinPath("zero", key.zero_key));
    std::string text;
    if (spec->type == KeyType::kFlag || spec->type == KeyType::kFlagOrSection) {
      const std::optional<bool> flag = file_.Flag(key.path);
      if (!flag) continue;
      text = *flag ? "true" : "false";
    } else {
      std::optional<std::int64_t> count = file_.Whole(key.path);
      if (!count) continue;
      // No secondary group: DeepSpeed takes 0 for 1.
      if (key.zero_key == "secondary_partition_size" && *count == 0) count = 1;
      if (!CheckRange(*entry, key.path, *spec, *count)) continue;
      text = std::to_string(*count);
    }
    if (OwnWins(*entry, key.path, spec->path, text)) continue;
    PutText(&zero_, key.zero_key, text, *entry);
  }

  const char* const limit = "zero_optimization.stage3_model_persistence_threshold";
  if (const Entry* entry = file_.Given(limit)) {
    const auto value =
        entry->value.is_text() ? ParseNumber(entry->value.text) : std::optional<double>();
    if (!value) {
      file_.Report(*entry, limit, "expected a whole number, got " + Describe(entry->value));
    } else if (*value < kNoLimit) {
      file_.Report(*entry, limit,
                   "a limit on all weights that stay gathered is not modelled; leave it "
                   "out");
    }
  }
}

// runtime/zero/mics.py; the engine asks for it in stage 3 only, and takes any size below 1 for
// none.
void DeepSpeedImporter::ImportMics() {
  const char* const path = "zero_optimization.mics_shard_size";
  const char* const hops = "zero_optimization.mics_hierarchical_params_gather";
  const Entry* entry = file_.Given(path);
  const bool is_off = entry == nullptr || (entry->value.is_text() && entry->value.text == "-1");
  const std::int64_t size = is_off ? 0 : file_.Whole(path).value_or(0);
  const bool acts = size > 0 && stage_ == 3;
  if (size > 0 && !acts) {
    file_.Note(*entry, path, fmt::format("no effect in stage {}; MiCS is of stage 3", stage_));
  }
  if (file_.Flag(hops).value_or(false)) {
    file_.Note(*file_.Find(hops), hops,
               acts
                   ? "gathers between nodes, then in the node, are simulated as one all-gather, by "
                     "collectives.algorithm"
                   : "no effect without mics_shard_size in stage 3");
  }
  if (!acts || !CheckRange(*entry, path, *FindKey("zero.shard_size"), size)) return;
  const std::string text = std::to_string(size);
  if (!OwnWins(*entry, path, "zero.shard_size", text)) PutText(&zero_, "shard_size", text, *entry);
}

void DeepSpeedImporter::FillFromHidden(const char* path, const char* zero_key, std::int64_t value,
                                       std::string_view formula) {
  if (!file_.IsAuto(path) || Own(JoinPath("zero", zero_key)) != nullptr) return;
  const Entry& entry = *file_.Find(path);
  if (!context_.hidden) {
    file_.Note(entry, path,
               fmt::format("auto is {}, and the model's hidden size is not known", formula));
    return;
  }
  file_.Note(entry, path,
             fmt::format("auto is {} = {} with hidden {}, as in the Hugging Face integration",
                         formula, value, *context_.hidden));
  PutText(&zero_, zero_key, std::to_string(value), entry);
}

void DeepSpeedImporter::ImportHiddenSizes() {
  // The integration computes 0.9 * hidden * hidden in doubles and cuts.
  const std::int64_t hidden = context_.hidden.value_or(0);
  const auto h = static_cast<double>(hidden);
  FillFromHidden("zero_optimization.reduce_bucket_size", "reduce_bucket_size", hidden * hidden,
                 "hidden^2");
  if (stage_ == 3) {
    FillFromHidden("zero_optimization.stage3_prefetch_bucket_size", "prefetch_bucket_size",
                   static_cast<std::int64_t>(0.9 * h * h), "int(0.9 hidden^2)");
    FillFromHidden("zero_optimization.stage3_param_persistence_threshold",
                   "param_persistence_threshold", 10 * hidden, "10 hidden");
  }
  // DeepSpeed's own models leave any other "auto" at its default.
  for (const std::string& path : file_.AutoKeysOfZero()) {
    const bool filled_in =
        path == "zero_optimization.reduce_bucket_size" ||
        (stage_ == 3 && (path == "zero_optimization.stage3_prefetch_bucket_size" ||
                         path == "zero_optimization.stage3_param_persistence_threshold"));
    if (!filled_in) file_.Note(*file_.Find(path), path, "auto is DeepSpeed's default");
  }
}

// The section `name` of what is offloaded. `old_name`: a flag that means device: cpu, whatever the
// section says. What is not offloaded has no other keys.
void DeepSpeedImporter::ImportOffload(const char* name, const char* old_name) {
  const std::string section = JoinPath("zero_optimization", name);
  const std::string own_section = JoinPath("zero", name);
  const auto path = [&](const char* key) { return JoinPath(section, key); };
  Node offload = MapNode(PlaceOfSection(section));
  const auto put = [&](const char* key, const std::string& text, const Entry& entry,
                       const std::string& from) {
    if (!OwnWins(entry, from, JoinPath(own_section, key), text))
      PutText(&offload, key, text, entry);
  };

  std::string device = file_.Text(path("device"));
  std::string from = path("device");
  if (file_.Flag(JoinPath("zero_optimization", old_name)).value_or(false)) {
    device = "cpu";
    from = JoinPath("zero_optimization", old_name);
  }
  if (device == "cpu") {
    put("device", device, *file_.Find(from), from);
  } else if (!device.empty() && device != "none") {
    const bool nvme = device == "nvme";
    file_.Report(*file_.Find(from), from,
                 nvme ? "offload to nvme is not modelled; expected cpu or none"
                      : "expected cpu or none, got " + Describe(file_.Find(from)->value));
    return;
  }
  const Node* own = Own(JoinPath(own_section, "device"));
  const bool on = own != nullptr ? own->is_text() && own->text == "cpu" : device == "cpu";
  const std::optional<bool> pinned = file_.Flag(path("pin_memory"));
  if (on && pinned) {
    put("pin_memory", *pinned ? "true" : "false", *file_.Find(path("pin_memory")),
        path("pin_memory"));
  }
  const std::string ratio = path("ratio");
  if (const Entry* entry = on ? file_.Given(ratio) : nullptr) {
    const auto value =
        entry->value.is_text() ? ParseNumber(entry->value.text) : std::optional<double>();
    if (!value || *value < 0 || *value > 1) {
      file_.Report(*entry, ratio, "expected a number from 0 to 1, got " + Describe(entry->value));
    } else if (stage_ != 3) {
      file_.Note(*entry, ratio, fmt::format("no effect in stage {}; it is of stage 3", stage_));
    } else {
      put("ratio", entry->value.text, *entry, ratio);
    }
  }
  if (offload.entries.empty()) return;
  const Location where = offload.where;
  zero_.entries.push_back({name, where, std::move(offload)});
}

void DeepSpeedImporter::RefuseOtherOptimizers() {
  const char* const path = "optimizer.type";
  const std::string type = file_.Text(path);
  if (type.empty() || IsOneOf(type, "adam|adamw|fusedadam|fused_adam|muadam|muadamw")) return;
  file_.Report(*file_.Find(path), path,
               "only Adam's states, 12 bytes a weight with the fp32 copy, are modelled, got " +
                   Describe(file_.Find(path)->value));
}

Node ImportDeepSpeed(const Node& config, const DeepSpeedContext& context, Problems* problems) {
  return DeepSpeedImporter(config, context, problems).Run();
}

}  // namespace zerosim
