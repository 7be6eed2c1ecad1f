#include "tools/zerosim/validation.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "models/core/units_text.h"
#include "models/scenario/read_scenario.h"
#include "validate/error_summary.h"

namespace zerosim {
namespace {

constexpr std::size_t kWorstRows = 10;

using Json = nlohmann::ordered_json;
using ErrorOf = std::optional<double> (ValidatedRow::*)() const;

// Errors of the rows that pass `wanted`.
std::vector<double> Errors(const std::vector<ValidatedRow>& rows, ErrorOf error_of,
                           const std::function<bool(const ValidatedRow&)>& wanted) {
  std::vector<double> errors;
  for (const ValidatedRow& row : rows) {
    const std::optional<double> error = (row.*error_of)();
    if (error && wanted(row)) errors.push_back(*error);
  }
  return errors;
}

// Classes of rows to sum up, in the order in which they first occur.
struct Class {
  std::string name;
  std::function<bool(const ValidatedRow&)> holds;
};

void AddClasses(const std::vector<ValidatedRow>& rows,
                const std::function<std::string(const ValidatedRow&)>& name_of,
                std::vector<Class>* classes) {
  std::vector<std::string> names;
  for (const ValidatedRow& row : rows) {
    const std::string name = name_of(row);
    if (std::ranges::find(names, name) != names.end()) continue;
    names.push_back(name);
    classes->push_back({name, [=](const ValidatedRow& other) { return name_of(other) == name; }});
  }
}

std::vector<Class> ClassesOf(const std::vector<ValidatedRow>& rows) {
  std::vector<Class> classes{{"all", [](const ValidatedRow&) { return true; }}};
  AddClasses(
      rows, [](const ValidatedRow& r) { return r.file; }, &classes);
  AddClasses(
      rows,
      [](const ValidatedRow& r) {
        return r.file + (r.row.calibration ? ", calibration" : ", test");
      },
      &classes);
  AddClasses(
      rows, [](const ValidatedRow& r) { return r.file + ", " + r.row.group; }, &classes);
  AddClasses(
      rows, [](const ValidatedRow& r) { return r.gpu; }, &classes);
  return classes;
}

std::string Percent(double error) {
  return fmt::format("{:.1f} %", 100 * error);
}

std::string Signed(double error) {
  return fmt::format("{:+.1f} %", 100 * error);
}

std::string SummaryTable(const std::vector<ValidatedRow>& rows, const char* what,
                         ErrorOf error_of) {
  std::string text;
  for (const Class& c : ClassesOf(rows)) {
    const ErrorSummary s = Summarize(Errors(rows, error_of, c.holds));
    if (s.count == 0) continue;
    text += fmt::format("  {:<46} {:>5} {:>8} {:>8} {:>8} {:>8} {:>8}\n", c.name, s.count,
                        Percent(s.mean), Percent(s.median), Percent(s.p90), Percent(s.worst),
                        Signed(s.bias));
  }
  if (text.empty()) return "";
  return fmt::format("\nErrors of {}\n  {:<46} {:>5} {:>8} {:>8} {:>8} {:>8} {:>8}\n{}", what, "",
                     "rows", "mean", "median", "p90", "worst", "bias", text);
}

std::string RowText(const ValidatedRow& row) {
  std::string text;
  const std::string name = fmt::format("{} {}", row.file, row.row.id);
  if (row.row.step_time) {
    text += fmt::format("  {:<58} {:>10} {:>10} {:>8}\n", name, FormatSeconds(*row.row.step_time),
                        FormatSeconds(row.predicted.step), Signed(*row.step_error()));
  }
  if (row.row.memory) {
    text += fmt::format("  {:<58} {:>10} {:>10} {:>8}\n", name, FormatBytes(*row.row.memory),
                        FormatBytes(row.predicted.allocated), Signed(*row.memory_error()));
  }
  return text;
}

double WorstError(const ValidatedRow& row) {
  return std::max(std::abs(row.step_error().value_or(0)), std::abs(row.memory_error().value_or(0)));
}

std::string RowsText(const char* title, const std::vector<ValidatedRow>& rows) {
  std::string text =
      fmt::format("\n{:<60} {:>10} {:>10} {:>8}\n", title, "measured", "predicted", "error");
  for (const ValidatedRow& row : rows) text += RowText(row);
  return text;
}

Json SummaryJson(const std::vector<double>& errors) {
  const ErrorSummary s = Summarize(errors);
  return {{"rows", s.count}, {"mean", s.mean},   {"median", s.median},
          {"p90", s.p90},    {"worst", s.worst}, {"bias", s.bias}};
}

Json RowJson(const ValidatedRow& row) {
  Json json = {{"file", row.file},
               {"id", row.row.id},
               {"at", row.row.at},
               {"group", row.row.group},
               {"split", row.row.calibration ? "calibration" : "test"},
               {"gpu", row.gpu}};
  if (row.row.step_time) {
    json["step_time_s"] = {{"measured", row.row.step_time->seconds()},
                           {"predicted", row.predicted.step.seconds()},
                           {"error", *row.step_error()}};
  }
  if (row.row.memory) {
    json["memory_bytes"] = {{"measured", row.row.memory->count()},
                            {"predicted", row.predicted.allocated.count()},
                            {"error", *row.memory_error()}};
  }
  return json;
}

}  // namespace

std::optional<double> ValidatedRow::step_error() const {
  if (!row.step_time) return std::nullopt;
  return Ratio(predicted.step, *row.step_time) - 1;
}

std::optional<double> ValidatedRow::memory_error() const {
  if (!row.memory) return std::nullopt;
  return static_cast<double>(predicted.allocated.count()) /
             static_cast<double>(row.memory->count()) -
         1;
}

Scenario ScenarioOf(const PublishedRow& row, const std::string& path, const Catalog& catalog,
                    const Files& files) {
  // All of a row's keys are overrides; what they stand over holds a name alone.
  return ReadScenarioText("name: " + row.id + "\n", path, row.scenario, catalog, files).scenario;
}

std::string ValidationText(const std::vector<PublishedFile>& files,
                           const std::vector<ValidatedRow>& rows, bool all) {
  std::string text;
  for (const PublishedFile& file : files) {
    text += fmt::format("{}: {} rows, {} skipped\n  source  {}\n  split   {}\n", file.name,
                        file.rows.size(), file.skipped.size(), file.source, file.split);
  }
  if (all) {
    text += RowsText("All rows", rows);
    for (const PublishedFile& file : files) {
      for (const SkippedRow& skipped : file.skipped) {
        text += fmt::format("  {} {}: skipped: {}\n", file.name, skipped.id, skipped.reason);
      }
    }
  }
  text += SummaryTable(rows, "step time", &ValidatedRow::step_error);
  text += SummaryTable(rows, "peak memory", &ValidatedRow::memory_error);
  std::vector<ValidatedRow> worst = rows;
  std::ranges::stable_sort(worst, std::greater(), WorstError);
  worst.resize(std::min(worst.size(), kWorstRows));
  text += RowsText("Worst rows", worst);
  return text;
}

Json ValidationJson(const std::vector<PublishedFile>& files,
                    const std::vector<ValidatedRow>& rows) {
  Json sources = Json::array();
  for (const PublishedFile& file : files) {
    Json skipped = Json::array();
    for (const SkippedRow& row : file.skipped) {
      skipped.push_back({{"id", row.id}, {"reason", row.reason}});
    }
    sources.push_back({{"name", file.name},
                       {"source", file.source},
                       {"split", file.split},
                       {"skipped", skipped}});
  }
  Json step = Json::object();
  Json memory = Json::object();
  for (const Class& c : ClassesOf(rows)) {
    const std::vector<double> of_step = Errors(rows, &ValidatedRow::step_error, c.holds);
    if (!of_step.empty()) step[c.name] = SummaryJson(of_step);
    const std::vector<double> of_memory = Errors(rows, &ValidatedRow::memory_error, c.holds);
    if (!of_memory.empty()) memory[c.name] = SummaryJson(of_memory);
  }
  Json all = Json::array();
  for (const ValidatedRow& row : rows) all.push_back(RowJson(row));
  return {
      {"sources", sources}, {"step_time_errors", step}, {"memory_errors", memory}, {"rows", all}};
}

}  // namespace zerosim
