#include "models/scenario/overrides.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "models/frameworks/sections.h"
#include "models/scenario/keys.h"
#include "models/scenario/merge.h"

namespace zerosim {
namespace {

void PutAt(Node* node, const Location& where) {
  node->where = where;
  for (Entry& e : node->entries) {
    e.where = where;
    PutAt(&e.value, where);
  }
  for (Node& item : node->items) PutAt(&item, where);
}

// The value of an override: YAML, whose problems are at the option as a whole.
std::optional<Node> ParseValue(const std::string& text, const Location& where, Problems* problems) {
  // As the value of a key, so that a plain "8" is a document too.
  Problems inner;
  const bool flow = text.starts_with('{') || text.starts_with('[');
  if (!flow) {
    if (text.empty() || text.find_first_of("\n\r") != std::string::npos) {
      problems->Add(where, "expected a value, got " + Quoted(text));
      return std::nullopt;
    }
    return TextNode(text, where);
  }
  std::optional<Node> root = ParseDocument("v: " + text, where.file, &inner);
  if (!root || inner.has_errors() || root->entries.size() != 1) {
    problems->Add(where, "expected a value such as 8 or {bits: 4}, got " + Quoted(text));
    return std::nullopt;
  }
  Node value = std::move(root->entries.front().value);
  PutAt(&value, where);
  return value;
}

void ApplyAt(const Override& set, const Location& where, Node* root, Problems* problems) {
  std::vector<std::string> keys;
  for (std::size_t begin = 0; begin <= set.path.size();) {
    const std::size_t end = std::min(set.path.find('.', begin), set.path.size());
    keys.push_back(set.path.substr(begin, end - begin));
    begin = end + 1;
  }
  if (std::ranges::find(keys, std::string()) != keys.end() || keys.size() > 16) {
    problems->Add(where, "expected a key's path such as cluster.nodes=8");
    return;
  }
  if (keys.back() == "include") {
    problems->Add(where, "include: not an option's to set; write it in the scenario");
    return;
  }
  std::optional<Node> value = ParseValue(set.value, where, problems);
  if (!value) return;

  // From the inside out: a section around each key.
  for (std::size_t i = keys.size(); i-- > 0;) {
    Node section;
    section.kind = Node::Kind::kMap;
    section.where = where;
    section.entries.push_back({keys[i], where, std::move(*value)});
    value = std::move(section);
  }
  // A text that is no name of the catalog cannot have keys below it.
  const Node* at = root;
  std::string path;
  for (std::size_t i = 0; i + 1 < keys.size() && at != nullptr; ++i) {
    path = JoinPath(path, keys[i]);
    at = at->Find(keys[i]);
    const KeySpec* spec = FindKey(path);
    const bool leaf = spec != nullptr && KeysOf(path).empty() &&
                      spec->type != KeyType::kNumberParameter &&
                      spec->type != KeyType::kDurationParameter;
    if (leaf) {
      problems->Add(where, fmt::format("{} has no keys below it", path));
      return;
    }
  }
  Merge(root, std::move(*value), "");
}

}  // namespace

void ApplyOverride(const Override& set, Node* root, Problems* problems) {
  const std::string place = fmt::format(
      "--set {}={}", set.path, set.value.size() > 60 ? set.value.substr(0, 60) : set.value);
  const Location where{place, 0, 0};
  const std::size_t before = problems->error_count();
  ApplyAt(set, where, root, problems);
  if (problems->error_count() > before) problems->Doubt(set.path);
}

}  // namespace zerosim
