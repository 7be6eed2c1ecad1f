// How deepspeed_config.h does it: one pass over the keys, by what they decide.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "models/frameworks/deepspeed_config.h"
#include "models/frameworks/deepspeed_file.h"
#include "models/frameworks/sections.h"
#include "models/scenario/keys.h"

namespace zerosim {

class DeepSpeedImporter {
 public:
  DeepSpeedImporter(const Node& config, const DeepSpeedContext& context, Problems* problems)
      : config_(config),
        context_(context),
        problems_(problems),
        file_(config, context.in_neox, problems) {}

  Node Run();

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

}  // namespace zerosim
