#include "tools/zerosim/nccl_validation.h"

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

#include <fmt/format.h>

#include "models/core/units_text.h"
#include "validate/error_summary.h"

namespace zerosim {
namespace {

std::string Percent(double error) {
  return fmt::format("{:.1f} %", 100 * error);
}

// Errors of one line of the table.
struct Line {
  std::string name;
  std::vector<double> errors;
  std::array<std::vector<double>, kSizeClasses> by_size;
};

std::vector<Line> LinesBy(const NcclComparison& comparison,
                          const std::function<std::string(const NcclPoint&)>& name_of) {
  std::vector<Line> lines;
  for (const NcclPoint& point : comparison.points) {
    const std::string name = name_of(point);
    auto line = std::ranges::find(lines, name, &Line::name);
    if (line == lines.end()) {
      lines.push_back({name, {}, {}});
      line = lines.end() - 1;
    }
    line->errors.push_back(point.error());
    line->by_size[SizeClassOf(point.size)].push_back(point.error());
  }
  return lines;
}

std::string TableText(std::string_view title, const std::vector<Line>& lines) {
  std::string text =
      fmt::format("\n{:<42} {:>5} {:>8} {:>8} {:>8} ", title, "rows", "median", "p90", "bias");
  for (const std::string_view name : kSizeClassNames) text += fmt::format(" {:>10}", name);
  text += '\n';
  for (const Line& line : lines) {
    const ErrorSummary s = Summarize(line.errors);
    text += fmt::format("  {:<40} {:>5} {:>8} {:>8} {:>8} ", line.name, s.count, Percent(s.median),
                        Percent(s.p90), fmt::format("{:+.1f} %", 100 * s.bias));
    for (const std::vector<double>& errors : line.by_size) {
      text += fmt::format(" {:>10}", errors.empty() ? "-" : Percent(Summarize(errors).median));
    }
    text += '\n';
  }
  return text;
}

std::string NodesText(const NcclGroup& group) {
  return fmt::format("{} {}", group.nodes, group.nodes == 1 ? "node" : "nodes");
}

std::string ChoicesText(const NcclComparison& comparison) {
  const auto agreeing =
      std::ranges::count_if(comparison.choices, [](const auto& c) { return c.agrees(); });
  std::string text = fmt::format("\n{} of {} logged choices of algorithm, protocol and channels\n",
                                 agreeing, comparison.choices.size());
  for (const NcclChoicePoint& point : comparison.choices) {
    if (point.agrees()) continue;
    text += fmt::format("  {}:{}: {} of {} bytes logged {} {} on {}", point.run->log,
                        point.logged.line, Name(point.logged.collective), point.logged.size.count(),
                        Name(point.logged.algorithm), Name(point.logged.protocol),
                        point.logged.channels.value_or(0));
    if (point.chosen) {
      text += fmt::format(", chosen {} {} on {}", Name(point.chosen->algorithm),
                          Name(point.chosen->protocol), point.chosen->channels);
    }
    text += '\n';
  }
  return text;
}

std::string RowsText(const NcclComparison& comparison) {
  std::string text = fmt::format("\n{:<60} {:>12} {:<16} {:>3} {:>10} {:>10} {:>8}\n", "log",
                                 "bytes", "choice", "ch", "measured", "predicted", "error");
  for (const NcclPoint& point : comparison.points) {
    std::string choice;
    int channels = 0;
    if (point.predicted.choice) {
      choice = fmt::format("{} {}", Name(point.predicted.choice->algorithm),
                           Name(point.predicted.choice->protocol));
      channels = point.predicted.choice->channels;
    }
    text += fmt::format("{:<60} {:>12} {:<16} {:>3} {:>10} {:>10} {:>8}\n", point.run->log,
                        point.size.count(), choice, channels, FormatSeconds(point.measured),
                        FormatSeconds(point.predicted.total()),
                        fmt::format("{:+.1f} %", 100 * point.error()));
  }
  return text;
}

}  // namespace

std::string NcclSummaryClass(const NcclPoint& point) {
  if (point.run->group.nodes > 1) return point.cluster->fabric;
  return fmt::format("one node, {}", point.cluster->gpu);
}

std::string NcclValidationText(const NcclComparison& comparison, bool all) {
  std::string text =
      "Time of collectives: predicted / measured - 1, of magnitudes; medians by size\n";
  text +=
      TableText("Cluster", LinesBy(comparison, [](const NcclPoint& point) {
                  return fmt::format("{}, {}", point.cluster->name, NodesText(point.run->group));
                }));
  text += TableText("Fabric and collective", LinesBy(comparison, [](const NcclPoint& point) {
                      return fmt::format("{}, {}", NcclSummaryClass(point),
                                         Name(point.run->collective));
                    }));
  text += TableText("Fabric", LinesBy(comparison, NcclSummaryClass));
  text += ChoicesText(comparison);
  if (all) text += RowsText(comparison);
  return text;
}

}  // namespace zerosim
