// How SectionReader reads values.
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "models/core/units_text.h"
#include "models/scenario/section_reader.h"

namespace zerosim {
namespace {

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

}  // namespace

std::optional<std::string> SectionReader::TextOf(std::string_view key) {
  const KeySpec& spec = Ask(key);
  const Entry* entry = Find(key);
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
  const KeySpec& spec = *FindKey(JoinPath(table_path_, key));
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

void SectionReader::Read(std::string_view key, std::vector<int>* out) {
  const KeySpec& spec = Ask(key);
  const Entry* entry = Find(key);
  if (entry == nullptr) return;
  if (entry->value.kind != Node::Kind::kList) {
    Report(key, fmt::format("expected {}, got {}", Wanted(spec), Describe(entry->value)));
    return;
  }
  std::vector<int> values;
  for (std::size_t i = 0; i < entry->value.items.size(); ++i) {
    const Node& item = entry->value.items[i];
    const auto value = item.is_text() ? ParseInteger(item.text) : std::nullopt;
    const double number = value ? static_cast<double>(*value) : -1;
    if (!(number >= spec.low && number <= spec.high)) {
      problems_->Add(item.where, fmt::format("{}[{}]: expected a whole number {}, got {}",
                                             PathOf(key), i, RangeText(spec), Describe(item)));
      problems_->Doubt(PathOf(key));
      return;
    }
    values.push_back(static_cast<int>(number));
  }
  *out = std::move(values);
}

void SectionReader::Read(std::string_view key, std::vector<std::string>* out) {
  const KeySpec& spec = Ask(key);
  const Entry* entry = Find(key);
  if (entry == nullptr) return;
  if (entry->value.kind != Node::Kind::kList) {
    Report(key, fmt::format("expected {}, got {}", Wanted(spec), Describe(entry->value)));
    return;
  }
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < entry->value.items.size(); ++i) {
    const Node& item = entry->value.items[i];
    if (!item.is_text()) {
      problems_->Add(item.where, fmt::format("{}[{}]: expected a name, got {}", PathOf(key), i,
                                             Describe(item)));
      problems_->Doubt(PathOf(key));
      return;
    }
    texts.push_back(item.text);
  }
  *out = std::move(texts);
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
  const Entry* entry = Find(key);
  if (entry == nullptr) return;
  if (!entry->value.is_map()) {
    const auto value = ParameterNumber(spec, entry->value, PathOf(key));
    if (value) *out = {*value, *value, *value, "given in the scenario"};
    return;
  }

  SectionReader map(&entry->value, entry->where, PathOf(key), table_path_ + ".*", false, problems_);
  const auto number = [&](std::string_view name) -> std::optional<double> {
    map.Ask(name);
    const Entry* given = map.Find(name);
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
  const KeySpec& spec = *FindKey(JoinPath(table_path_, key));
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
  const Entry* entry = Find(key);
  if (entry == nullptr) return spec.fallback == "true";
  if (entry->value.is_map()) return true;
  if (entry->value.is_text() && entry->value.text == "true") return true;
  if (!entry->value.is_text() || entry->value.text != "false") {
    Report(key, fmt::format("expected {}, got {}", Wanted(spec), Describe(entry->value)));
  }
  return false;
}

void SectionReader::ReadCountOrNode(std::string_view key, int gpus_per_node, int* out) {
  const Entry* entry = Find(key);
  if (entry != nullptr && entry->value.is_text() && entry->value.text == "node") {
    Ask(key);
    *out = gpus_per_node;
    return;
  }
  Read(key, out);
}

}  // namespace zerosim
