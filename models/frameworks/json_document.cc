#include "models/frameworks/json_document.h"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "models/core/diagnostics.h"

namespace zerosim {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

struct Scanned {
  // With tabs outside of strings and comments as spaces: one byte for one byte, so that places
  // stay.
  std::string text;
  std::size_t first = std::string::npos;  // byte that is neither blank nor of a comment
  std::vector<std::size_t> open;          // where what is never closed begins: {, [ or "
};

Scanned Scan(const std::string& text) {
  Scanned scanned{.text = text, .first = std::string::npos, .open = {}};
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c != '"') continue;
      in_string = false;
      scanned.open.pop_back();
      continue;
    }
    if (c == '#') {
      i = std::min(text.find('\n', i), text.size()) - 1;
      continue;
    }
    in_string = c == '"';
    if (c == '\t') scanned.text[i] = ' ';
    if (c == '{' || c == '[' || c == '"') scanned.open.push_back(i);
    if ((c == '}' || c == ']') && !scanned.open.empty()) scanned.open.pop_back();
    const bool blank = c == ' ' || c == '\t' || c == '\n' || c == '\r';
    if (!blank && scanned.first == std::string::npos) scanned.first = i;
  }
  return scanned;
}

Location PlaceOf(const std::string& text, std::size_t byte, const std::string& file) {
  const std::string_view before = std::string_view(text).substr(0, byte);
  const std::size_t newline = before.rfind('\n');
  const std::size_t column = newline == std::string_view::npos ? byte : byte - newline - 1;
  return {file, static_cast<int>(std::ranges::count(before, '\n')) + 1,
          static_cast<int>(column) + 1};
}

}  // namespace

std::optional<Node> ParseJsonDocument(const std::string& text, const std::string& file,
                                      Problems* problems) {
  if (text.starts_with(kByteOrderMark)) {
    problems->Add({file, 1, 1},
                  "expected JSON, got a byte order mark, which JSON parsers refuse; save the file "
                  "without one");
    return std::nullopt;
  }
  const Scanned scanned = Scan(text);
  if (scanned.first == std::string::npos) {
    problems->Add({file, 1, 1}, "expected a JSON object, got an empty file");
    return std::nullopt;
  }
  // Bytes that are no text have a better message of their own.
  const auto start = static_cast<unsigned char>(scanned.text[scanned.first]);
  if (start != '{' && start > 0x20 && start < 0x7F) {
    problems->Add(PlaceOf(text, scanned.first, file),
                  "expected a JSON object, which starts with \"{\", got " +
                      Quoted(std::string_view(text).substr(scanned.first, 1)));
    return std::nullopt;
  }
  Problems inner;
  std::optional<Node> root = ParseDocument(scanned.text, file, &inner, "JSON");
  // The parser says of a truncated text only that something ends too early.
  if (!root && !scanned.open.empty()) {
    const std::size_t at = scanned.open.back();
    problems->Add(PlaceOf(text, at, file), fmt::format("expected JSON; this {} is never closed",
                                                       Quoted(text.substr(at, 1))));
    return std::nullopt;
  }
  problems->Append(inner);
  return root;
}

}  // namespace zerosim
