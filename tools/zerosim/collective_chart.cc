#include "tools/zerosim/collective_chart.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "models/network/collective_cost.h"

namespace zerosim {
namespace {

constexpr int kMostTicks = 12;

// As nccl-tests reads it: 8, 64K, 8G. Of powers of two.
std::string SizeText(int power) {
  const std::string_view units = " KMGTP";
  const std::size_t unit = static_cast<std::size_t>(power) / 10;
  return unit == 0 ? fmt::format("{}", 1 << power)
                   : fmt::format("{}{}", 1 << power % 10, units[unit]);
}

std::vector<ChartTick> SizeTicks(const std::vector<CollectiveAnswer>& answers) {
  double least = 1e300;
  double most = 1;
  for (const CollectiveAnswer& answer : answers) {
    for (const CollectiveRow& row : answer.rows) {
      const auto size = static_cast<double>(row.size.count());
      least = std::min(least, size);
      most = std::max(most, size);
    }
  }
  const int first = static_cast<int>(std::floor(std::log2(std::min(least, most))));
  const int last = static_cast<int>(std::ceil(std::log2(most)));
  int step = 1;
  while ((last - first) / step >= kMostTicks) step = step == 1 ? 2 : step == 2 ? 5 : 2 * step;
  std::vector<ChartTick> ticks;
  for (int power = first; power <= last; ++power) {
    if (power % step == 0) ticks.push_back({SizeText(power), std::exp2(power)});
  }
  return ticks;
}

std::string WhereText(const CollectiveAnswer& answer) {
  return fmt::format("{}, {} nodes x {} GPUs", answer.cluster, answer.question.nodes,
                     answer.question.gpus_per_node);
}

std::string HowText(const CollectiveAnswer& answer) {
  const CollectiveQuestion& question = answer.question;
  return question.algorithm ? std::string(NameOf(*question.algorithm))
                            : "NCCL " + Name(question.version);
}

ChartSeries Predicted(const CollectiveAnswer& answer, std::string label) {
  ChartSeries series{std::move(label), {}, false};
  series.points.reserve(answer.rows.size());
  for (const CollectiveRow& row : answer.rows) {
    series.points.push_back(
        {static_cast<double>(row.size.count()), row.busbw.gigabytes_per_second()});
  }
  return series;
}

ChartSeries Measured(const CollectiveAnswer& answer) {
  const CollectiveQuestion& question = answer.question;
  const double factor = BusFactor(question.kind, question.nodes * question.gpus_per_node);
  ChartSeries series{"measured", {}, true};
  series.points.reserve(answer.rows.size());
  for (std::size_t i = 0; i < answer.rows.size(); ++i) {
    const Bytes size = answer.rows[i].size;
    series.points.push_back({static_cast<double>(size.count()),
                             (factor * (size / answer.measured[i])).gigabytes_per_second()});
  }
  return series;
}

}  // namespace

Chart ChartOf(const std::vector<CollectiveAnswer>& answers) {
  std::set<std::string> places;
  std::set<std::string> ways;
  for (const CollectiveAnswer& answer : answers) {
    places.insert(WhereText(answer));
    ways.insert(HowText(answer));
  }
  Chart chart;
  chart.title = std::string(NameOf(answers.front().question.kind));
  if (places.size() == 1) chart.title += " on " + *places.begin();
  chart.x_label = "size, bytes";
  chart.y_label = "busbw, GB/s";
  chart.log_x = true;
  chart.x_ticks = SizeTicks(answers);
  for (const CollectiveAnswer& answer : answers) {
    std::string label;
    if (places.size() > 1) label = WhereText(answer);
    if (ways.size() > 1 || places.size() == 1) {
      label += (label.empty() ? "" : ", ") + HowText(answer);
    }
    chart.series.push_back(Predicted(answer, std::move(label)));
  }
  // Of two clusters of one name and size only the files differ.
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const std::string label = chart.series[i].label;
    for (std::size_t other = i + 1; other < answers.size(); ++other) {
      if (chart.series[other].label != label || answers[other].path == answers[i].path) continue;
      chart.series[i].label = fmt::format("{} ({})", label, answers[i].path);
      chart.series[other].label = fmt::format("{} ({})", label, answers[other].path);
    }
  }
  if (!answers.front().measured.empty()) chart.series.push_back(Measured(answers.front()));
  return chart;
}

}  // namespace zerosim
