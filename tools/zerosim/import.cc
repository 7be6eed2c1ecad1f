// zerosim import: shows what a configuration of another framework is as sections of a scenario.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "models/frameworks/import.h"
#include "tools/zerosim/command.h"
#include "tools/zerosim/sections_yaml.h"

namespace zerosim {
namespace {

constexpr const char* kFooter =
    "What a key means that has no effect or is not modelled is said in comments or, if it would "
    "change\nthe step, as an error. A scenario can name the file instead: zero.deepspeed_config, "
    "neox.\n"
    "\n"
    "Examples:\n"
    "  zerosim import deepspeed ds_config.json\n"
    "  zerosim import deepspeed ds_config.json --hidden 4096 --ranks 64\n"
    "  zerosim import neox configs/13B.yml --vocabulary 50432";

struct ImportOptions {
  std::string framework;
  std::string file;
  std::optional<std::int64_t> hidden;
  std::optional<std::int64_t> ranks;
  std::optional<std::int64_t> vocabulary;
};

void Import(const ImportOptions& options) {
  const ImportFacts facts{
      .ranks = options.ranks, .hidden = options.hidden, .vocabulary = options.vocabulary};
  const Framework framework =
      options.framework == "neox" ? Framework::kNeox : Framework::kDeepSpeed;
  const Imported imported = ImportFile(framework, options.file, facts, DiskFiles());
  fmt::print("# From {}.\n", options.file);
  for (const std::string& warning : imported.warnings) fmt::print("# {}\n", warning);
  for (const std::string& note : imported.notes) fmt::print("# {}\n", note);
  fmt::print("{}", SectionsYaml(imported.sections));
}

}  // namespace

Command AddImport(CLI::App& zerosim) {
  const auto options = std::make_shared<ImportOptions>();
  CLI::App* app =
      zerosim.add_subcommand("import", "Show a DeepSpeed or GPT-NeoX configuration as a scenario");
  app->add_option("FRAMEWORK", options->framework, "deepspeed or neox")
      ->required()
      ->check(OneOf({"deepspeed", "neox"}));
  app->add_option("FILE", options->file, "ds_config.json, or the YAML of GPT-NeoX")->required();
  app->add_option("--hidden", options->hidden, "Width of the model, for what is \"auto\"")
      ->type_name("N")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 20));
  app->add_option("--ranks", options->ranks,
                  "Ranks (of DeepSpeed the data-parallel ones), for the batch sizes")
      ->type_name("N")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 24));
  app->add_option("--vocabulary", options->vocabulary,
                  "Padded vocabulary of the model, which GPT-NeoX does not say")
      ->type_name("N")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{100'000'000}));
  app->footer(kFooter);
  return {app, [options] { Import(*options); }};
}

}  // namespace zerosim
