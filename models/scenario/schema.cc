#include "models/scenario/schema.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "models/core/check.h"
#include "models/core/units_text.h"
#include "models/scenario/keys.h"

namespace zerosim {
namespace {

constexpr std::string_view kNumber = R"([0-9.]+([eE][+-]?[0-9]+)?)";

std::string Json(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

std::vector<std::string_view> ChoicesOf(const KeySpec& key) {
  std::vector<std::string_view> choices;
  for (std::string_view rest = key.choices; !rest.empty();) {
    const std::size_t bar = std::min(rest.find('|'), rest.size());
    choices.push_back(rest.substr(0, bar));
    rest.remove_prefix(std::min(bar + 1, rest.size()));
  }
  return choices;
}

// "The default is X.", "Required.", or what holds without the key.
std::string DefaultText(const KeySpec& key) {
  if (key.required()) return "Required.";
  if (!key.fallback.empty()) return fmt::format("Default: {}.", key.fallback);
  return fmt::format("Default: {}.", key.otherwise);
}

std::string Description(const KeySpec& key) {
  return fmt::format("{} {}", key.meaning, DefaultText(key));
}

std::string Quantity(std::string_view units) {
  return fmt::format(R"("anyOf": [{{"type": "string", "pattern": {}}}, {{"const": 0}}])",
                     Json(fmt::format("^{} ?({})$", kNumber, units)));
}

std::string Bounds(const KeySpec& key) {
  return fmt::format(R"("minimum": {}, "maximum": {})", FormatNumber(key.low),
                     FormatNumber(key.high, 17));
}

std::string ObjectOf(std::string_view path, int indent);

// The members that describe the values of a scalar of `type`.
std::string Scalar(KeyType type, const KeySpec& key) {
  switch (type) {
    case KeyType::kFlag:
      return R"("type": "boolean")";
    case KeyType::kInteger:
      return R"("type": "integer", )" + Bounds(key);
    case KeyType::kNumber:
      return R"("type": "number", )" + Bounds(key);
    case KeyType::kDuration:
      return Quantity("ns|us|ms|s");
    case KeyType::kRate:
      return Quantity("[KkMGTP]?B/s|[KMGT]iB/s|[KkMGT]?bps|[MGT]b/s");
    case KeyType::kSize:
      return Quantity("[KkMGTP]?B|[KMGT]iB");
    case KeyType::kFlopRate:
      return Quantity("[KMGTP]?FLOP/s");
    case KeyType::kChoice: {
      std::vector<std::string> choices;
      for (const std::string_view choice : ChoicesOf(key)) choices.push_back(Json(choice));
      return fmt::format(R"("enum": [{}])", fmt::join(choices, ", "));
    }
    default:
      return R"("type": "string")";
  }
}

// A section {value, low, high, source} whose numbers are of `type`.
std::string ParameterObject(KeyType type, const KeySpec& key, int indent) {
  std::string properties;
  for (const KeySpec* part : KeysOf("cluster.calibration.*")) {
    if (!properties.empty()) properties += ",";
    const KeyType part_type = part->name() == "source" ? KeyType::kText : type;
    properties += fmt::format("\n{:{}}{}: {{\"description\": {}, {}}}", "", indent + 4,
                              Json(part->name()), Json(Description(*part)), Scalar(part_type, key));
  }
  return fmt::format(
      "{{\"type\": \"object\", \"additionalProperties\": false, \"properties\": "
      "{{{}}}}}",
      properties);
}

// The members that describe the values of `key`.
std::string Members(const KeySpec& key, int indent) {
  switch (key.type) {
    case KeyType::kSection:
      return ObjectOf(key.path, indent);
    case KeyType::kReference:
      return fmt::format(R"("anyOf": [{{"type": "string"}}, {{{}}}])", ObjectOf(key.path, indent));
    case KeyType::kFlagOrSection:
      return fmt::format(R"("anyOf": [{{"type": "boolean"}}, {{{}}}])", ObjectOf(key.path, indent));
    case KeyType::kCountOrNode:
      return fmt::format(R"("anyOf": [{{"type": "integer", {}}}, {{"const": "node"}}])",
                         Bounds(key));
    case KeyType::kList:
      return fmt::format(R"("type": "array", "items": {{{}}})",
                         ObjectOf(fmt::format("{}[]", key.path), indent));
    case KeyType::kIntegers:
      return fmt::format(R"("type": "array", "items": {{"type": "integer", {}}})", Bounds(key));
    case KeyType::kTexts:
      return R"("type": "array", "items": {"type": "string"})";
    case KeyType::kNumberParameter:
    case KeyType::kDurationParameter: {
      const KeyType type =
          key.type == KeyType::kNumberParameter ? KeyType::kNumber : KeyType::kDuration;
      return fmt::format(R"("anyOf": [{{{}}}, {}])", Scalar(type, key),
                         ParameterObject(type, key, indent));
    }
    default:
      return Scalar(key.type, key);
  }
}

// The members of the section `path`.
std::string ObjectOf(std::string_view path, int indent) {
  std::string properties;
  for (const KeySpec* key : KeysOf(path)) {
    if (!properties.empty()) properties += ",";
    properties +=
        fmt::format("\n{:{}}{}: {{\"description\": {}, {}}}", "", indent + 2, Json(key->name()),
                    Json(Description(*key)), Members(*key, indent + 2));
  }
  return fmt::format(
      "\"type\": \"object\", \"additionalProperties\": false, \"properties\": "
      "{{{}\n{:{}}}}",
      properties, "", indent);
}

std::string TypeText(const KeySpec& key) {
  switch (key.type) {
    case KeyType::kText:
      return "text";
    case KeyType::kFlag:
      return "true, false";
    case KeyType::kInteger:
      return "whole number";
    case KeyType::kNumber:
      return "number";
    case KeyType::kDuration:
      return "duration";
    case KeyType::kRate:
      return "rate (bytes or bits)";
    case KeyType::kSize:
      return "size";
    case KeyType::kFlopRate:
      return "rate (FLOP/s)";
    case KeyType::kChoice:
      return Wanted(key);
    case KeyType::kSection:
      return "section";
    case KeyType::kReference:
      return "name or section";
    case KeyType::kFlagOrSection:
      return "true, false or section";
    case KeyType::kCountOrNode:
      return "whole number or node";
    case KeyType::kList:
      return "list of sections";
    case KeyType::kIntegers:
      return "list of whole numbers";
    case KeyType::kTexts:
      return "list of names";
    case KeyType::kNumberParameter:
      return "number or section";
    case KeyType::kDurationParameter:
      return "duration or section";
  }
  ZEROSIM_CHECK(false, "key type {}", static_cast<int>(key.type));
}

std::string TableOf(std::string_view path) {
  std::string out = "| key | type | default | range | meaning |\n|---|---|---|---|---|\n";
  for (const KeySpec* key : KeysOf(path)) {
    std::string without(key->required()          ? std::string_view("required")
                        : !key->fallback.empty() ? key->fallback
                                                 : key->otherwise);
    out += fmt::format("| `{}` | {} | {} | {} | {} |\n", key->name(), TypeText(*key), without,
                       RangeText(*key), key->meaning);
  }
  return out;
}

}  // namespace

std::string SchemaJson() {
  return fmt::format(
      "{{\n  \"$schema\": \"http://json-schema.org/draft-07/schema#\",\n"
      "  \"title\": \"zerosim scenario\",\n"
      "  \"description\": \"Written from models/scenario/keys_*.cc; do not edit.\",\n  {}\n}}\n",
      ObjectOf("", 2));
}

std::string KeysMarkdown() {
  std::string out = "### Top level\n\n" + TableOf("");
  for (const KeySpec& key : AllKeys()) {
    const std::string path =
        key.type == KeyType::kList ? fmt::format("{}[]", key.path) : std::string(key.path);
    if (!KeysOf(path).empty()) out += fmt::format("\n### `{}`\n\n{}", path, TableOf(path));
    if (key.path == "cluster.calibration") {
      out += "\n### `cluster.calibration.*` (each parameter as a section)\n\n" +
             TableOf("cluster.calibration.*");
    }
  }
  return out;
}

}  // namespace zerosim
