// zerosim run: simulates one step of a scenario and reports what it costs.
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "models/core/units_text.h"
#include "models/memory/memory.h"
#include "models/scenario/read_scenario.h"
#include "sim/message_engine.h"
#include "sim/simulate.h"
#include "tools/zerosim/command.h"
#include "tools/zerosim/exceptions.h"
#include "tools/zerosim/jitter.h"
#include "tools/zerosim/output_file.h"
#include "tools/zerosim/report_json.h"
#include "tools/zerosim/report_text.h"
#include "tools/zerosim/sha256.h"
#include "tools/zerosim/trace_json.h"
#include "tools/zerosim/version.h"

namespace zerosim {
namespace {

constexpr const char* kFooter =
    "Output files are written whole or not at all; \"-\" is standard output (give --quiet too). "
    "The "
    "same\nscenario gives the same bytes.\n"
    "\n"
    "Examples:\n"
    "  zerosim run scenarios/zeropp_dgx2_384.yaml\n"
    "  zerosim run my.yaml --set cluster.nodes=48 --set zero.quantized_weights=false\n"
    "  zerosim run my.yaml --quiet --json result.json\n"
    "  zerosim run my.yaml --trace trace.json    then open it in https://ui.perfetto.dev\n"
    "\n"
    "What a key of a scenario or of the result, or a line of the report means: zerosim explain "
    "TERM.";

struct RunOptions {
  std::string scenario;
  std::vector<std::string> set;
  std::string json;
  std::string trace;
  std::string engine = "fluid";
  std::string dump;
  bool require_fit = false;
  bool timing = false;
  bool quiet = false;
};

std::optional<OutputFile> Open(const std::string& path) {
  return path.empty() ? std::nullopt : std::optional<OutputFile>(std::in_place, path);
}

void Dump(const std::string& stage, const Scenario& scenario) {
  const PreparedStep step = Prepare(scenario);
  fmt::print("{}", stage == "program"    ? DumpProgram(step)
                   : stage == "lowering" ? DumpLowering(step)
                                         : DumpPlatform(step));
}

void RequireFit(const std::string& path, const StepReport& report) {
  const MemoryReport& memory = report.memory;
  if (memory.fits && !memory.host_fits) {
    throw UsageError(fmt::format("{}: does not fit: offload needs {} of a node's memory of {}",
                                 path, FormatBytes(memory.host_per_node),
                                 FormatBytes(memory.host_capacity)));
  }
  if (memory.fits) return;
  throw UsageError(fmt::format("{}: does not fit: needs {} a GPU of {}, when the host launches {}",
                               path, FormatBytes(memory.peak), FormatBytes(memory.capacity),
                               memory.peak_at));
}

// A scenario that is too large for the engine is the user's to change.
SimulationResult SimulateFor(const Scenario& scenario, Engine engine) {
  try {
    return Simulate(scenario, engine);
  } catch (const EngineLimit& e) {
    throw UsageError(fmt::format("--engine message: {}", e.what()));
  }
}

// Two results in one file, or a result in place of the scenario, would lose one of them.
void CheckOutputs(const RunOptions& options) {
  const auto same = [](const std::string& a, const std::string& b) {
    std::error_code error;
    return !a.empty() && !b.empty() && (a == b || std::filesystem::equivalent(a, b, error));
  };
  // Devices take more than one output.
  if (same(options.json, options.trace) && !options.json.starts_with("/dev/")) {
    throw UsageError(fmt::format("--json and --trace both name {}", options.json));
  }
  for (const std::string& output : {options.json, options.trace}) {
    if (same(output, options.scenario)) {
      throw UsageError(fmt::format("{}: the scenario would be overwritten", output));
    }
  }
}

// With --dump nothing is simulated that these could write, judge or time.
void CheckDump(const CLI::App& run) {
  for (const char* other :
       {"--json", "--trace", "--engine", "--require-fit", "--timing", "--quiet"}) {
    if (run.count(other) == 0) continue;
    throw UsageError(fmt::format("--dump excludes {}: nothing is simulated", other));
  }
}

void Run(const RunOptions& options) {
  CheckOutputs(options);
  std::vector<Override> set;
  for (const std::string& text : options.set) set.push_back(ParseOverride(text));
  const ReadResult read = ReadScenario(options.scenario, set, DefaultCatalog());
  if (!options.dump.empty()) return Dump(options.dump, read.scenario);

  // Opened first: who cannot write a result need not wait for it.
  std::optional<OutputFile> json = Open(options.json);
  std::optional<OutputFile> trace = Open(options.trace);

  // Before the simulation: the processes that it takes would inherit a spent SimGrid.
  std::optional<ExceptionsReport> exceptions = CostOfExceptions(read.scenario, [&](int nodes) {
    std::vector<Override> fewer = set;
    fewer.push_back(ParseOverride(fmt::format("cluster.nodes={}", nodes)));
    fewer.push_back(ParseOverride("cluster.exceptions=[]"));
    return ReadScenario(options.scenario, fewer, DefaultCatalog()).scenario;
  });
  std::optional<JitterReport> jitter = StepsWithJitter(read.scenario);
  const Engine engine = options.engine == "message" ? Engine::kMessage : Engine::kFluid;
  SimulationResult result = SimulateFor(read.scenario, engine);
  StepReport& report = result.report;
  report.exceptions = std::move(exceptions);
  report.jitter = std::move(jitter);
  report.version = Version();
  report.scenario_sha256 = Sha256Hex(read.canonical_text);
  report.warnings.insert(report.warnings.begin(), read.warnings.begin(), read.warnings.end());
  const double wall_s = result.timeline.wall.seconds();
  report.wall_s = options.timing ? wall_s : 0;

  if (json) {
    json->Write(
        ReportJson(report).dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
    json->Write("\n");
    json->Commit();
  }
  if (trace) {
    WriteTrace(
        result.step.program, result.timeline, result.step.always, result.utilization,
        [&](std::string_view part) { trace->Write(part); }, result.step.fullest_class);
    trace->Commit();
  }
  if (!options.quiet) fmt::print("{}", ReportText(report));
  if (!options.quiet && (options.timing || isatty(STDERR_FILENO) == 1)) {
    std::fflush(stdout);
    PrintError(fmt::format("simulated in {}\n", FormatSeconds(Seconds::Count(wall_s))));
  }
  if (options.require_fit) RequireFit(options.scenario, report);
}

}  // namespace

Command AddRun(CLI::App& zerosim) {
  const auto options = std::make_shared<RunOptions>();
  CLI::App* app = zerosim.add_subcommand("run", "Simulate one step of a scenario and report on it");
  app->add_option("SCENARIO", options->scenario, "YAML file")->required()->check(FilePath());
  app->add_option("--set", options->set, "Override a key by its path; may be repeated")
      ->type_name("KEY=VALUE")
      ->take_all()
      ->expected(1);
  app->add_option("--json", options->json, "Write the result as JSON")
      ->type_name("FILE")
      ->check(FilePath());
  app->add_option("--trace", options->trace, "Write the timeline as a Chrome trace")
      ->type_name("FILE")
      ->check(FilePath());
  app->add_option("--engine", options->engine,
                  "Collectives as flows, or every message (small clusters)")
      ->type_name("fluid|message")
      ->check(OneOf({"fluid", "message"}))
      ->capture_default_str();
  app->add_option("--dump", options->dump,
                  "Print program, lowering or platform in place of running")
      ->type_name("program|lowering|platform")
      ->check(OneOf({"program", "lowering", "platform"}));
  app->add_flag("--require-fit", options->require_fit,
                "Exit with 2 if the step needs more memory than a GPU has");
  app->add_flag("--timing", options->timing,
                "Tell how long the simulation took, in wall_s too (else 0)");
  app->add_flag("--quiet", options->quiet, "Print no report");
  app->footer(kFooter);
  return {app, [options, app] {
            if (!options->dump.empty()) CheckDump(*app);
            Run(*options);
          }};
}

}  // namespace zerosim
