// zerosim export: writes the configuration with which another framework trains a scenario.
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "models/scenario/read_scenario.h"
#include "tools/zerosim/command.h"
#include "tools/zerosim/deepspeed_json.h"

namespace zerosim {
namespace {

struct ExportOptions {
  std::string framework;
  std::string scenario;
  std::vector<std::string> set;
};

void Export(const ExportOptions& options) {
  std::vector<Override> set;
  for (const std::string& text : options.set) set.push_back(ParseOverride(text));
  const ReadResult read = ReadScenario(options.scenario, set, DefaultCatalog());
  if (read.scenario.fsdp) {
    throw UsageError(
        fmt::format("export deepspeed: {}: the strategy is fsdp, which DeepSpeed has "
                    "no key for; expected zero",
                    options.scenario));
  }
  const DeepSpeedExport result = ExportDeepSpeed(read.scenario);
  fmt::print("{}\n", result.config.dump(2));
  std::fflush(stdout);
  for (const std::string& what : result.left_out) {
    fmt::print(stderr, "{}: not in the configuration: {}\n", options.scenario, what);
  }
}

}  // namespace

Command AddExport(CLI::App& zerosim) {
  const auto options = std::make_shared<ExportOptions>();
  CLI::App* app =
      zerosim.add_subcommand("export", "Write a scenario's strategy as a DeepSpeed configuration");
  app->add_option("FRAMEWORK", options->framework, "deepspeed")
      ->required()
      ->check(OneOf({"deepspeed"}));
  app->add_option("SCENARIO", options->scenario, "YAML file")->required()->check(FilePath());
  app->add_option("--set", options->set, "Override a key by its path; may be repeated")
      ->type_name("KEY=VALUE")
      ->take_all()
      ->expected(1);
  app->footer(
      "Sequence length, activation checkpointing and the number of ranks are for the training "
      "script\nand the launcher; no key of DeepSpeed holds them.\n"
      "\n"
      "Example:\n"
      "  zerosim export deepspeed scenarios/zeropp_dgx2_384.yaml > ds_config.json");
  return {app, [options] { Export(*options); }};
}

}  // namespace zerosim
