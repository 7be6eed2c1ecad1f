#include "models/frameworks/deepspeed_batch.h"

#include <string>
#include <string_view>

#include <fmt/format.h>

namespace zerosim {
namespace {

constexpr std::string_view kTrain = "train_batch_size";
constexpr std::string_view kMicro = "train_micro_batch_size_per_gpu";
constexpr std::string_view kSteps = "gradient_accumulation_steps";

// "train_batch_size 32 (s.yaml:8:3)" for a size that stands elsewhere than `from`.
std::string Named(std::string_view key, const GivenSize& size, const Location& from) {
  const std::string text = fmt::format("{} {}", key, size.value);
  if (size.where.file != from.file) {
    return fmt::format("{} ({})", text, Place(size.where));
  }
  return size.where.line == from.line ? text : fmt::format("{} (line {})", text, size.where.line);
}

// train / (other x ranks), or nothing if it does not divide, which is reported.
std::optional<GivenSize> Quotient(const GivenSize& train, std::string_view key,
                                  const GivenSize& other, std::int64_t ranks, Problems* problems) {
  if (train.value % other.value == 0 && train.value / other.value % ranks == 0) {
    return GivenSize{train.value / other.value / ranks, train.where, false};
  }
  problems->Add(train.where, fmt::format("{}: expected a multiple of {} x {} ranks, got {}", kTrain,
                                         Named(key, other, train.where), ranks, train.value));
  return std::nullopt;
}

void CheckProduct(BatchSizes* sizes, std::int64_t ranks, Problems* problems) {
  const GivenSize& train = *sizes->train;
  // Compared by division, so that no product overflows.
  if (train.value % ranks == 0 && train.value / ranks % sizes->micro->value == 0 &&
      train.value / ranks / sizes->micro->value == sizes->steps->value) {
    return;
  }
  const std::string product =
      fmt::format("{} x {} x {} ranks", Named(kMicro, *sizes->micro, train.where),
                  Named(kSteps, *sizes->steps, train.where), ranks);
  if (train.own) return;  // the reader holds global_batch_size to it, with advice
  if (sizes->micro->own || sizes->steps->own) {
    problems->Warn(train.where, fmt::format("{}: {} does not hold; the scenario's training section "
                                            "wins: {}",
                                            kTrain, train.value, product));
    sizes->train.reset();
    return;
  }
  problems->Add(train.where, fmt::format("{}: expected {}, got {}", kTrain, product, train.value));
}

}  // namespace

BatchSizes CompleteBatch(BatchSizes sizes, std::optional<std::int64_t> ranks, Problems* problems) {
  if (!ranks || !sizes.train) return sizes;
  if (sizes.micro && sizes.steps) {
    CheckProduct(&sizes, *ranks, problems);
  } else if (sizes.micro) {
    sizes.steps = Quotient(*sizes.train, kMicro, *sizes.micro, *ranks, problems);
  } else {
    if (!sizes.steps) sizes.steps = GivenSize{1, sizes.train->where, false};
    sizes.micro = Quotient(*sizes.train, kSteps, *sizes.steps, *ranks, problems);
  }
  return sizes;
}

}  // namespace zerosim
