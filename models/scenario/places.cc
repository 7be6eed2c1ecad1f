#include "models/scenario/places.h"

#include <algorithm>

#include <fmt/format.h>

namespace zerosim {

const Entry* Places::Find(std::string_view path) const {
  const Node* node = &root_;
  while (true) {
    const std::size_t dot = path.find('.');
    const auto entry = std::ranges::find(node->entries, path.substr(0, dot), &Entry::key);
    if (entry == node->entries.end()) return nullptr;
    if (dot == std::string_view::npos) return &*entry;
    node = &entry->value;
    path.remove_prefix(dot + 1);
  }
}

bool Places::Trusts(std::string_view path) const {
  const Node* node = &root_;
  while (!node->in_doubt && node->kind != Node::Kind::kUnresolved) {
    const std::size_t dot = path.find('.');
    node = path.empty() ? nullptr : node->Find(path.substr(0, dot));
    if (node == nullptr) return true;
    path = dot == std::string_view::npos ? "" : path.substr(dot + 1);
  }
  return false;
}

Location Places::Of(std::string_view path) const {
  if (const Entry* entry = Find(path)) {
    return entry->value.is_text() ? entry->value.where : entry->where;
  }
  const std::size_t dot = path.rfind('.');
  return dot == std::string_view::npos ? root_.where : Of(path.substr(0, dot));
}

std::string Places::Mention(std::string_view path, const Location& from) const {
  const Entry* entry = Find(path);
  if (entry == nullptr) return " (the default)";
  const Location at = Of(path);
  if (at.line == 0) return fmt::format(" ({})", at.file);
  if (at.file == from.file) return fmt::format(" (line {})", at.line);
  return fmt::format(" ({}:{})", at.file, at.line);
}

}  // namespace zerosim
