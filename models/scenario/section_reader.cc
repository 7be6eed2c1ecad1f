#include "models/scenario/section_reader.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "models/core/check.h"
#include "models/core/units_text.h"

namespace zerosim {
namespace {

std::string Join(std::string_view path, std::string_view key) {
  return path.empty() ? std::string(key) : fmt::format("{}.{}", path, key);
}

// "a whole number from 1 to 2". A quantity with a unit is shown by example instead of by range.
std::string WantedInRange(const KeySpec& spec) {
  const bool number = spec.type == KeyType::kInteger || spec.type == KeyType::kNumber;
  return number ? Wanted(spec) + " " + RangeText(spec) : Wanted(spec);
}

// What a value of the right form that is out of range should have been.
std::string WantedRange(const KeySpec& spec) {
  switch (spec.type) {
    case KeyType::kInteger:
    case KeyType::kNumber:
      return WantedInRange(spec);
    case KeyType::kDuration:
      return "a duration " + RangeText(spec);
    case KeyType::kSize:
      return "a size " + RangeText(spec);
    case KeyType::kCountOrNode:
      return "a number of ranks " + RangeText(spec) + " or \"node\"";
    default:
      return "a rate " + RangeText(spec);
  }
}

std::optional<double> AsSeconds(std::string_view text) {
  const auto v = ParseDuration(text);
  return v ? std::optional(v->seconds()) : std::nullopt;
}
std::optional<double> AsRate(std::string_view text) {
  const auto v = ParseRate(text);
  return v ? std::optional(v->bytes_per_second()) : std::nullopt;
}
std::optional<double> AsSize(std::string_view text) {
  const auto v = ParseSize(text);
  return v ? std::optional(static_cast<double>(v->count())) : std::nullopt;
}
std::optional<double> AsFlopRate(std::string_view text) {
  const auto v = ParseFlopRate(text);
  return v ? std::optional(v->flops_per_second()) : std::nullopt;
}
std::optional<double> AsInteger(std::string_view text) {
  const auto v = ParseInteger(text);
  return v ? std::optional(static_cast<double>(*v)) : std::nullopt;
}

const Entry* FindEntry(const Node* node, std::string_view key) {
  if (node == nullptr) return nullptr;
  const auto found = std::ranges::find(node->entries, key, &Entry::key);
  return found == node->entries.end() ? nullptr : &*found;
}

}  // namespace

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
  const KeySpec* spec = FindKey(Join(table_path_, key));
  ZEROSIM_CHECK(spec != nullptr, "{} is not in the table of keys", Join(table_path_, key));
  return *spec;
}

bool SectionReader::Has(std::string_view key) const {
  return FindEntry(node_, key) != nullptr;
}

Location SectionReader::Where(std::string_view key) const {
  const Entry* entry = FindEntry(node_, key);
  return entry != nullptr ? entry->where : where_;
}

std::string SectionReader::PathOf(std::string_view key) const {
  return Join(path_, key);
}

void SectionReader::Report(std::string_view key, const std::string& what) {
  const Entry* entry = FindEntry(node_, key);
  const bool at_value = entry != nullptr && entry->value.is_text();
  problems_->Add(at_value ? entry->value.where : Where(key), PathOf(key) + ": " + what);
  problems_->Doubt(PathOf(key));
}

void SectionReader::Warn(std::string_view key, const std::string& what) {
  problems_->Warn(Where(key), PathOf(key) + ": " + what);
}

SectionReader SectionReader::Section(std::string_view key) {
  const KeySpec& spec = Ask(key);
  const Entry* entry = FindEntry(node_, key);
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
  return SectionReader(child, Where(key), PathOf(key), Join(table_path_, key),
                       child == nullptr || child->in_doubt, problems_);
}

std::vector<SectionReader> SectionReader::List(std::string_view key) {
  const KeySpec& spec = Ask(key);
  std::vector<SectionReader> items;
  const Entry* entry = FindEntry(node_, key);
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
    items.push_back(
        SectionReader(&item, item.where, path, Join(table_path_, key) + "[]", false, problems_));
  }
  return items;
}

