#include "models/scenario/assemble.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "models/core/check.h"
#include "models/frameworks/import.h"
#include "models/frameworks/sections.h"
#include "models/scenario/keys.h"

namespace zerosim {
namespace {

constexpr std::size_t kMostIncludes = 16;
constexpr std::string_view kNameCharacters =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";

std::string Join(std::string_view path, std::string_view key) {
  return path.empty() ? std::string(key) : fmt::format("{}.{}", path, key);
}

bool IsReference(std::string_view path) {
  const KeySpec* key = FindKey(path);
  return key != nullptr && key->type == KeyType::kReference;
}

bool IsFlagOrSection(std::string_view path) {
  const KeySpec* key = FindKey(path);
  return key != nullptr && key->type == KeyType::kFlagOrSection;
}

// {base: name} for a name, so that keys can be put beside it; {} for true.
void MakeSection(Node* node, std::string_view path) {
  Node section;
  section.kind = Node::Kind::kMap;
  section.where = node->where;
  if (IsReference(path)) section.entries.push_back({"base", node->where, *node});
  *node = std::move(section);
}

bool CanBecomeSection(const Node& node, std::string_view path) {
  return node.is_text() && (IsReference(path) || (IsFlagOrSection(path) && node.text == "true"));
}

// Puts the keys of `over` over those of `*base`, section by section.
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
      Merge(old, std::move(entry.value), Join(path, entry.key));
      std::ranges::find(base->entries, entry.key, &Entry::key)->where = std::move(entry.where);
    } else {
      base->entries.push_back(std::move(entry));
    }
  }
}

void Erase(Node* map, std::string_view key) {
  std::erase_if(map->entries, [&](const Entry& e) { return e.key == key; });
}

constexpr Shelf kShelves[] = {
    {"cluster.node", "hardware/nodes", "node"},
    {"cluster.node.gpu", "hardware/gpus", "GPU"},
    {"cluster.calibration", "hardware/calibrations", "calibration"},
    {"model", "models", "model"},
};

// A framework's file is not a section: it holds sections that stand below the scenario's own.
constexpr Shelf kFrameworks = {"framework", kFrameworkFolder, "framework"};
constexpr std::string_view kFrameworkSections[] = {"compute", "fsdp", "zero", "collectives"};

class Assembler {
 public:
  Assembler(const std::string& file, const Catalog& catalog, const Files& files, Problems* problems)
      : files_(files), problems_(problems) {
    // The scenario's folder and those above it, as the path names them.
    std::filesystem::path folder = std::filesystem::path(file).parent_path();
    for (int i = 0; i < 8; ++i) {
      folders_.push_back(folder.empty() ? "." : folder.string());
      if (!folder.has_parent_path() || folder.parent_path() == folder) {
        if (!folder.empty() && folder.is_relative()) folders_.emplace_back(".");
        break;
      }
      folder = folder.parent_path();
    }
    folders_.insert(folders_.end(), catalog.folders.begin(), catalog.folders.end());
  }

  std::optional<Node> Load(const std::string& text, const std::string& file) {
    std::vector<std::string> chain;
    return LoadText(text, file, &chain);
  }

  void Apply(const Override& set, Node* root) {
    const std::string place = fmt::format(
        "--set {}={}", set.path, set.value.size() > 60 ? set.value.substr(0, 60) : set.value);
    const Location where{place, 0, 0};
    const std::size_t before = problems_->error_count();
    ApplyAt(set, where, root);
    if (problems_->error_count() > before) problems_->Doubt(set.path);
  }

  // Puts the sections of the framework that `root` names below its own.
  void ApplyFramework(Node* root) {
    const Node* const named = root->Find(kFrameworks.path);
    if (named == nullptr || !named->is_text()) return;  // the reader says what is wrong with it
    std::vector<std::string> chain;
    std::optional<Node> defaults = LoadEntry(*named, kFrameworks, &chain);
    if (!defaults) {
      // What the framework would have given is not missing.
      root->in_doubt = true;
      return;
    }
    for (const Entry& entry : defaults->entries) {
      if (std::ranges::find(kFrameworkSections, entry.key) != std::end(kFrameworkSections))
        continue;
      problems_->Add(entry.where, fmt::format("{}: not a framework's to say; expected {}",
                                              entry.key, fmt::join(kFrameworkSections, ", ")));
    }
    std::erase_if(defaults->entries, [](const Entry& entry) {
      return std::ranges::find(kFrameworkSections, entry.key) == std::end(kFrameworkSections);
    });
    // A scenario has one strategy, and says which.
    if (root->Find("zero") != nullptr) Erase(&*defaults, "fsdp");
    if (root->Find("fsdp") != nullptr) Erase(&*defaults, "zero");
    defaults->where = root->where;
    Merge(&*defaults, std::move(*root), "");
    *root = std::move(*defaults);
  }

