// zerosim import: what a file of another tool becomes in a scenario: a framework's configuration,
// or a machine's topology.
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "models/frameworks/import.h"
#include "models/frameworks/sections_yaml.h"
#include "tools/zerosim/command.h"
#include "tools/zerosim/import_topology.h"

namespace zerosim {
namespace {

constexpr const char* kFooter =
    "What a key means that has no effect or is not modelled is said in comments or, if it would "
    "change\nthe step, as an error. A scenario can name the file instead: zero.deepspeed_config, "
    "neox,\nmodel.huggingface. What a topology does not say has a default and a comment: not in "
    "the "
    "file.\n"
    "\n"
    "Examples:\n"
    "  zerosim import deepspeed ds_config.json\n"
    "  zerosim import deepspeed ds_config.json --hidden 4096 --ranks 64\n"
    "  zerosim import huggingface config.json > scenarios/models/mine.yaml\n"
    "  zerosim import neox configs/13B.yml --vocabulary 50432\n"
    "  NCCL_TOPO_DUMP_FILE=topo.xml ./train && zerosim import nccl-topo topo.xml\n"
    "  nvidia-smi topo -m > topo.txt && zerosim import nvidia-smi-topo topo.txt --gpu h200";

struct ImportOptions {
  std::string file;
  ImportFacts facts;
};

// "8,030,261,248".
std::string Grouped(std::int64_t n) {
  std::string out = fmt::format("{}", n);
  for (int at = static_cast<int>(out.size()) - 3; at > 0; at -= 3) {
    out.insert(static_cast<std::size_t>(at), ",");
  }
  return out;
}

void Import(Framework framework, const ImportOptions& options) {
  const Imported imported = ImportFile(framework, options.file, options.facts, DiskFiles());
  fmt::print("# From {}.\n", options.file);
  for (const std::string& warning : imported.warnings) fmt::print("# {}\n", warning);
  for (const std::string& note : imported.notes) fmt::print("# {}\n", note);
  if (const auto& size = imported.size) {
    fmt::print("# {} parameters", Grouped(size->parameters));
    if (size->active_parameters != size->parameters) {
      fmt::print(", of which a token meets {}", Grouped(size->active_parameters));
    }
    fmt::print("\n");
  }
  fmt::print("{}", SectionsYaml(imported.sections));
}

void AddFact(CLI::App* app, const std::string& name, std::optional<std::int64_t>* fact,
             std::int64_t most, const std::string& what) {
  app->add_option(name, *fact, what)->type_name("N")->check(CLI::Range(std::int64_t{1}, most));
}

constexpr std::int64_t kMostRanks = std::int64_t{1} << 24;
constexpr std::int64_t kMostHidden = std::int64_t{1} << 20;
constexpr std::int64_t kMostVocabulary = 100'000'000;

}  // namespace

Command AddImport(CLI::App& zerosim) {
  const auto options = std::make_shared<ImportOptions>();
  ImportFacts* const facts = &options->facts;
  CLI::App* app =
      zerosim.add_subcommand("import", "Print what another tool's file is in a scenario");
  app->require_subcommand(1);
  app->footer(kFooter);
  const auto add = [&](const std::string& name, const std::string& what, const std::string& file) {
    CLI::App* framework = app->add_subcommand(name, what);
    framework->add_option("FILE", options->file, file)->required()->check(FilePath());
    return framework;
  };

  CLI::App* deepspeed =
      add("deepspeed", "ZeRO's keys, batch sizes and precision of DeepSpeed", "ds_config.json");
  AddFact(deepspeed, "--hidden", &facts->hidden, kMostHidden,
          "Width of the model, for what is \"auto\"");
  AddFact(deepspeed, "--ranks", &facts->ranks, kMostRanks,
          "Data-parallel ranks, for the batch sizes");

  CLI::App* huggingface =
      add("huggingface", "The model of a Hugging Face repository", "config.json");

  CLI::App* neox = add("neox", "Model, training and ZeRO's keys of GPT-NeoX", "YAML file");
  AddFact(neox, "--ranks", &facts->ranks, kMostRanks, "Ranks of the job, for the batch sizes");
  AddFact(neox, "--vocabulary", &facts->vocabulary, kMostVocabulary,
          "Padded vocabulary of the model, which GPT-NeoX does not say");

  const std::function<bool()> import_topology = AddTopologies(app);

  return {app, [=] {
            if (import_topology()) return;
            const Framework framework = huggingface->parsed() ? Framework::kHuggingFace
                                        : neox->parsed()      ? Framework::kNeox
                                                              : Framework::kDeepSpeed;
            Import(framework, *options);
          }};
}

}  // namespace zerosim