std::optional<std::string> SectionReader::TextOf(std::string_view key) {
  const KeySpec& spec = Ask(key);
  const Entry* entry = FindEntry(node_, key);
  if (entry == nullptr) {
    if (spec.required() && !silent_) Report(key, "missing; expected " + WantedInRange(spec));
    if (spec.fallback.empty()) return std::nullopt;
    return std::string(spec.fallback);
  }
  if (entry->value.kind == Node::Kind::kUnresolved) return std::nullopt;  // reported already
  if (!entry->value.is_text()) {
    Report(key, fmt::format("expected {}, got {}", WantedInRange(spec), Describe(entry->value)));
    return std::nullopt;
  }
  return entry->value.text;
}

template <typename Parse>
std::optional<double> SectionReader::NumberOf(std::string_view key, Parse parse) {
  const std::optional<std::string> text = TextOf(key);
  if (!text) return std::nullopt;
  const KeySpec& spec = *FindKey(Join(table_path_, key));
  const std::optional<double> value = parse(*text);
  if (!value) {
    Report(key, fmt::format("expected {}, got {}", WantedInRange(spec), Quoted(*text)));
    return std::nullopt;
  }
  if (!(*value >= spec.low && *value <= spec.high)) {
    Report(key, fmt::format("expected {}, got {}", WantedRange(spec), Quoted(*text)));
    return std::nullopt;
  }
  return value;
}

void SectionReader::Read(std::string_view key, bool* out) {
  const std::optional<std::string> text = TextOf(key);
  if (!text) return;
  if (*text != "true" && *text != "false") {
    Report(key, "expected true or false, got " + Quoted(*text));
    return;
  }
  *out = *text == "true";
}

void SectionReader::Read(std::string_view key, std::int64_t* out) {
  if (const auto v = NumberOf(key, AsInteger)) *out = static_cast<std::int64_t>(*v);
}

void SectionReader::Read(std::string_view key, int* out) {
  if (const auto v = NumberOf(key, AsInteger)) *out = static_cast<int>(*v);
}

void SectionReader::Read(std::string_view key, double* out) {
  if (const auto v = NumberOf(key, ParseNumber)) *out = *v;
}

void SectionReader::Read(std::string_view key, Seconds* out) {
  if (const auto v = NumberOf(key, AsSeconds)) *out = Seconds::Count(*v);
}

void SectionReader::Read(std::string_view key, BytesPerSecond* out) {
  if (const auto v = NumberOf(key, AsRate)) *out = BytesPerSecond::Count(*v);
}

void SectionReader::Read(std::string_view key, Bytes* out) {
  if (const auto v = NumberOf(key, AsSize)) *out = Bytes::Count(static_cast<std::int64_t>(*v));
}

void SectionReader::Read(std::string_view key, FlopsPerSecond* out) {
  if (const auto v = NumberOf(key, AsFlopRate)) *out = FlopsPerSecond::Count(*v);
}

void SectionReader::Read(std::string_view key, std::string* out) {
  if (auto text = TextOf(key)) *out = std::move(*text);
}

// Reads a number or duration of a parameter, whose unit and range are those of the parameter.
std::optional<double> SectionReader::ParameterNumber(const KeySpec& spec, const Node& node,
                                                     std::string_view name) {
  KeySpec scalar = spec;
  scalar.type = spec.type == KeyType::kDurationParameter ? KeyType::kDuration : KeyType::kNumber;
  std::optional<double> value;
  if (node.is_text()) {
    value = scalar.type == KeyType::kDuration ? AsSeconds(node.text) : ParseNumber(node.text);
  }
  if (!value || !(*value >= spec.low && *value <= spec.high)) {
    problems_->Add(node.where, fmt::format("{}: expected {}, got {}", name,
                                           value ? WantedRange(scalar) : WantedInRange(scalar),
                                           Describe(node)));
    problems_->Doubt(std::string(name));
    return std::nullopt;
  }
  return value;
}

