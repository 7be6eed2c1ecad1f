// zerosim validate: holds predictions against published measurements.
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "models/core/diagnostics.h"
#include "tools/zerosim/command.h"
#include "tools/zerosim/output_file.h"
#include "tools/zerosim/validation.h"

namespace zerosim {
namespace {

constexpr const char* kFooter =
    "A file lists measured runs of one source and the scenario of each: validate/README.md.\n"
    "Errors are predicted / measured - 1; means and quantiles are of their magnitudes. Rows "
    "marked\n"
    "calibration may have served to fit constants, rows marked test have not. Memory is the peak "
    "of\n"
    "the framework's allocator.\n"
    "\n"
    "Examples:\n"
    "  zerosim validate validate/published/*.yaml\n"
    "  zerosim validate validate/published/llm_foundry.yaml --all --json errors.json";

struct ValidateOptions {
  std::vector<std::string> files;
  bool all = false;
  std::string json;
  int jobs = 0;
};

// "12 of 181" on one line of a terminal, written over and over.
class Progress {
 public:
  explicit Progress(std::size_t total) : total_(total), shown_(isatty(STDERR_FILENO) == 1) {}
  ~Progress() {
    if (shown_) fmt::print(stderr, "\r\033[K");
  }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  void Show(std::size_t done) const {
    if (shown_) fmt::print(stderr, "\rsimulated {} of {} rows", done, total_);
  }

 private:
  std::size_t total_;
  bool shown_;
};

void Validate(const ValidateOptions& options) {
  const DiskFiles disk;
  std::vector<PublishedFile> files;
  std::vector<ValidatedRow> rows;
  std::vector<Scenario> scenarios;
  for (const std::string& path : options.files) {
    PublishedFile file = ReadPublished(path, disk);
    for (const PublishedRow& row : file.rows) {
      try {
        scenarios.push_back(ScenarioOf(row, path, DefaultCatalog(), disk));
      } catch (const ScenarioError& e) {
        throw UsageError(fmt::format("{}: row {}:\n{}", path, row.id, e.what()));
      }
      rows.push_back({file.name, row, scenarios.back().cluster.node.gpu.name, {}});
    }
    files.push_back(std::move(file));
  }

  // Opened first: who cannot write a result need not wait for it.
  std::optional<OutputFile> json;
  if (!options.json.empty()) json.emplace(options.json);
  const int jobs = options.jobs > 0
                       ? options.jobs
                       : static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  std::vector<Prediction> predictions;
  {
    const Progress progress(rows.size());
    predictions = PredictAll(scenarios, jobs, [&](std::size_t done) { progress.Show(done); });
  }
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i].predicted = predictions[i];

  if (json) {
    json->Write(ValidationJson(files, rows).dump(2));
    json->Write("\n");
    json->Commit();
  }
  if (options.json != "-") fmt::print("{}", ValidationText(files, rows, options.all));
}

}  // namespace

Command AddValidate(CLI::App& zerosim) {
  const auto options = std::make_shared<ValidateOptions>();
  CLI::App* app =
      zerosim.add_subcommand("validate", "Hold predictions against published measurements");
  app->add_option("FILE", options->files, "YAML files of measured runs")
      ->required()
      ->check(FilePath());
  app->add_flag("--all", options->all, "Print every row, and those left out with the reason");
  app->add_option("--json", options->json,
                  "Write rows and errors as JSON; \"-\" is standard output")
      ->type_name("FILE")
      ->check(FilePath());
  app->add_option("--jobs", options->jobs, "Simulations at a time (default: one a processor)")
      ->type_name("N")
      ->check(CLI::Range(1, 1024));
  app->footer(kFooter);
  return {app, [options] { Validate(*options); }};
}

}  // namespace zerosim
