#include "models/frameworks/sections.h"

#include <algorithm>
#include <utility>

namespace zerosim {

Node TextNode(std::string text, Location where) {
  Node node;
  node.kind = Node::Kind::kText;
  node.text = std::move(text);
  node.where = std::move(where);
  return node;
}

Node MapNode(Location where) {
  Node node;
  node.kind = Node::Kind::kMap;
  node.where = std::move(where);
  return node;
}

void PutText(Node* section, std::string_view key, std::string text, const Entry& from) {
  section->entries.push_back(
      {std::string(key), from.where, TextNode(std::move(text), from.value.where)});
}

const Node* FindPath(const Node* root, std::string_view path) {
  while (root != nullptr && !path.empty()) {
    const std::size_t dot = std::min(path.find('.'), path.size());
    root = root->Find(path.substr(0, dot));
    path.remove_prefix(std::min(dot + 1, path.size()));
  }
  return root;
}

Location PlaceOf(const Node& root, std::string_view path) {
  const std::size_t dot = path.rfind('.');
  const bool outermost = dot == std::string_view::npos;
  const std::string_view section = outermost ? std::string_view() : path.substr(0, dot);
  const std::string_view key = outermost ? path : path.substr(dot + 1);
  if (const Node* node = FindPath(&root, section)) {
    const auto entry = std::ranges::find(node->entries, key, &Entry::key);
    if (entry != node->entries.end()) {
      return entry->value.is_text() ? entry->value.where : entry->where;
    }
  }
  return outermost ? root.where : PlaceOf(root, section);
}

void FillIn(Node* section, Node base) {
  for (Entry& entry : base.entries) {
    Node* own = section->Find(entry.key);
    if (own == nullptr) {
      section->entries.push_back(std::move(entry));
    } else if (own->is_map() && entry.value.is_map()) {
      FillIn(own, std::move(entry.value));
    }
  }
}

}  // namespace zerosim
