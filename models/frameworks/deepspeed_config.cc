#include "models/frameworks/deepspeed_config.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "models/core/units_text.h"
#include "models/frameworks/deepspeed_batch.h"
#include "models/frameworks/deepspeed_file.h"
#include "models/frameworks/known_problems.h"
#include "models/frameworks/sections.h"
#include "models/scenario/keys.h"

namespace zerosim {
namespace {

// Above every model, so no limit: DeepSpeed's default is sys.maxsize.
constexpr double kNoLimit = 1e15;

std::string Join(std::string_view path, std::string_view key) {
  return path.empty() ? std::string(key) : fmt::format("{}.{}", path, key);
}

// A batch size: its key there, its key in the section training:.
struct Size {
  const char* path;
  const char* key;  // of the section training:
  std::optional<GivenSize> BatchSizes::*member;
};
constexpr Size kBatchSizes[] = {
    {"train_batch_size", "global_batch_size", &BatchSizes::train},
    {"train_micro_batch_size_per_gpu", "micro_batch_size", &BatchSizes::micro},
    {"gradient_accumulation_steps", "gradient_accumulation_steps", &BatchSizes::steps},
};

class Importer {
 public:
  Importer(const Node& config, const DeepSpeedContext& context, Problems* problems)
      : config_(config),
        context_(context),
        problems_(problems),
        file_(config, context.in_neox, problems) {}

