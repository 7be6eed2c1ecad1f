#include "models/scenario/places.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include <fmt/format.h>

namespace zerosim {

namespace {

// The first part of a path: a key, and the place of an item if it is "key[2]".
struct Part {
  std::string_view key;
  std::optional<std::size_t> item;
};

Part TakePart(std::string_view* path) {
  const std::size_t dot = path->find('.');
  const std::string_view text = path->substr(0, dot);
  path->remove_prefix(dot == std::string_view::npos ? path->size() : dot + 1);
  const std::size_t bracket = text.find('[');
  if (bracket == std::string_view::npos) return {text, std::nullopt};
  std::size_t item = 0;
  std::from_chars(text.data() + bracket + 1, text.data() + text.size(), item);
  return {text.substr(0, bracket), item};
}

// The item of a list, or null.
const Node* ItemOf(const Node& list, std::size_t item) {
  return item < list.items.size() ? &list.items[item] : nullptr;
}

}  // namespace

const Entry* Places::Find(std::string_view path) const {
  const Node* node = &root_;
  while (true) {
    const Part part = TakePart(&path);
    const auto entry = std::ranges::find(node->entries, part.key, &Entry::key);
    if (entry == node->entries.end()) return nullptr;
    if (path.empty()) return &*entry;
    node = part.item ? ItemOf(entry->value, *part.item) : &entry->value;
    if (node == nullptr) return nullptr;
  }
}

bool Places::Trusts(std::string_view path) const {
  const Node* node = &root_;
  while (!node->in_doubt && node->kind != Node::Kind::kUnresolved) {
    if (path.empty()) return true;
    const Part part = TakePart(&path);
    node = node->Find(part.key);
    if (node != nullptr && part.item) node = ItemOf(*node, *part.item);
    if (node == nullptr) return true;
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
