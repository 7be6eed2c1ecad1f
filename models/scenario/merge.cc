#include "models/scenario/merge.h"

#include <algorithm>
#include <utility>

#include "models/scenario/keys.h"

namespace zerosim {
namespace {

bool IsReference(std::string_view path) {
  const KeySpec* key = FindKey(path);
  return key != nullptr && key->type == KeyType::kReference;
}

bool IsFlagOrSection(std::string_view path) {
  const KeySpec* key = FindKey(path);
  return key != nullptr && key->type == KeyType::kFlagOrSection;
}

bool CanBecomeSection(const Node& node, std::string_view path) {
  return node.is_text() && (IsReference(path) || (IsFlagOrSection(path) && node.text == "true"));
}

}  // namespace

void MakeSection(Node* node, std::string_view path) {
  Node section;
  section.kind = Node::Kind::kMap;
  section.where = node->where;
  if (IsReference(path)) section.entries.push_back({"base", node->where, *node});
  *node = std::move(section);
}

void Merge(Node* base, Node over, std::string_view path) {
  if (over.is_map() && CanBecomeSection(*base, path) && over.Find("base") == nullptr) {
    MakeSection(base, path);
  }
  if (!base->is_map() || !over.is_map()) {
    *base = std::move(over);
    return;
  }
  base->in_doubt = base->in_doubt || over.in_doubt;
  for (Entry& entry : over.entries) {
    if (Node* old = base->Find(entry.key)) {
      Merge(old, std::move(entry.value), JoinPath(path, entry.key));
      std::ranges::find(base->entries, entry.key, &Entry::key)->where = std::move(entry.where);
    } else {
      base->entries.push_back(std::move(entry));
    }
  }
}

}  // namespace zerosim
