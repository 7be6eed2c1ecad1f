#include "models/scenario/canonical_text.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace zerosim {
namespace {

std::string Join(std::string_view path, std::string_view key) {
  return path.empty() ? std::string(key) : fmt::format("{}.{}", path, key);
}

// The text with what would break its line escaped.
std::string Escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\n') {
      out += "\\n";
      continue;
    }
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

void WriteCanonical(const Node& node, const std::string& path, std::vector<std::string>* lines) {
  switch (node.kind) {
    case Node::Kind::kUnresolved:
    case Node::Kind::kNull:
      lines->push_back(path + " =");
      break;
    case Node::Kind::kText:
      lines->push_back(fmt::format("{} = \"{}\"", path, Escaped(node.text)));
      break;
    case Node::Kind::kMap:
      for (const Entry& e : node.entries)
        WriteCanonical(e.value, Join(path, Escaped(e.key)), lines);
      break;
    case Node::Kind::kList:
      for (std::size_t i = 0; i < node.items.size(); ++i) {
        WriteCanonical(node.items[i], fmt::format("{}[{:03}]", path, i), lines);
      }
      break;
  }
}

}  // namespace

std::string CanonicalText(const Node& root) {
  std::vector<std::string> lines;
  WriteCanonical(root, "", &lines);
  std::ranges::sort(lines);
  return fmt::format("{}\n", fmt::join(lines, "\n"));
}

}  // namespace zerosim
