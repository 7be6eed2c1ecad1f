#include "models/frameworks/huggingface_config.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "models/core/units_text.h"

namespace zerosim {
namespace {

// Beyond any size of a model, and exact in a double.
constexpr double kMostInteger = 1e15;

const Entry* FindIn(const Node& node, std::string_view name) {
  const auto found = std::ranges::find(node.entries, name, &Entry::key);
  return found == node.entries.end() || found->value.kind == Node::Kind::kNull ? nullptr : &*found;
}

std::string_view FirstOf(std::string_view names) {
  return names.substr(0, names.find('|'));
}

}  // namespace

const Entry* HuggingFaceConfig::Find(std::string_view names) const {
  for (const Node* node : {&node_, outer_}) {
    if (node == nullptr) continue;
    for (std::string_view rest = names; !rest.empty();) {
      const std::size_t bar = std::min(rest.find('|'), rest.size());
      if (const Entry* entry = FindIn(*node, rest.substr(0, bar))) return entry;
      rest.remove_prefix(std::min(bar + 1, rest.size()));
    }
  }
  return nullptr;
}

bool HuggingFaceConfig::Has(std::string_view name) const {
  return node_.Find(name) != nullptr || (outer_ != nullptr && outer_->Find(name) != nullptr);
}

std::optional<std::int64_t> HuggingFaceConfig::Integer(std::string_view names) const {
  const Entry* entry = Find(names);
  if (entry == nullptr) return std::nullopt;
  // JSON knows one kind of number: 4096, 4096.0 and 4.096e3 are the same.
  const auto value = entry->value.is_text() ? ParseNumber(entry->value.text) : std::nullopt;
  if (!value || !(*value >= 0 && *value <= kMostInteger) || std::floor(*value) != *value) {
    problems_->Add(entry->value.where, fmt::format("{}: expected a whole number, got {}",
                                                   entry->key, Describe(entry->value)));
    return std::nullopt;
  }
  return static_cast<std::int64_t>(*value);
}

std::optional<bool> HuggingFaceConfig::Flag(std::string_view names) const {
  const Entry* entry = Find(names);
  if (entry == nullptr) return std::nullopt;
  const std::string& text = entry->value.text;
  if (!entry->value.is_text() || (text != "true" && text != "false")) {
    problems_->Add(entry->value.where, fmt::format("{}: expected true or false, got {}", entry->key,
                                                   Describe(entry->value)));
    return std::nullopt;
  }
  return text == "true";
}

std::string HuggingFaceConfig::Text(std::string_view names) const {
  const Entry* entry = Find(names);
  return entry != nullptr && entry->value.is_text() ? entry->value.text : "";
}

Location HuggingFaceConfig::Where(std::string_view names) const {
  const Entry* entry = Find(names);
  if (entry == nullptr) return node_.where;
  return entry->value.is_text() ? entry->value.where : entry->where;
}

void HuggingFaceConfig::Report(std::string_view names, std::string_view what) const {
  const Entry* entry = Find(names);
  problems_->Add(Where(names),
                 fmt::format("{}: {}", entry == nullptr ? FirstOf(names) : entry->key, what));
}

void HuggingFaceConfig::Warn(std::string_view names, std::string_view what) const {
  const Entry* entry = Find(names);
  problems_->Warn(Where(names),
                  fmt::format("{}: {}", entry == nullptr ? FirstOf(names) : entry->key, what));
}

void SetText(Node* section, std::string_view key, std::string text, const Location& where) {
  Node value;
  value.kind = Node::Kind::kText;
  value.text = std::move(text);
  value.where = where;
  section->entries.push_back({std::string(key), where, std::move(value)});
}

void SetInteger(Node* section, std::string_view key, std::int64_t value, const Location& where) {
  SetText(section, key, fmt::format("{}", value), where);
}

void SetFlag(Node* section, std::string_view key, bool value, const Location& where) {
  SetText(section, key, value ? "true" : "false", where);
}

Node* SetSection(Node* section, std::string_view key, const Location& where) {
  Node value;
  value.kind = Node::Kind::kMap;
  value.where = where;
  section->entries.push_back({std::string(key), where, std::move(value)});
  return &section->entries.back().value;
}

}  // namespace zerosim
