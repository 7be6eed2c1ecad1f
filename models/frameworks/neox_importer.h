// How neox_config.h does it: one pass over the keys, by what they decide.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "models/frameworks/neox_config.h"
#include "models/frameworks/sections.h"

namespace zerosim {

class NeoxImporter {
 public:
  NeoxImporter(const Node& config, const NeoxContext& context, Problems* problems)
      : config_(config),
        context_(context),
        problems_(problems),
        model_(MapNode(config.where)),
        training_(MapNode(config.where)),
        parallelism_(MapNode(config.where)) {}

  Node Run();

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
  const Entry* Take(std::string_view key);
  void Report(const Entry& entry, std::string_view what);
  std::optional<std::int64_t> Whole(std::string_view key);
  bool Flag(std::string_view key, bool fallback);
  std::string Text(std::string_view key, std::string fallback);
  const Node* Own(std::string_view path) const { return FindPath(context_.own, path); }
  // Puts a key into the section of that name, at the place of `key`.
  void Put(std::string_view section, std::string_view scenario_key, std::string text,
           std::string_view key);

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

}  // namespace zerosim
