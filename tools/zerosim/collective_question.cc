#include "tools/zerosim/collective_question.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/collectives/algorithms.h"
#include "models/core/units_text.h"
#include "models/nccl/overrides.h"
#include "tools/zerosim/command.h"

namespace zerosim {
namespace {

template <typename Enum, std::size_t kCount>
std::vector<std::string> NamesOf(const Enum (&values)[kCount]) {
  std::vector<std::string> names;
  for (const Enum value : values) names.emplace_back(NameOf(value));
  return names;
}

// As nccl-tests reads them: a number and perhaps K, M, G or T, powers of 1024.
Bytes ParseTestSize(const char* option, const std::string& text) {
  std::string number = text;
  double unit = 1;
  const std::string_view units = "KMGT";
  if (!number.empty()) {
    const std::size_t power =
        units.find(static_cast<char>(std::toupper(static_cast<unsigned char>(number.back()))));
    if (power != std::string_view::npos) {
      unit = std::pow(1024.0, static_cast<double>(power) + 1);
      number.pop_back();
    }
  }
  const std::optional<double> value = ParseNumber(number);
  const double most = 1e15;
  if (!value || *value * unit < 1 || *value * unit > most) {
    throw UsageError(
        fmt::format("{}: expected a size from 1 byte to 1e15 such as 8, 64K or 8G, "
                    "got \"{}\"",
                    option, text));
  }
  return Bytes::Count(std::llround(*value * unit));
}

template <typename Enum, std::size_t kCount>
Enum ValueOf(const std::string& name, const Enum (&values)[kCount]) {
  return *std::ranges::find_if(values, [&](Enum value) { return NameOf(value) == name; });
}

}  // namespace

std::vector<std::string> CollectiveNames() {
  return NamesOf(kCollectiveKinds);
}

std::vector<std::string> AlgorithmNames() {
  std::vector<std::string> names = NamesOf(kAlgorithms);
  names.insert(names.begin(), {kNccl, kBest});
  return names;
}

CollectiveQuestion QuestionOf(const CollectiveOptions& options, const std::string& algorithm) {
  CollectiveQuestion question;
  question.kind = ValueOf(options.op, kCollectiveKinds);
  question.best = algorithm == kBest;
  if (algorithm != kNccl && !question.best) question.algorithm = ValueOf(algorithm, kAlgorithms);
  const std::optional<NcclVersion> version = ParseNcclVersion(options.nccl);
  if (!version) {
    throw UsageError(
        fmt::format("--nccl: expected a version such as 2.27.5, got \"{}\"", options.nccl));
  }
  question.version = *version;
  for (const std::string& variable : options.env) {
    if (const auto problem = SetVariable(variable, &question.overrides)) {
      const bool named = variable.find('=') != std::string::npos;
      throw UsageError(fmt::format("--env{} {}", named ? "" : ":", *problem));
    }
  }
  if (question.algorithm && !options.env.empty()) {
    throw UsageError(fmt::format("--env has no effect with --algorithm {}", algorithm));
  }
  question.gpus_per_process = options.gpus_per_process;
  const Bytes least = ParseTestSize("--min", options.least);
  const Bytes most = ParseTestSize("--max", options.most);
  if (most < least) {
    throw UsageError(fmt::format("--max {} is less than --min {}", options.most, options.least));
  }
  question.sizes = Sizes(least, most, options.factor);
  return question;
}

std::vector<Seconds> TakeLog(const CollectiveOptions& options, const NcclTestsLog& log,
                             CollectiveQuestion* question) {
  if (log.rows.empty()) {
    throw UsageError(fmt::format("{}: no rows of nccl-tests in it", options.compare));
  }
  if (!options.op_given) {
    const auto* kind = std::ranges::find_if(kCollectiveKinds, [&](CollectiveKind candidate) {
      return log.collective && NcclKindOf(candidate) == *log.collective;
    });
    if (kind == std::end(kCollectiveKinds)) {
      throw UsageError(
          fmt::format("{}: does not say which collective; give --op", options.compare));
    }
    question->kind = *kind;
  }
  if (log.version && !options.nccl_given) question->version = *log.version;
  if (log.gpus_per_process) question->gpus_per_process = *log.gpus_per_process;
  const int nodes = log.nodes();
  if (options.nodes == 0 && nodes > 0) question->nodes = nodes;
  if (options.gpus_per_node == 0 && nodes > 0) {
    question->gpus_per_node = static_cast<int>(log.ranks.size()) / nodes;
  }
  std::vector<Seconds> measured;
  question->sizes.clear();
  for (const NcclTestsRow& row : log.rows) {
    Seconds time = row.out_of_place ? row.out_of_place->time : Seconds();
    if (row.in_place && (time == Seconds() || row.in_place->time < time)) time = row.in_place->time;
    if (row.size <= Bytes() || time <= Seconds()) continue;
    question->sizes.push_back(row.size);
    measured.push_back(time);
  }
  return measured;
}

}  // namespace zerosim
