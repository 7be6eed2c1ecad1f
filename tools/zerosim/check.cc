// zerosim check: reads scenarios as `run` would and says what is wrong with them.
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "models/core/diagnostics.h"
#include "models/parallel/rank_view.h"
#include "models/program/build_program.h"
#include "models/scenario/read_scenario.h"
#include "models/transformer/transformer.h"
#include "tools/zerosim/command.h"
#include "tools/zerosim/derived_text.h"

namespace zerosim {
namespace {

struct CheckOptions {
  std::vector<std::string> scenarios;
  std::vector<std::string> set;
};

void Check(const CheckOptions& options) {
  std::vector<Override> set;
  for (const std::string& text : options.set) set.push_back(ParseOverride(text));

  int bad = 0;
  for (const std::string& path : options.scenarios) {
    try {
      const ReadResult read = ReadScenario(path, set, DefaultCatalog());
      const Scenario& scenario = read.scenario;
      const ModelLayout layout = Layout(RankModel(scenario.model, scenario.parallel));
      const StepProgram program = BuildProgram(scenario, layout);
      for (const std::string& note : read.notes) fmt::print("{}\n", note);
      for (const std::string& warning : read.warnings) fmt::print("{}\n", warning);
      for (const std::string& warning : program.warnings) {
        fmt::print("{}: warning: {}\n", path, warning);
      }
      fmt::print("{}: ok\n{}", path, DerivedText(scenario));
    } catch (const ScenarioError& e) {
      std::fflush(stdout);
      PrintError(e.what());
      ++bad;
    }
  }
  if (bad > 0) {
    throw UsageError(fmt::format("check: {} of {} scenario{} refused", bad,
                                 options.scenarios.size(),
                                 options.scenarios.size() == 1 ? "" : "s"));
  }
}

}  // namespace

Command AddCheck(CLI::App& zerosim) {
  const auto options = std::make_shared<CheckOptions>();
  CLI::App* app =
      zerosim.add_subcommand("check", "Read scenarios and report every problem in them");
  app->add_option("SCENARIO", options->scenarios, "YAML files")->required()->check(FilePath());
  app->add_option("--set", options->set, "Override a key by its path; may be repeated")
      ->type_name("KEY=VALUE")
      ->take_all()
      ->expected(1);
  app->footer("Example:\n  zerosim check scenarios/*.yaml");
  return {app, [options] { Check(*options); }};
}

}  // namespace zerosim
