#include "models/scenario/read_scenario.h"

#include <filesystem>
#include <utility>

#include "models/frameworks/known_problems.h"
#include "models/scenario/canonical_text.h"
#include "models/scenario/read_sections.h"
#include "models/scenario/validate.h"

namespace zerosim {

ReadResult ReadScenarioText(const std::string& text, const std::string& path,
                            const std::vector<Override>& set, const Catalog& catalog,
                            const Files& files) {
  Problems problems;
  std::optional<Node> root = Assemble(text, path, set, catalog, files, &problems);
  if (!root) problems.ThrowIfAny();
  root->where = {path, 1, 1};

  ReadResult result;
  Scenario& scenario = result.scenario;
  scenario.name = std::filesystem::path(path).stem().string();
  SectionReader top(*root, &problems);
  top.Read("name", &scenario.name);
  scenario.cluster = ReadCluster(top.Section("cluster"));
  scenario.model = ReadModel(top.Section("model"));
  scenario.training = ReadTraining(top.Section("training"));
  ReadParallelism(top.Section("parallelism"));
  scenario.zero = ReadZero(top.Section("zero"), scenario.cluster.node.gpus);
  scenario.compute = ReadCompute(top.Section("compute"));
  SectionReader collectives = top.Section("collectives");
  collectives.ReadChoice("algorithm", &scenario.algorithm);
  collectives.Finish();
  top.Finish();

  // Checks between values need the values.
  if (!problems.has_errors()) CheckBetweenSections(*root, &scenario, &problems);
  ReportKnownProblems(*root, scenario, &problems);
  problems.ThrowIfAny();

  WarnOfKeysWithoutEffect(*root, scenario, &problems);
  result.warnings = problems.Warnings();
  result.notes = problems.Notes();
  result.canonical_text = CanonicalText(*root);
  return result;
}

ReadResult ReadScenario(const std::string& path, const std::vector<Override>& set,
                        const Catalog& catalog) {
  const DiskFiles files;
  Files::Content content = files.Read(path);
  if (!content.text) throw ScenarioError({{{path, 0, 0}, content.problem}}, {});
  return ReadScenarioText(*content.text, path, set, catalog, files);
}

}  // namespace zerosim