  // Puts the files of the catalog in the places of their names.
  void Resolve(Node* root) {
    for (const Shelf& shelf : kShelves) {
      Node* parent = root;
      std::string_view rest = shelf.path;
      for (std::size_t dot; parent != nullptr && (dot = rest.find('.')) != std::string_view::npos;
           rest.remove_prefix(dot + 1)) {
        parent = parent->Find(rest.substr(0, dot));
      }
      Node* node = parent == nullptr ? nullptr : parent->Find(rest);
      if (node == nullptr) continue;
      std::vector<std::string> chain;
      if (!ResolveOne(node, shelf, &chain)) node->kind = Node::Kind::kUnresolved;
    }
  }

 private:
  void ApplyAt(const Override& set, const Location& where, Node* root) {
    std::vector<std::string> keys;
    for (std::size_t begin = 0; begin <= set.path.size();) {
      const std::size_t end = std::min(set.path.find('.', begin), set.path.size());
      keys.push_back(set.path.substr(begin, end - begin));
      begin = end + 1;
    }
    if (std::ranges::find(keys, std::string()) != keys.end() || keys.size() > 16) {
      problems_->Add(where, "expected a key's path such as cluster.nodes=8");
      return;
    }
    if (keys.back() == "include") {
      problems_->Add(where, "include: not an option's to set; write it in the scenario");
      return;
    }
    std::optional<Node> value = ParseValue(set.value, where);
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
      path = Join(path, keys[i]);
      at = at->Find(keys[i]);
      const KeySpec* spec = FindKey(path);
      const bool leaf = spec != nullptr && KeysOf(path).empty() &&
                        spec->type != KeyType::kNumberParameter &&
                        spec->type != KeyType::kDurationParameter;
      if (leaf) {
        problems_->Add(where, fmt::format("{} has no keys below it", path));
        return;
      }
    }
    Merge(root, std::move(*value), "");
  }

  // `chain` are the files that led here.
  std::optional<Node> LoadText(const std::string& text, const std::string& file,
                               std::vector<std::string>* chain) {
    problems_->AddSource(file, text);
    chain->push_back(file);
    std::optional<Node> node = ParseDocument(text, file, problems_);
    if (!node) return std::nullopt;
    const Node* include = node->Find("include");
    if (include == nullptr) return node;
    const Node named = *include;
    Erase(&*node, "include");
    if (!named.is_text() || named.text.empty()) {
      problems_->Add(named.where, "include: expected the name of a file, got " + Describe(named));
      node->in_doubt = true;
      return node;
    }
    const std::string path =
        (std::filesystem::path(file).parent_path() / named.text).lexically_normal().string();
    std::optional<Node> included = LoadFile(path, "include", named, chain);
    // Every key that the included file would give would be reported as missing too.
    if (!included) return std::nullopt;
    Merge(&*included, std::move(*node), "");
    return included;
  }

  std::optional<Node> LoadFile(const std::string& path, std::string_view key, const Node& named,
                               std::vector<std::string>* chain) {
    const auto same = [&](const std::string& earlier) {
      return std::filesystem::path(earlier).lexically_normal() == path;
    };
    if (std::ranges::any_of(*chain, same)) {
      problems_->Add(named.where,
                     fmt::format("{}: {} includes itself by way of {}", key, path, chain->back()));
      return std::nullopt;
    }
    if (chain->size() >= kMostIncludes) {
      problems_->Add(named.where, fmt::format("{}: more than {} files, each naming the next", key,
                                              kMostIncludes));
      return std::nullopt;
    }
    Files::Content content = files_.Read(path);
    if (!content.text) {
      problems_->Add(named.where, fmt::format("{}: {}: {}", key, path, content.problem));
      return std::nullopt;
    }
    return LoadText(*content.text, path, chain);
  }

  // Returns false if there is nothing to put in its place.
  bool ResolveOne(Node* node, const Shelf& shelf, std::vector<std::string>* chain) {
    if (node->is_text()) MakeSection(node, shelf.path);
    if (!node->is_map()) return true;  // the reader says what is wrong with it
    if (shelf.path == "model" && node->Find("huggingface") != nullptr) return ReplaceByImport(node);
    const Node* base = node->Find("base");
    if (base == nullptr) return true;
    const Node named = *base;
    Erase(node, "base");
    std::optional<Node> loaded = LoadEntry(named, shelf, chain);
    if (!loaded) return false;
    if (!ResolveOne(&*loaded, shelf, chain)) return false;
    if (loaded->Find("name") == nullptr) {
      loaded->entries.push_back({"name", named.where, TextNode(named.text, named.where)});
    }
    Merge(&*loaded, std::move(*node), shelf.path);
    *node = std::move(*loaded);
    return true;
  }

  // Puts the keys beside "huggingface" over those of the file that it names.
  bool ReplaceByImport(Node* node) {
    const Node named = *node->Find("huggingface");
    Erase(node, "huggingface");
    if (node->Find("base") != nullptr) {
      problems_->Add(named.where,
                     "model.huggingface: expected either base or huggingface, got both");
      return false;
    }
    std::optional<Node> imported = ImportModel(named, files_, problems_);
    if (!imported) return false;
    Merge(&*imported, std::move(*node), "model");
    *node = std::move(*imported);
    return true;
  }

  std::optional<Node> LoadEntry(const Node& named, const Shelf& shelf,
                                std::vector<std::string>* chain) {
    if (!named.is_text() || named.text.empty() || named.text.size() > 100 ||
        named.text.find_first_not_of(kNameCharacters) != std::string::npos) {
      problems_->Add(
          named.where,
          fmt::format("{}: expected the name of a {} of the catalog or a section, got {}",
                      shelf.path, shelf.what, Describe(named)));
      return std::nullopt;
    }
    std::vector<std::string> known;
    for (const std::string& folder : folders_) {
      const std::filesystem::path shelf_folder = std::filesystem::path(folder) / shelf.folder;
      const std::string path = (shelf_folder / (named.text + ".yaml")).lexically_normal().string();
      if (files_.Exists(path)) return LoadFile(path, shelf.path, named, chain);
      for (const std::string& name : files_.List(shelf_folder.lexically_normal().string())) {
        if (name.ends_with(".yaml")) known.push_back(name.substr(0, name.size() - 5));
      }
    }
    std::ranges::sort(known);
    known.erase(std::unique(known.begin(), known.end()), known.end());
    std::string what =
        fmt::format("{}: no {} {} in the catalog", shelf.path, shelf.what, Quoted(named.text));
    const std::string nearest = Nearest(named.text, known);
    if (!nearest.empty()) {
      what += fmt::format("; did you mean \"{}\"?", nearest);
    } else if (!known.empty()) {
      if (known.size() > 12) known.resize(12);
      what += fmt::format("; there are {}", fmt::join(known, ", "));
    } else {
      what += fmt::format("; no {}/ beside the scenario", shelf.folder);
    }
    problems_->Add(named.where, std::move(what));
    return std::nullopt;
  }

  // The value of an override: YAML, whose problems are at the option as a whole.
  std::optional<Node> ParseValue(const std::string& text, const Location& where) {
    // As the value of a key, so that a plain "8" is a document too.
    Problems inner;
    const bool flow = text.starts_with('{') || text.starts_with('[');
    if (!flow) {
      if (text.empty() || text.find_first_of("\n\r") != std::string::npos) {
        problems_->Add(where, "expected a value, got " + Quoted(text));
        return std::nullopt;
      }
      return TextNode(text, where);
    }
    std::optional<Node> root = ParseDocument("v: " + text, where.file, &inner);
    if (!root || inner.has_errors() || root->entries.size() != 1) {
      problems_->Add(where, "expected a value such as 8 or {bits: 4}, got " + Quoted(text));
      return std::nullopt;
    }
    Node value = std::move(root->entries.front().value);
    PutAt(&value, where);
    return value;
  }

  static void PutAt(Node* node, const Location& where) {
    node->where = where;
    for (Entry& e : node->entries) {
      e.where = where;
      PutAt(&e.value, where);
    }
    for (Node& item : node->items) PutAt(&item, where);
  }

  const Files& files_;
  Problems* const problems_;
  std::vector<std::string> folders_;
};

}  // namespace

std::span<const Shelf> Shelves() {
  return kShelves;
}

std::optional<Node> Assemble(const std::string& text, const std::string& file,
                             const std::vector<Override>& set, const Catalog& catalog,
                             const Files& files, Problems* problems) {
  Assembler assembler(file, catalog, files, problems);
  std::optional<Node> root = assembler.Load(text, file);
  if (!root) return std::nullopt;
  for (const Override& o : set) assembler.Apply(o, &*root);
  assembler.ApplyFramework(&*root);
  assembler.Resolve(&*root);
  ImportFrameworks(&*root, files, problems);
  return root;
}

}  // namespace zerosim
