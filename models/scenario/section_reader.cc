#include "models/scenario/section_reader.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "models/core/check.h"
#include "models/core/units_text.h"

namespace zerosim {
SectionReader::SectionReader(const Node& root, Problems* problems)
    : SectionReader(&root, {root.where.file, root.where.line, root.where.column}, "", "",
                    root.in_doubt, problems) {}

SectionReader::SectionReader(const Node* node, Location where, std::string path,
                             std::string table_path, bool silent, Problems* problems)
    : node_(node),
      where_(std::move(where)),
      path_(std::move(path)),
      table_path_(std::move(table_path)),
      silent_(silent),
      problems_(problems) {}

const KeySpec& SectionReader::Ask(std::string_view key) {
  asked_.emplace(key);
  const KeySpec* spec = FindKey(JoinPath(table_path_, key));
  ZEROSIM_CHECK(spec != nullptr, "{} is not in the table of keys", JoinPath(table_path_, key));
  return *spec;
}

const Entry* SectionReader::Find(std::string_view key) const {
  if (node_ == nullptr) return nullptr;
  const auto found = std::ranges::find(node_->entries, key, &Entry::key);
  return found == node_->entries.end() ? nullptr : &*found;
}

bool SectionReader::Has(std::string_view key) const {
  return Find(key) != nullptr;
}

Location SectionReader::Where(std::string_view key) const {
  const Entry* entry = Find(key);
  return entry != nullptr ? entry->where : where_;
}

std::string SectionReader::PathOf(std::string_view key) const {
  return JoinPath(path_, key);
}

void SectionReader::Report(std::string_view key, const std::string& what) {
  const Entry* entry = Find(key);
  const bool at_value = entry != nullptr && entry->value.is_text();
  problems_->Add(at_value ? entry->value.where : Where(key), PathOf(key) + ": " + what);
  problems_->Doubt(PathOf(key));
}

void SectionReader::Warn(std::string_view key, const std::string& what) {
  problems_->Warn(Where(key), PathOf(key) + ": " + what);
}

SectionReader SectionReader::Section(std::string_view key) {
  const KeySpec& spec = Ask(key);
  const Entry* entry = Find(key);
  const Node* child = nullptr;
  if (entry == nullptr) {
    if (spec.required() && !silent_) Report(key, "missing; expected " + Wanted(spec));
  } else if (entry->value.is_map()) {
    child = &entry->value;
  } else if (entry->value.kind == Node::Kind::kUnresolved) {
    // Reported already.
  } else if (entry->value.kind == Node::Kind::kNull && spec.type == KeyType::kSection) {
    // "overlap:" with nothing below it: every key at its default, or reported as missing.
    static const Node empty{
        .kind = Node::Kind::kMap, .text = {}, .where = {}, .entries = {}, .items = {}};
    child = &empty;
  } else if (spec.type != KeyType::kFlagOrSection) {
    Report(key, fmt::format("expected {}, got {}", Wanted(spec), Describe(entry->value)));
  }
  return SectionReader(child, Where(key), PathOf(key), JoinPath(table_path_, key),
                       child == nullptr || child->in_doubt, problems_);
}

std::vector<SectionReader> SectionReader::List(std::string_view key) {
  const KeySpec& spec = Ask(key);
  std::vector<SectionReader> items;
  const Entry* entry = Find(key);
  if (entry == nullptr) return items;
  if (entry->value.kind != Node::Kind::kList) {
    Report(key, fmt::format("expected {}, got {}", Wanted(spec), Describe(entry->value)));
    return items;
  }
  for (std::size_t i = 0; i < entry->value.items.size(); ++i) {
    const Node& item = entry->value.items[i];
    const std::string path = fmt::format("{}[{}]", PathOf(key), i);
    if (!item.is_map()) {
      problems_->Add(item.where,
                     fmt::format("{}: expected a section, got {}", path, Describe(item)));
      continue;
    }
    items.push_back(SectionReader(&item, item.where, path, JoinPath(table_path_, key) + "[]", false,
                                  problems_));
  }
  return items;
}

void SectionReader::Finish() {
  std::vector<std::string> known;
  for (const KeySpec* key : KeysOf(table_path_)) {
    known.emplace_back(key->name());
    // Those that are resolved before anything is read.
    constexpr std::string_view resolved[] = {"base", "deepspeed_config", "huggingface", "include",
                                             "neox"};
    if (std::ranges::find(resolved, key->name()) != std::end(resolved)) continue;
    ZEROSIM_CHECK(asked_.contains(key->name()), "{} is in the table but not read", key->path);
  }
  if (node_ == nullptr) return;
  for (const Entry& entry : node_->entries) {
    if (std::ranges::find(known, entry.key) == known.end()) ReportUnknown(entry, known);
  }
}

void SectionReader::ReportUnknown(const Entry& entry, const std::vector<std::string>& known) {
  const std::string shown = JoinPath(path_, entry.key.size() > 60 ? Quoted(entry.key) : entry.key);
  const std::string nearest = Nearest(entry.key, known);
  if (nearest.empty()) {
    problems_->Add(entry.where, shown + ": no such key");
  } else {
    problems_->Add(entry.where,
                   fmt::format("{}: no such key; did you mean \"{}\"?", shown, nearest));
    problems_->Doubt(PathOf(nearest));
    return;
  }
  // It may have meant any key that is not given.
  for (const std::string& key : known) {
    if (!Has(key)) problems_->Doubt(PathOf(key));
  }
}

}  // namespace zerosim
