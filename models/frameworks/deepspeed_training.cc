// What a DeepSpeed configuration says of gradients, precision and batch sizes.
#include <algorithm>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "models/core/units_text.h"
#include "models/frameworks/deepspeed_batch.h"
#include "models/frameworks/deepspeed_importer.h"

namespace zerosim {
namespace {

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

}  // namespace

void DeepSpeedImporter::ImportGradients() {
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

void DeepSpeedImporter::ImportGradientPrecision() {
  const char* const path = "data_types.grad_accum_dtype";
  const std::string kept = file_.Text(path);
  if (kept.empty() || kept == "fp16" || kept == "bf16") return;
  const Entry& entry = *file_.Find(path);
  if (kept != "fp32") {
    file_.Report(entry, path, "expected fp16, bf16 or fp32, got " + Describe(entry.value));
  } else if (stage_ < 2) {
    file_.Report(
        entry, path,
        fmt::format(
            "gradients in fp32 are modelled as DeepSpeed's in stages 2 and 3 only, not in stage {}",
            stage_));
  } else if (!OwnWins(entry, path, "zero.gradient_precision", "fp32")) {
    PutText(&zero_, "gradient_precision", "fp32", entry);
  }
}

void DeepSpeedImporter::ImportPrecision() {
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

void DeepSpeedImporter::ImportBatch() {
  BatchSizes sizes;
  for (const Size& size : kBatchSizes) {
    const std::string own_path = JoinPath("training", size.key);
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
    const std::string own_path = JoinPath("training", size.key);
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

}  // namespace zerosim
