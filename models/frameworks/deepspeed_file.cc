#include "models/frameworks/deepspeed_file.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "models/core/units_text.h"
#include "models/scenario/keys.h"

namespace zerosim {
namespace {

std::string Join(std::string_view path, std::string_view key) {
  return path.empty() ? std::string(key) : fmt::format("{}.{}", path, key);
}

std::string LowerCase(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

bool IsAutoText(const Node& node) {
  return node.is_text() && node.text == "auto";
}

// Whether a value asks for nothing: one of `harmless`, null, an empty section, one that is not
// enabled.
bool AsksForNothing(const Node& node, std::string_view harmless) {
  switch (node.kind) {
    case Node::Kind::kNull:
    case Node::Kind::kUnresolved:
      return true;
    case Node::Kind::kText:
      return node.text == "auto" || IsOneOf(LowerCase(node.text), harmless);
    case Node::Kind::kList:
      return node.items.empty();
    case Node::Kind::kMap:
      break;
  }
  if (node.entries.empty()) return true;
  for (const char* key : {"enabled", "autotp_size"}) {
    const Node* given = node.Find(key);
    if (given != nullptr && given->is_text() && IsOneOf(LowerCase(given->text), "false|auto|0|1") &&
        LowerCase(given->text) != "true") {
      return key == std::string_view("autotp_size") || given->text != "1";
    }
  }
  return false;
}

}  // namespace

std::optional<bool> AsFlag(const Node& node) {
  if (!node.is_text()) return std::nullopt;
  const std::string text = LowerCase(node.text);
  if (text == "true" || text == "1") return true;
  if (text == "false" || text == "0") return false;
  return std::nullopt;
}

bool IsOneOf(std::string_view text, std::string_view choices) {
  const std::optional<double> number = ParseNumber(text);
  for (std::string_view rest = choices; !rest.empty();) {
    const std::size_t bar = std::min(rest.find('|'), rest.size());
    const std::string_view choice = rest.substr(0, bar);
    if (text == choice || (number && number == ParseNumber(choice))) return true;
    rest.remove_prefix(std::min(bar + 1, rest.size()));
  }
  return false;
}

DeepSpeedFile::DeepSpeedFile(const Node& config, bool in_neox, Problems* problems)
    : in_neox_(in_neox), problems_(problems) {
  Walk(config, "");
}

const Entry* DeepSpeedFile::Find(std::string_view path) const {
  const auto found = given_.find(path);
  return found == given_.end() ? nullptr : found->second;
}

const Entry* DeepSpeedFile::Given(std::string_view path) const {
  const Entry* entry = Find(path);
  const bool given =
      entry != nullptr && entry->value.kind != Node::Kind::kNull && !IsAutoText(entry->value);
  return given ? entry : nullptr;
}

bool DeepSpeedFile::IsAuto(std::string_view path) const {
  const Entry* entry = Find(path);
  return entry != nullptr && IsAutoText(entry->value);
}

std::vector<std::string> DeepSpeedFile::AutoKeysOfZero() const {
  std::vector<std::string> paths;
  for (const auto& [path, entry] : given_) {
    if (path.starts_with("zero_optimization.") && IsAutoText(entry->value)) paths.push_back(path);
  }
  return paths;
}

void DeepSpeedFile::Report(const Entry& entry, std::string_view path, std::string_view what) {
  problems_->Add(entry.value.is_text() ? entry.value.where : entry.where,
                 fmt::format("{}: {}", path, what));
}

void DeepSpeedFile::Note(const Entry& entry, std::string_view path, std::string_view what) {
  problems_->Note(entry.where, fmt::format("{}: {}", path, what));
}

void DeepSpeedFile::Walk(const Node& section, const std::string& path) {
  for (const Entry& entry : section.entries) {
    const DeepSpeedKey* key = FindDeepSpeedKey(path, entry.key);
    if (key == nullptr) {
      ReportUnknown(entry, path);
      continue;
    }
    const std::string shown = Join(path, entry.key);
    const auto [place, is_new] = given_.emplace(key->path, &entry);
    if (!is_new) {
      Report(entry, shown,
             fmt::format("also given as {} (line {}); leave one out", place->second->key,
                         place->second->where.line));
      continue;
    }
    Take(entry, *key, shown);
  }
}

void DeepSpeedFile::Take(const Entry& entry, const DeepSpeedKey& key, const std::string& shown) {
  const bool has_keys = HasDeepSpeedKeysBelow(key.path);
  if (has_keys && entry.value.is_map()) {
    Walk(entry.value, std::string(key.path));
    return;
  }
  switch (key.use) {
    case DeepSpeedUse::kRead:
      // "zero_optimization": true is the oldest way to ask for stage 1.
      if (has_keys && entry.value.kind != Node::Kind::kNull &&
          !(key.path == "zero_optimization" && AsFlag(entry.value))) {
        Report(entry, shown, "expected a section, got " + Describe(entry.value));
      }
      return;
    case DeepSpeedUse::kRefused:
      if (!AsksForNothing(entry.value, key.harmless)) {
        Report(entry, shown, fmt::format("{}; leave it out", key.why));
      }
      return;
    case DeepSpeedUse::kNoEffect:
      if (AsksForNothing(entry.value, key.harmless.empty() ? "false" : key.harmless) &&
          !IsAutoText(entry.value)) {
        return;
      }
      auto reason = std::ranges::find(idle_, key.why, [](const auto& r) { return r.first; });
      if (reason == idle_.end()) reason = idle_.insert(idle_.end(), {key.why, {}});
      reason->second.emplace_back(entry.where, shown);
  }
}

void DeepSpeedFile::ReportUnknown(const Entry& entry, const std::string& section) {
  if (in_neox_ && section == "fp16") return;  // NeoX repeats "fp16": true in it
  std::vector<std::string> known;
  for (const DeepSpeedKey& key : DeepSpeedKeys()) {
    if (FindDeepSpeedKey(section, key.name()) != &key) continue;
    known.emplace_back(key.name());
    if (!key.old_name.empty()) known.emplace_back(key.old_name);
  }
  const std::string nearest = Nearest(entry.key, known);
  const std::string meant = nearest.empty() ? "" : fmt::format("; did you mean \"{}\"?", nearest);
  const std::string shown = Join(section, entry.key.size() > 60 ? Quoted(entry.key) : entry.key);
  if (IsStrictInDeepSpeed(section)) {
    problems_->Add(entry.where,
                   fmt::format("{}: no such key, which DeepSpeed refuses too{}", shown, meant));
  } else {
    problems_->Warn(entry.where,
                    fmt::format("{}: no such key, which DeepSpeed ignores{}", shown, meant));
  }
}

std::optional<bool> DeepSpeedFile::Flag(std::string_view path) {
  const Entry* entry = Given(path);
  if (entry == nullptr) return std::nullopt;
  const std::optional<bool> flag = AsFlag(entry->value);
  if (!flag) Report(*entry, path, "expected true or false, got " + Describe(entry->value));
  return flag;
}

std::optional<std::int64_t> DeepSpeedFile::Whole(std::string_view path) {
  const Entry* entry = Given(path);
  if (entry == nullptr) return std::nullopt;
  const auto value =
      entry->value.is_text() ? ParseInteger(entry->value.text) : std::optional<std::int64_t>();
  if (value && *value >= 0) return value;
  Report(*entry, path, "expected a whole number, got " + Describe(entry->value));
  return std::nullopt;
}

std::string DeepSpeedFile::Text(std::string_view path) {
  const Entry* entry = Given(path);
  if (entry == nullptr) return "";
  if (entry->value.is_text()) return LowerCase(entry->value.text);
  Report(*entry, path, "expected a text, got " + Describe(entry->value));
  return "";
}

void DeepSpeedFile::NoteWithoutEffect() {
  for (const auto& [why, keys] : idle_) {
    std::vector<std::string> names;
    for (const auto& [where, name] : keys) names.push_back(name);
    problems_->Note(keys.front().first,
                    fmt::format("{}: no effect on a step: {}", fmt::join(names, ", "), why));
  }
}

}  // namespace zerosim
