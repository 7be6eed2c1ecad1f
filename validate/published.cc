#include "validate/published.h"

#include <algorithm>
#include <initializer_list>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "models/core/units_text.h"
#include "models/scenario/document.h"

namespace zerosim {
namespace {

class Reader {
 public:
  explicit Reader(Problems* problems) : problems_(problems) {}

  PublishedFile Read(const Node& root) {
    PublishedFile file;
    Expect(root, {"name", "source", "split", "scenario", "groups", "skipped"});
    file.name = Text(root, "name");
    file.source = Text(root, "source");
    file.split = Text(root, "split");
    const std::vector<Override> shared = Overrides(root);
    for (const Node& group : Items(root, "groups", /*required=*/true)) {
      ReadGroup(group, shared, &file);
    }
    for (const Node& skipped : Items(root, "skipped", /*required=*/false)) {
      Expect(skipped, {"id", "reason"});
      file.skipped.push_back({Id(skipped), Text(skipped, "reason")});
    }
    return file;
  }

 private:
  void ReadGroup(const Node& group, std::vector<Override> shared, PublishedFile* file) {
    Expect(group, {"name", "scenario", "rows"});
    const std::string name = Text(group, "name");
    std::ranges::move(Overrides(group), std::back_inserter(shared));
    for (const Node& node : Items(group, "rows", /*required=*/true)) {
      Expect(node, {"id", "at", "split", "scenario", "step_time", "memory"});
      PublishedRow row;
      row.id = Id(node);
      row.at = Text(node, "at");
      row.group = name;
      row.calibration = IsCalibration(node);
      row.scenario = shared;
      std::ranges::move(Overrides(node), std::back_inserter(row.scenario));
      row.step_time = Quantity(node, "step_time", ParseDuration, R"(a duration such as "1.5 s")");
      row.memory = Quantity(node, "memory", ParseSize, R"(a size such as "68.57 GiB")");
      if (node.is_map() && node.Find("step_time") == nullptr && node.Find("memory") == nullptr) {
        problems_->Add(node.where, "expected step_time, memory or both");
      }
      file->rows.push_back(std::move(row));
    }
  }

  void Expect(const Node& node, std::initializer_list<std::string_view> keys) {
    if (!node.is_map()) {
      problems_->Add(node.where, "expected a section, got " + Describe(node));
      return;
    }
    for (const Entry& entry : node.entries) {
      if (std::ranges::find(keys, entry.key) != keys.end()) continue;
      problems_->Add(entry.where,
                     fmt::format("{}: no such key; expected {}", entry.key, fmt::join(keys, ", ")));
    }
  }

  std::string Text(const Node& node, std::string_view key) {
    const Node* value = node.Find(key);
    if (value != nullptr && value->is_text()) return value->text;
    if (node.is_map()) {
      problems_->Add(value == nullptr ? node.where : value->where,
                     fmt::format("{}: {}", key,
                                 value == nullptr ? "missing; expected a text"
                                                  : "expected a text, got " + Describe(*value)));
    }
    return "";
  }

  std::string Id(const Node& node) {
    std::string id = Text(node, "id");
    if (!id.empty() && !ids_.insert(id).second) {
      problems_->Add(node.Find("id")->where, fmt::format("id: {} is there twice", Quoted(id)));
    }
    return id;
  }

  bool IsCalibration(const Node& node) {
    const std::string split = Text(node, "split");
    if (!split.empty() && split != "calibration" && split != "test") {
      problems_->Add(node.Find("split")->where,
                     "split: expected calibration or test, got " + Quoted(split));
    }
    return split == "calibration";
  }

  const std::vector<Node>& Items(const Node& node, std::string_view key, bool required) {
    static const std::vector<Node> none;
    const Node* list = node.Find(key);
    if (list != nullptr && list->kind == Node::Kind::kList) return list->items;
    if (list != nullptr) {
      problems_->Add(list->where, fmt::format("{}: expected a list, got {}", key, Describe(*list)));
    } else if (required && node.is_map()) {
      problems_->Add(node.where, fmt::format("{}: missing; expected a list", key));
    }
    return none;
  }

  // The keys of `scenario`, each a path.
  std::vector<Override> Overrides(const Node& node) {
    std::vector<Override> overrides;
    const Node* scenario = node.Find("scenario");
    if (scenario == nullptr) return overrides;
    if (!scenario->is_map()) {
      problems_->Add(scenario->where, "scenario: expected a section, got " + Describe(*scenario));
      return overrides;
    }
    for (const Entry& entry : scenario->entries) {
      if (!entry.value.is_text()) {
        problems_->Add(entry.value.where,
                       fmt::format("scenario: {}: expected a value, got {}; write the whole path, "
                                   "as in \"cluster.nodes: 4\"",
                                   entry.key, Describe(entry.value)));
        continue;
      }
      overrides.push_back({entry.key, entry.value.text});
    }
    return overrides;
  }

  template <typename Parse>
  auto Quantity(const Node& node, std::string_view key, Parse parse, std::string_view wanted)
      -> decltype(parse(std::string_view())) {
    const Node* value = node.Find(key);
    if (value == nullptr) return std::nullopt;
    const auto quantity = value->is_text() ? parse(value->text) : std::nullopt;
    if (quantity && *quantity > decltype(*quantity){}) return quantity;
    problems_->Add(value->where,
                   fmt::format("{}: expected {}, got {}", key, wanted, Describe(*value)));
    return std::nullopt;
  }

  Problems* problems_;
  std::set<std::string> ids_;
};

}  // namespace

PublishedFile ReadPublished(const std::string& path, const Files& files) {
  const Files::Content content = files.Read(path);
  if (!content.text) throw ScenarioError({{{path, 0, 0}, content.problem}}, {});
  Problems problems;
  problems.AddSource(path, *content.text);
  const std::optional<Node> root = ParseDocument(*content.text, path, &problems);
  PublishedFile file;
  if (root) file = Reader(&problems).Read(*root);
  problems.ThrowIfAny();
  return file;
}

}  // namespace zerosim