  Node Run() {
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

 private:
  void ImportStage();
  void ImportCopiedKeys();
  void ImportMics();
  void ImportHiddenSizes();
  void FillFromHidden(const char* path, const char* zero_key, std::int64_t value,
                      std::string_view formula);
  void ImportGradients();
  void ImportGradientPrecision();
  void ImportPrecision();
  void ImportBatch();
  void ImportOffload(const char* name, const char* old_name);
  void RefuseOtherOptimizers();

  const Node* Own(std::string_view path) const { return FindPath(context_.own, path); }
  // Leaves `entry` to what the scenario says, and tells so if that is something else.
  bool OwnWins(const Entry& entry, std::string_view path, std::string_view own_path,
               const std::string& text);

  // Whether a key of the scenario can have that value, which is reported if not.
  bool CheckRange(const Entry& entry, std::string_view path, const KeySpec& spec,
                  std::int64_t value);

  Location PlaceOfSection(std::string_view path) const {
    const Entry* entry = file_.Find(path);
    return entry == nullptr ? config_.where : entry->where;
  }

  const Node& config_;
  const DeepSpeedContext& context_;
  Problems* const problems_;
  DeepSpeedFile file_;
  int stage_ = 0;
  Node zero_;
  Node training_;
};

bool Importer::CheckRange(const Entry& entry, std::string_view path, const KeySpec& spec,
                          std::int64_t value) {
  const auto number = static_cast<double>(value);
  if (number >= spec.low && number <= spec.high) return true;
  file_.Report(
      entry, path,
      fmt::format("expected a whole number {}, got {}", RangeText(spec), Describe(entry.value)));
  return false;
}

bool Importer::OwnWins(const Entry& entry, std::string_view path, std::string_view own_path,
                       const std::string& text) {
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

void Importer::ImportStage() {
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

void Importer::ImportCopiedKeys() {
  for (const DeepSpeedKey& key : DeepSpeedKeys()) {
    if (key.zero_key.empty() || key.zero_key == "stage") continue;
    const Entry* entry = file_.Given(key.path);
    if (entry == nullptr) continue;
    const KeySpec* spec = FindKey(Join("zero", key.zero_key));
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
void Importer::ImportMics() {
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

void Importer::FillFromHidden(const char* path, const char* zero_key, std::int64_t value,
                              std::string_view formula) {
  if (!file_.IsAuto(path) || Own(Join("zero", zero_key)) != nullptr) return;
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

void Importer::ImportHiddenSizes() {
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

void Importer::ImportGradients() {
  const char* const scatter_path = "zero_optimization.reduce_scatter";
  const char* const ranks_path = "zero_optimization.use_multi_rank_bucket_allreduce";
  const bool scatter = file_.Flag(scatter_path).value_or(true);
  const bool all_ranks = file_.Flag(ranks_path).value_or(true);
  const bool sums_all = stage_ == 3 ? !scatter : !scatter || all_ranks;
  const bool is_default = sums_all == (stage_ != 3);
  if (stage_ > 0 && !is_default) {
    const Entry& entry = *file_.Find(stage_ == 3 ? scatter_path : ranks_path);
    const std::string text = sums_all ? "all_reduce" : "reduce_scatter";
    if (!OwnWins(entry, stage_ == 3 ? scatter_path : ranks_path, "zero.gradient_collective",
                 text)) {
      PutText(&zero_, "gradient_collective", text, entry);
    }
  }

  // Both are asserted against in stage3.py and stage_1_and_2.py.
  const bool refused = stage_ >= 2 && scatter;
  const auto check = [&](const char* path, bool asks) {
    if (!asks) return;
    const Entry& entry = *file_.Find(path);
    if (refused) {
      file_.Report(entry, path,
                   fmt::format("DeepSpeed refuses it in stage {} with reduce_scatter", stage_));
    } else {
      file_.Note(entry, path, "no effect on a step: it moves a multiplication");
    }
  };
  check("prescale_gradients", file_.Flag("prescale_gradients").value_or(false));
  const Entry* factor = file_.Given("gradient_predivide_factor");
  check("gradient_predivide_factor",
        factor != nullptr && !(factor->value.is_text() && IsOneOf(factor->value.text, "1")));

  const std::string sent = file_.Text("communication_data_type");
  if (!sent.empty() && sent != "fp16" && sent != "bf16") {
    const Entry& entry = *file_.Find("communication_data_type");
    file_.Report(entry, "communication_data_type",
                 sent == "fp32" ? "sending gradients in fp32 is not modelled; leave it out"
                                : "expected fp16, bf16 or fp32, got " + Describe(entry.value));
  }
  ImportGradientPrecision();
}

void Importer::ImportGradientPrecision() {
  const char* const path = "data_types.grad_accum_dtype";
  const std::string kept = file_.Text(path);
  if (kept.empty() || kept == "fp16" || kept == "bf16") return;
  const Entry& entry = *file_.Find(path);
  if (kept != "fp32") {
    file_.Report(entry, path, "expected fp16, bf16 or fp32, got " + Describe(entry.value));
  } else if (stage_ < 2) {
    file_.Report(
        entry, path,
        fmt::format("gradients in fp32 are modelled in stages 2 and 3 only, not in stage {}",
                    stage_));
  } else if (!OwnWins(entry, path, "zero.gradient_precision", "fp32")) {
    PutText(&zero_, "gradient_precision", "fp32", entry);
  }
}

void Importer::ImportPrecision() {
  const char* const fp16 = "fp16.enabled";
  const char* const bf16 = "bf16.enabled";
  const bool half = file_.Flag(fp16).value_or(false);
  const bool brain = file_.Flag(bf16).value_or(false);
  const Node* own = Own("training.precision");
  if (half && brain) {
    file_.Report(*file_.Find(bf16), bf16,
                 fmt::format("fp16 is enabled too (line {}), which DeepSpeed refuses",
                             file_.Find(fp16)->where.line));
    return;
  }
  if (half || brain) {
    const char* const path = half ? fp16 : bf16;
    const std::string precision = half ? "fp16" : "bf16";
    if (OwnWins(*file_.Find(path), path, "training.precision", precision)) return;
    PutText(&training_, "precision", precision, *file_.Find(path));
    return;
  }
  if (own != nullptr) return;
  for (const char* path : {bf16, fp16}) {
    if (!file_.IsAuto(path)) continue;
    file_.Note(*file_.Find(path), path, "auto is training.precision, fp16 if that is not given");
    return;
  }
  const std::string what =
      "neither fp16 nor bf16 is enabled; DeepSpeed then trains in fp32, which is not supported";
  if (context_.own == nullptr) {
    problems_->Note(config_.where, what + ": give training.precision");
  } else {
    problems_->Add(config_.where, what +
                                      "; give training.precision in the scenario if it is "
                                      "enabled elsewhere");
  }
}

void Importer::ImportBatch() {
  BatchSizes sizes;
  for (const Size& size : kBatchSizes) {
    const std::string own_path = Join("training", size.key);
    const std::optional<std::int64_t> value = file_.Whole(size.path);
    if (value == 0) file_.Report(*file_.Find(size.path), size.path, "expected at least 1, got 0");
    if (value && *value > 0)
      sizes.*size.member = GivenSize{*value, file_.Find(size.path)->value.where};
    const Node* own = Own(own_path);
    if (own == nullptr) continue;
    if (value) OwnWins(*file_.Find(size.path), size.path, own_path, std::to_string(*value));
    const auto own_value = own->is_text() ? ParseInteger(own->text) : std::optional<std::int64_t>();
    if (own_value && *own_value > 0) sizes.*size.member = GivenSize{*own_value, own->where, true};
  }
  // What the scenario gives alone is the reader's to check.
  const bool any = std::ranges::any_of(
      kBatchSizes, [&](const Size& s) { return sizes.*s.member && !(sizes.*s.member)->own; });
  if (any) sizes = CompleteBatch(sizes, context_.ranks, problems_);
  const bool open = !context_.ranks && sizes.train && (!sizes.micro || !sizes.steps);
  if (open) {
    problems_->Note(sizes.train->where,
                    "train_batch_size: the other sizes follow from the number of ranks, which is "
                    "not known");
  }

  for (const Size& size : kBatchSizes) {
    const std::optional<GivenSize>& value = sizes.*size.member;
    const std::string own_path = Join("training", size.key);
    if (!open && file_.IsAuto(size.path) && size.member != &BatchSizes::train) {
      file_.Note(*file_.Find(size.path), size.path,
                 fmt::format("auto is {}, {}", own_path,
                             value ? std::to_string(value->value) : "1 if that is not given"));
    }
    if (!value || value->own || Own(own_path) != nullptr) continue;
    PutText(&training_, size.key, std::to_string(value->value),
            {std::string(), value->where, TextNode("", value->where)});
  }
}

// The section `name` of what is offloaded. `old_name`: a flag that means device: cpu, whatever the
// section says. What is not offloaded has no other keys.
void Importer::ImportOffload(const char* name, const char* old_name) {
  const std::string section = Join("zero_optimization", name);
  const std::string own_section = Join("zero", name);
  const auto path = [&](const char* key) { return Join(section, key); };
  Node offload = MapNode(PlaceOfSection(section));
  const auto put = [&](const char* key, const std::string& text, const Entry& entry,
                       const std::string& from) {
    if (!OwnWins(entry, from, Join(own_section, key), text)) PutText(&offload, key, text, entry);
  };

  std::string device = file_.Text(path("device"));
  std::string from = path("device");
  if (file_.Flag(Join("zero_optimization", old_name)).value_or(false)) {
    device = "cpu";
    from = Join("zero_optimization", old_name);
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
  const Node* own = Own(Join(own_section, "device"));
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

void Importer::RefuseOtherOptimizers() {
  const char* const path = "optimizer.type";
  const std::string type = file_.Text(path);
  if (type.empty() || IsOneOf(type, "adam|adamw|fusedadam|fused_adam|muadam|muadamw")) return;
  file_.Report(*file_.Find(path), path,
               "only Adam's states, 12 bytes a weight with the fp32 copy, are modelled, got " +
                   Describe(file_.Find(path)->value));
}

}  // namespace

Node ImportDeepSpeed(const Node& config, const DeepSpeedContext& context, Problems* problems) {
  return Importer(config, context, problems).Run();
}

}  // namespace zerosim
