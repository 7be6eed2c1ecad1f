// Keys of a config.json, asked for by any of their names, and the section that is made of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "models/scenario/document.h"

namespace zerosim {

// Names are alternatives, separated by '|'; the first that is there and not null counts. A value of
// a wrong form is reported and reads as absent.
class HuggingFaceConfig {
 public:
  // `outer` holds keys for which `node` has none (a multimodal file around its text_config), or is
  // null.
  HuggingFaceConfig(const Node& node, const Node* outer, Problems* problems)
      : node_(node), outer_(outer), problems_(problems) {}

  // The keys of a section of this one.
  HuggingFaceConfig Inside(const Node& section) const { return {section, nullptr, problems_}; }

  const Entry* Find(std::string_view names) const;
  bool Has(std::string_view name) const;  // though it be null
  std::optional<std::int64_t> Integer(std::string_view names) const;
  std::optional<bool> Flag(std::string_view names) const;
  std::string Text(std::string_view names) const;  // "" if there is none
  Location Where(std::string_view names) const;    // or the file's begin

  void Report(std::string_view names, std::string_view what) const;
  void Warn(std::string_view names, std::string_view what) const;

 private:
  const Node& node_;
  const Node* outer_;
  Problems* const problems_;
};

// Appends to a section.
void SetText(Node* section, std::string_view key, std::string text, const Location& where);
void SetInteger(Node* section, std::string_view key, std::int64_t value, const Location& where);
void SetFlag(Node* section, std::string_view key, bool value, const Location& where);
// An empty section, to be filled before the next is added.
Node* SetSection(Node* section, std::string_view key, const Location& where);

}  // namespace zerosim
