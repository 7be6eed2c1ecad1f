#include "models/scenario/key_check.h"

#include <algorithm>

#include <fmt/format.h>

namespace zerosim {

bool KeyCheck::Know(std::initializer_list<std::string_view> paths) const {
  return std::ranges::all_of(paths, [&](std::string_view path) {
    return !problems_->IsDoubted(path) && places_.Trusts(path);
  });
}

bool KeyCheck::KnowRanks() const {
  return Know({"cluster.nodes", "cluster.node.gpus"}) && Ranks() <= kMostRanks;
}

bool KeyCheck::KnowParallelism() const {
  return KnowRanks() &&
         Know({"parallelism.tensor", "parallelism.context", "parallelism.pipeline",
               "parallelism.order"}) &&
         Ranks() % ModelRanks() == 0;
}

bool KeyCheck::KnowPositions() const {
  if (!Know({"model.position"})) return false;
  if (s_.model.position != Position::kLearned) return true;
  return Know({"model.max_positions"}) &&
         (places_.Has("model.max_positions") || Know({"training.sequence_length"}));
}

void KeyCheck::Report(std::string_view path, const std::string& what) {
  problems_->Add(places_.Of(path), fmt::format("{}: {}", path, what));
}

std::string KeyCheck::Mention(std::string_view path, std::string_view from) const {
  return places_.Mention(path, places_.Of(from));
}

std::int64_t KeyCheck::Ranks() const {
  return std::int64_t{s_.cluster.nodes} * std::int64_t{s_.cluster.node.gpus};
}

std::int64_t KeyCheck::ModelRanks() const {
  const ParallelSpec& p = s_.parallel;
  return std::int64_t{p.tensor} * p.context * p.pipeline;
}

}  // namespace zerosim
