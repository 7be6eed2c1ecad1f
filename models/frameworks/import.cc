#include "models/frameworks/import.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "models/core/units_text.h"
#include "models/frameworks/deepspeed_config.h"
#include "models/frameworks/huggingface.h"
#include "models/frameworks/json_document.h"
#include "models/frameworks/neox_config.h"
#include "models/frameworks/sections.h"

namespace zerosim {
namespace {

// Far above any machine, so that products stay in 64 bits; the reader refuses such sizes itself.
constexpr std::int64_t kMostRanks = std::int64_t{1} << 24;
constexpr std::int64_t kMostModelRanks = std::int64_t{1} << 16;  // of one dimension
constexpr std::int64_t kMostHidden = std::int64_t{1} << 20;

std::optional<std::int64_t> CountAt(const Node& root, std::string_view path, std::int64_t most) {
  const Node* node = FindPath(&root, path);
  if (node == nullptr || !node->is_text()) return std::nullopt;
  const std::optional<std::int64_t> count = ParseInteger(node->text);
  return count && *count >= 1 && *count <= most ? count : std::nullopt;
}

std::optional<std::int64_t> WorldOf(const Node& root) {
  const auto nodes = CountAt(root, "cluster.nodes", kMostRanks);
  const auto gpus = CountAt(root, "cluster.node.gpus", kMostRanks);
  return nodes && gpus ? std::optional(*nodes * *gpus) : std::nullopt;
}

// Ranks that have samples of their own: Scenario::sample_ranks() before there is a Scenario.
std::optional<std::int64_t> DataParallelRanksOf(const Node& root) {
  const auto world = WorldOf(root);
  std::int64_t model = 1;
  for (const char* key : {"parallelism.tensor", "parallelism.context", "parallelism.pipeline"}) {
    model *= CountAt(root, key, kMostModelRanks).value_or(1);
  }
  return world && *world % model == 0 ? std::optional(*world / model) : std::nullopt;
}

// The text of the file that `named`, the value of `key`, names, relative to the file that it stands
// in; of an option of the command line, relative to where that runs.
std::optional<SourceText> ReadNamed(const Node& named, std::string_view key, const Files& files,
                                    Problems* problems) {
  if (!named.is_text() || named.text.empty()) {
    problems->Add(named.where,
                  fmt::format("{}: expected the name of a file, got {}", key, Describe(named)));
    return std::nullopt;
  }
  std::filesystem::path path(named.text);
  if (named.where.line > 0) path = std::filesystem::path(named.where.file).parent_path() / path;
  std::string file = path.lexically_normal().string();
  Files::Content content = files.Read(file);
  if (!content.text) {
    problems->Add(named.where, fmt::format("{}: {}: {}", key, file, content.problem));
    return std::nullopt;
  }
  problems->AddSource(file, *content.text);
  return SourceText{std::move(file), std::move(*content.text)};
}

// Takes the entry `key` out of `map`.
std::optional<Node> Take(Node* map, std::string_view key) {
  const auto entry = std::ranges::find(map->entries, key, &Entry::key);
  if (entry == map->entries.end()) return std::nullopt;
  Node value = std::move(entry->value);
  map->entries.erase(entry);
  return value;
}

void FillInSections(Node* root, Node sections) {
  // What a section still lacks is the scenario's to give.
  for (Entry& section : sections.entries) section.where = root->where;
  FillIn(root, std::move(sections));
}

void ImportDeepSpeedInto(Node* root, const Files& files, Problems* problems) {
  Node* zero = root->Find("zero");
  if (zero == nullptr || !zero->is_map()) return;
  const std::optional<Node> named = Take(zero, "deepspeed_config");
  if (!named) return;
  const std::optional<SourceText> source =
      ReadNamed(*named, "zero.deepspeed_config", files, problems);
  std::optional<Node> config;
  if (source) config = ParseJsonDocument(source->text, source->file, problems);
  if (!config) {
    zero->kind = Node::Kind::kUnresolved;
    return;
  }
  const DeepSpeedContext context{.ranks = DataParallelRanksOf(*root),
                                 .hidden = CountAt(*root, "model.hidden", kMostHidden),
                                 .own = root};
  const std::size_t before = problems->error_count();
  FillInSections(root, ImportDeepSpeed(*config, context, problems));
  if (problems->error_count() > before) {
    for (const char* section : {"training", "zero"}) problems->Doubt(section);
  }
}

constexpr const char* kNeoxSections[] = {"model", "training", "parallelism", "zero"};

void ImportNeoxInto(Node* root, const Files& files, Problems* problems) {
  const std::optional<Node> named = Take(root, "neox");
  if (!named) return;
  const std::optional<SourceText> source = ReadNamed(*named, "neox", files, problems);
  std::optional<Node> config;
  if (source) config = ParseDocument(source->text, source->file, problems);
  if (config) {
    const NeoxContext context{.world = WorldOf(*root), .vocabulary = {}, .own = root};
    const std::size_t before = problems->error_count();
    Node sections = ImportNeox(*config, context, problems);
    if (const Node* fsdp = root->Find("fsdp"); fsdp != nullptr && Take(&sections, "zero")) {
      problems->Note(fsdp->where, "fsdp: is the strategy, so that neox gives none");
    }
    FillInSections(root, std::move(sections));
    if (problems->error_count() == before) return;
    for (const char* section : kNeoxSections) problems->Doubt(section);
    return;
  }
  for (const char* section : kNeoxSections) {
    Take(root, section);
    Node unresolved;
    unresolved.kind = Node::Kind::kUnresolved;
    root->entries.push_back({section, root->where, std::move(unresolved)});
  }
}

}  // namespace

void ImportFrameworks(Node* root, const Files& files, Problems* problems) {
  const Node* config = FindPath(root, "zero.deepspeed_config");
  if (config != nullptr && root->Find("neox") != nullptr) {
    problems->Add(config->where,
                  "zero.deepspeed_config: neox gives the keys of zero too; leave one out");
  }
  ImportDeepSpeedInto(root, files, problems);
  ImportNeoxInto(root, files, problems);
}

std::optional<Node> ImportModel(const Node& named, const Files& files, Problems* problems) {
  const std::optional<SourceText> source = ReadNamed(named, "model.huggingface", files, problems);
  if (!source) return std::nullopt;
  const std::optional<Node> config = ParseJsonDocument(source->text, source->file, problems);
  if (!config) return std::nullopt;
  return ModelOfHuggingFace(*config, source->file, problems);
}

Imported ImportFile(Framework framework, const std::string& path, const ImportFacts& facts,
                    const Files& files) {
  Problems problems;
  const Files::Content content = files.Read(path);
  if (!content.text) throw ScenarioError({{{path, 0, 0}, content.problem}}, {});
  problems.AddSource(path, *content.text);
  const auto config = framework == Framework::kNeox
                          ? ParseDocument(*content.text, path, &problems)
                          : ParseJsonDocument(*content.text, path, &problems);
  if (!config) problems.ThrowIfAny();
  Imported imported;
  switch (framework) {
    case Framework::kDeepSpeed:
      imported.sections = ImportDeepSpeed(
          *config, {.ranks = facts.ranks, .hidden = facts.hidden, .own = nullptr}, &problems);
      break;
    case Framework::kNeox:
      imported.sections = ImportNeox(
          *config, {.world = facts.ranks, .vocabulary = facts.vocabulary, .own = nullptr},
          &problems);
      break;
    case Framework::kHuggingFace:
      imported.sections = MapNode({path, 1, 1});
      if (auto model = ModelOfHuggingFace(*config, path, &problems)) {
        imported.sections.entries.push_back({"model", {path, 1, 1}, std::move(*model)});
        imported.size = ModelSizeOf(imported.sections, &problems);
      }
      break;
  }
  problems.ThrowIfAny();
  imported.warnings = problems.Warnings();
  imported.notes = problems.Notes();
  return imported;
}

}  // namespace zerosim
