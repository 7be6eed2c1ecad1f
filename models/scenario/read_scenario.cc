#include "models/scenario/read_scenario.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "models/frameworks/known_problems.h"
#include "models/scenario/canonical_text.h"
#include "models/scenario/key_check.h"
#include "models/scenario/keys.h"
#include "models/scenario/read_sections.h"
#include "models/scenario/validate.h"
#include "models/scenario/warnings.h"

namespace zerosim {
namespace {

// The shelf of the catalog to which most keys at the top of the file `path` belong, if none of them
// is a section of a scenario; else null.
const Shelf* ShelfOf(const Node& root, const std::string& path) {
  std::vector<std::string> keys;  // but for a name, which all have
  for (const Entry& entry : root.entries) {
    if (entry.key != "name" && entry.where.file == path) keys.push_back(entry.key);
  }
  const auto count = [&](const std::string& section) {
    return std::ranges::count_if(
        keys, [&](const std::string& key) { return FindKey(section + key) != nullptr; });
  };
  if (count("") > 0) return nullptr;
  const auto in_shelf = [&](const Shelf& s) { return count(std::string(s.path) + "."); };
  const auto shelf = std::ranges::max_element(Shelves(), {}, in_shelf);
  return 2 * in_shelf(*shelf) > std::ssize(keys) ? &*shelf : nullptr;
}

void RefuseCatalogFile(const Node& root, const std::string& path, Problems* problems) {
  const Shelf* const shelf = ShelfOf(root, path);
  if (shelf == nullptr) return;
  const std::filesystem::path file(path);
  const bool is_there = file.parent_path().string().ends_with(shelf->folder);
  problems->Add({path, 0, 0},
                fmt::format("this is a {}, not a scenario; a scenario names it as \"{}: {}\"{}",
                            shelf->what, shelf->path, file.stem().string(),
                            is_there ? "" : fmt::format(", from a folder {}", shelf->folder)));
  problems->ThrowIfAny();
}

void ReadCollectives(SectionReader collectives, Scenario* scenario) {
  collectives.ReadChoice("algorithm", &scenario->algorithm);
  std::string version;
  collectives.Read("nccl", &version);
  if (const auto parsed = ParseNcclVersion(version)) {
    scenario->nccl = *parsed;
  } else {
    collectives.Report("nccl",
                       fmt::format("expected a version such as 2.27.5, got \"{}\"", version));
  }
  std::vector<std::string> variables;
  collectives.Read("env", &variables);
  for (const std::string& variable : variables) {
    if (const auto problem = SetVariable(variable, &scenario->nccl_overrides)) {
      collectives.Report("env", *problem);
    }
  }
  if (scenario->algorithm == CollectiveAlgorithm::kNccl &&
      scenario->cluster.node.gpu.compute_capability == 0) {
    collectives.Report("algorithm",
                       "nccl runs on GPUs of NVIDIA's, and cluster.node.gpu.compute_capability is "
                       "not given; give it, or take another algorithm");
  }
  collectives.Finish();
}

void CheckOneStrategy(const Node& root, SectionReader* top) {
  if (root.in_doubt) return;
  if (top->Has("zero") && top->Has("fsdp")) {
    top->Report("fsdp", "a scenario has one strategy, and \"zero\" is given too");
  } else if (!top->Has("zero") && !top->Has("fsdp")) {
    top->Report("zero", "missing; expected a section \"zero\" or \"fsdp\"");
  }
}

}  // namespace

ReadResult ReadScenarioText(const std::string& text, const std::string& path,
                            const std::vector<Override>& set, const Catalog& catalog,
                            const Files& files) {
  Problems problems;
  std::optional<Node> root = Assemble(text, path, set, catalog, files, &problems);
  if (!root) problems.ThrowIfAny();
  root->where = {path, 1, 1};
  RefuseCatalogFile(*root, path, &problems);

  ReadResult result;
  Scenario& scenario = result.scenario;
  scenario.name = std::filesystem::path(path).stem().string();
  SectionReader top(*root, &problems);
  top.Read("name", &scenario.name);
  top.Read("framework", &scenario.framework);
  scenario.cluster = ReadCluster(top.Section("cluster"));
  scenario.model = ReadModel(top.Section("model"));
  scenario.training = ReadTraining(top.Section("training"), &scenario.model);
  scenario.parallel = ReadParallelism(top.Section("parallelism"));
  scenario.zero = ReadZero(top.Section("zero"), scenario.data_ranks_per_node(), &scenario.model);
  scenario.fsdp = ReadFsdp(top.Section("fsdp"), top.Has("fsdp"), scenario.data_ranks_per_node());
  CheckOneStrategy(*root, &top);
  scenario.compute = ReadCompute(top.Section("compute"));
  ReadCollectives(top.Section("collectives"), &scenario);
  top.Finish();

  CheckBetweenSections(*root, &scenario, &problems);
  ReportKnownProblems(*root, scenario, &problems);
  problems.ThrowIfAny();

  WarnOfKeysWithoutEffect(*root, scenario, &problems);
  result.warnings = problems.Warnings();
  result.notes = problems.Notes();
  result.canonical_text = CanonicalText(*root);
  return result;
}

ClusterResult ReadClusterOf(const std::string& path, const std::vector<Override>& set,
                            const Catalog& catalog) {
  const DiskFiles files;
  Files::Content content = files.Read(path);
  if (!content.text) throw ScenarioError({{{path, 0, 0}, content.problem}}, {});
  Problems problems;
  std::optional<Node> root = Assemble(*content.text, path, set, catalog, files, &problems);
  if (!root) problems.ThrowIfAny();
  root->where = {path, 1, 1};
  RefuseCatalogFile(*root, path, &problems);

  // Other sections may stand there, and are not this command's to judge.
  std::erase_if(root->entries,
                [](const Entry& entry) { return entry.key != "name" && entry.key != "cluster"; });
  Scenario scenario;
  scenario.name = std::filesystem::path(path).stem().string();
  SectionReader top(*root, &problems);
  top.Read("name", &scenario.name);
  scenario.cluster = ReadCluster(top.Section("cluster"));
  CheckCluster(*root, &scenario, &problems);
  problems.ThrowIfAny();
  return {scenario.name, scenario.cluster, CanonicalText(*root)};
}

ReadResult ReadScenario(const std::string& path, const std::vector<Override>& set,
                        const Catalog& catalog) {
  const DiskFiles files;
  Files::Content content = files.Read(path);
  if (!content.text) throw ScenarioError({{{path, 0, 0}, content.problem}}, {});
  return ReadScenarioText(*content.text, path, set, catalog, files);
}

}  // namespace zerosim
