// The keys of a DeepSpeed configuration, found by the names of deepspeed_keys.h.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/frameworks/deepspeed_keys.h"
#include "models/scenario/document.h"

namespace zerosim {

// Python's and YAML's spellings too, as GPT-NeoX files have them: True, and 1 for true.
std::optional<bool> AsFlag(const Node& node);

// Whether `text` is one of `choices`, "false|0", as a text or as a number.
bool IsOneOf(std::string_view text, std::string_view choices);

class DeepSpeedFile {
 public:
  // Sorts the keys of `config` and reports those that are unknown, given twice, or refused whatever
  // the others say. With `in_neox`, a key of GPT-NeoX in the section fp16 is none of them. `config`
  // and `problems` must outlive this.
  DeepSpeedFile(const Node& config, bool in_neox, Problems* problems);

  // The entry of the key `path` of the table, or null.
  const Entry* Find(std::string_view path) const;
  // The same, if it has a value other than null and "auto".
  const Entry* Given(std::string_view path) const;
  bool IsAuto(std::string_view path) const;
  // All keys below zero_optimization that are "auto".
  std::vector<std::string> AutoKeysOfZero() const;

  // The value of `path`, if it is given; one of another form is reported. A text is in lower case,
  // and "" if there is none.
  std::optional<bool> Flag(std::string_view path);
  std::optional<std::int64_t> Whole(std::string_view path);
  std::string Text(std::string_view path);

  void Report(const Entry& entry, std::string_view path, std::string_view what);
  void Note(const Entry& entry, std::string_view path, std::string_view what);
  // One note for each reason why keys have no effect on a step.
  void NoteWithoutEffect();

 private:
  void Walk(const Node& section, const std::string& path);
  void Take(const Entry& entry, const DeepSpeedKey& key, const std::string& shown);
  void ReportUnknown(const Entry& entry, const std::string& section);

  const bool in_neox_;
  Problems* const problems_;
  std::map<std::string, const Entry*, std::less<>> given_;
  // What has no effect, by reason, in the order of the file.
  std::vector<std::pair<std::string_view, std::vector<std::pair<Location, std::string>>>> idle_;
};

}  // namespace zerosim