void SectionReader::Read(std::string_view key, Parameter* out) {
  const KeySpec& spec = Ask(key);
  const Entry* entry = FindEntry(node_, key);
  if (entry == nullptr) return;
  if (!entry->value.is_map()) {
    const auto value = ParameterNumber(spec, entry->value, PathOf(key));
    if (value) *out = {*value, *value, *value, "given in the scenario"};
    return;
  }

  SectionReader map(&entry->value, entry->where, PathOf(key), table_path_ + ".*", false, problems_);
  const auto number = [&](std::string_view name) -> std::optional<double> {
    map.Ask(name);
    const Entry* given = FindEntry(&entry->value, name);
    if (given == nullptr) return std::nullopt;
    return ParameterNumber(spec, given->value, map.PathOf(name));
  };
  if (!map.Has("value")) map.Report("value", "missing");
  const auto value = number("value");
  const auto low = number("low");
  const auto high = number("high");
  std::string source = "given in the scenario";
  map.Read("source", &source);
  map.Finish();
  if (!value) return;
  *out = {*value, low.value_or(*value), high.value_or(*value), source};
  if (out->low > *value) map.Report("low", "expected at most value");
  if (out->high < *value) map.Report("high", "expected at least value");
}

std::optional<int> SectionReader::Choice(std::string_view key) {
  const std::optional<std::string> text = TextOf(key);
  if (!text) return std::nullopt;
  const KeySpec& spec = *FindKey(Join(table_path_, key));
  std::vector<std::string> names;
  for (std::string_view rest = spec.choices; !rest.empty();) {
    const std::size_t bar = std::min(rest.find('|'), rest.size());
    names.emplace_back(rest.substr(0, bar));
    rest.remove_prefix(std::min(bar + 1, rest.size()));
  }
  const auto found = std::ranges::find(names, *text);
  if (found == names.end()) {
    Report(key, fmt::format("expected {}, got {}", Wanted(spec), Quoted(*text)));
    return std::nullopt;
  }
  return static_cast<int>(found - names.begin());
}

bool SectionReader::IsOn(std::string_view key) {
  const KeySpec& spec = Ask(key);
  const Entry* entry = FindEntry(node_, key);
  if (entry == nullptr) return spec.fallback == "true";
  if (entry->value.is_map()) return true;
  if (entry->value.is_text() && entry->value.text == "true") return true;
  if (!entry->value.is_text() || entry->value.text != "false") {
    Report(key, fmt::format("expected {}, got {}", Wanted(spec), Describe(entry->value)));
  }
  return false;
}

void SectionReader::ReadCountOrNode(std::string_view key, int gpus_per_node, int* out) {
  const Entry* entry = FindEntry(node_, key);
  if (entry != nullptr && entry->value.is_text() && entry->value.text == "node") {
    Ask(key);
    *out = gpus_per_node;
    return;
  }
  Read(key, out);
}

void SectionReader::Finish() {
  std::vector<std::string> known;
  for (const KeySpec* key : KeysOf(table_path_)) {
    known.emplace_back(key->name());
    // Those that are resolved before anything is read.
    constexpr std::string_view kResolved[] = {"base", "deepspeed_config", "huggingface", "include",
                                              "neox"};
    if (std::ranges::find(kResolved, key->name()) != std::end(kResolved)) continue;
    ZEROSIM_CHECK(asked_.contains(key->name()), "{} is in the table but not read", key->path);
  }
  if (node_ == nullptr) return;
  for (const Entry& entry : node_->entries) {
    if (std::ranges::find(known, entry.key) == known.end()) ReportUnknown(entry, known);
  }
}

void SectionReader::ReportUnknown(const Entry& entry, const std::vector<std::string>& known) {
  const std::string shown = Join(path_, entry.key.size() > 60 ? Quoted(entry.key) : entry.key);
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
