// zerosim import: what a configuration of another framework becomes in a scenario.
#include <memory>
#include <string>

#include <fmt/format.h>

#include "models/core/diagnostics.h"
#include "models/scenario/files.h"
#include "models/scenario/import_model.h"
#include "tools/zerosim/command.h"

namespace zerosim {
namespace {

// "8,030,261,248".
std::string Grouped(std::int64_t n) {
  std::string out = fmt::format("{}", n);
  for (int at = static_cast<int>(out.size()) - 3; at > 0; at -= 3) {
    out.insert(static_cast<std::size_t>(at), ",");
  }
  return out;
}

std::string ContentOf(const std::string& path) {
  Files::Content content = DiskFiles().Read(path);
  if (!content.text) throw ScenarioError({{{path, 0, 0}, content.problem}}, {});
  return *content.text;
}

void PrintHuggingFace(const std::string& path) {
  const ImportedModel model = ImportHuggingFace(ContentOf(path), path);
  for (const std::string& warning : model.warnings) fmt::print(stderr, "{}\n", warning);
  fmt::print("# {} parameters", Grouped(model.parameters));
  if (model.active_parameters != model.parameters) {
    fmt::print(", of which a token meets {}", Grouped(model.active_parameters));
  }
  fmt::print("\n{}", model.yaml);
}

}  // namespace

Command AddImport(CLI::App& zerosim) {
  struct Options {
    std::string kind;
    std::string file;
  };
  const auto options = std::make_shared<Options>();
  CLI::App* app = zerosim.add_subcommand(
      "import", "Print what another framework's configuration becomes in a scenario");
  app->add_option("KIND", options->kind, "huggingface: a config.json, to the section model:")
      ->required();
  app->add_option("FILE", options->file, "The configuration")->required();
  app->footer("Example:\n  zerosim import huggingface config.json > scenarios/models/mine.yaml");
  return {
      app, [options] {
        if (options->kind != "huggingface") {
          throw UsageError(fmt::format("import: expected huggingface, got \"{}\"", options->kind));
        }
        PrintHuggingFace(options->file);
      }};
}

}  // namespace zerosim
