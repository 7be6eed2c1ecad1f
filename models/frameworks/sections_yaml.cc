#include "models/frameworks/sections_yaml.h"

#include <algorithm>
#include <cctype>
#include <string_view>

#include <fmt/format.h>

namespace zerosim {
namespace {

bool IsPlain(std::string_view text) {
  const auto plain = [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '.' || c == '+' || c == '-';
  };
  return !text.empty() && std::ranges::all_of(text, plain) && text != "null" && text != "-" &&
         text.front() != '-';
}

// In double quotes, unless it can be nothing but a text or a number.
std::string Scalar(std::string_view text) {
  if (IsPlain(text)) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '\n') {
      quoted += "\\n";
      continue;
    }
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + '"';
}

void Write(const Node& map, int indent, std::string* out) {
  for (const Entry& entry : map.entries) {
    *out += fmt::format("{:{}}{}:", "", indent, Scalar(entry.key));
    if (entry.value.is_map() && entry.value.entries.empty()) {
      *out += " {}\n";
    } else if (entry.value.is_map()) {
      *out += '\n';
      Write(entry.value, indent + 2, out);
    } else {
      *out += entry.value.is_text() ? fmt::format(" {}\n", Scalar(entry.value.text)) : "\n";
    }
  }
}

}  // namespace

std::string SectionsYaml(const Node& sections) {
  std::string out;
  Write(sections, 0, &out);
  return out;
}

}  // namespace zerosim
