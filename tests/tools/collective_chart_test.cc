#include "tools/zerosim/collective_chart.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace zerosim {
namespace {

using testing::ElementsAre;

CollectiveAnswer AnswerOf(const std::string& cluster, const std::string& path) {
  CollectiveAnswer answer;
  answer.cluster = cluster;
  answer.path = path;
  answer.question.nodes = 2;
  answer.question.gpus_per_node = 8;
  for (const std::int64_t size : {1024, 65536}) {
    CollectiveRow row;
    row.size = Bytes::Count(size);
    row.busbw = BytesPerSecond::GigabytesPerSecond(static_cast<double>(size) / 1024);
    answer.rows.push_back(row);
  }
  return answer;
}

std::vector<std::string> LabelsOf(const Chart& chart) {
  std::vector<std::string> labels;
  for (const ChartSeries& series : chart.series) labels.push_back(series.label);
  return labels;
}

TEST(CollectiveChart, NamesInTheTitleWhatAllShareAndInLabelsTheRest) {
  CollectiveAnswer ring = AnswerOf("A", "a.yaml");
  ring.question.algorithm = Algorithm::kRing;
  const Chart algorithms = ChartOf({AnswerOf("A", "a.yaml"), ring});
  EXPECT_EQ(algorithms.title, "all_reduce on A, 2 nodes x 8 GPUs");
  EXPECT_THAT(LabelsOf(algorithms),
              ElementsAre("NCCL " + Name(CollectiveQuestion().version), "ring"));

  const Chart clusters = ChartOf({AnswerOf("A", "a.yaml"), AnswerOf("B", "b.yaml")});
  EXPECT_EQ(clusters.title, "all_reduce");
  EXPECT_THAT(LabelsOf(clusters), ElementsAre("A, 2 nodes x 8 GPUs", "B, 2 nodes x 8 GPUs"));

  CollectiveAnswer other = ring;
  other.cluster = "B";
  EXPECT_THAT(LabelsOf(ChartOf({AnswerOf("A", "a.yaml"), other})),
              ElementsAre("A, 2 nodes x 8 GPUs, NCCL " + Name(CollectiveQuestion().version),
                          "B, 2 nodes x 8 GPUs, ring"));
}

TEST(CollectiveChart, TellsClustersOfOneNameApartByTheirFiles) {
  const std::string nccl = "NCCL " + Name(CollectiveQuestion().version);
  EXPECT_THAT(LabelsOf(ChartOf({AnswerOf("A", "a.yaml"), AnswerOf("A", "b.yaml")})),
              ElementsAre(nccl + " (a.yaml)", nccl + " (b.yaml)"));
}

TEST(CollectiveChart, HasBusbwOverSizesWithTicksAtPowersOfTwo) {
  const Chart chart = ChartOf({AnswerOf("A", "a.yaml")});
  EXPECT_TRUE(chart.log_x);
  ASSERT_EQ(chart.series.size(), 1U);
  EXPECT_FALSE(chart.series[0].measured);
  ASSERT_EQ(chart.series[0].points.size(), 2U);
  EXPECT_DOUBLE_EQ(chart.series[0].points[1].x, 65536);
  EXPECT_DOUBLE_EQ(chart.series[0].points[1].y, 64);
  std::string ticks;
  for (const ChartTick& tick : chart.x_ticks) ticks += tick.label + " ";
  EXPECT_EQ(ticks, "1K 2K 4K 8K 16K 32K 64K ");
  CollectiveAnswer wide = AnswerOf("A", "a.yaml");
  wide.rows[0].size = Bytes::Count(8);
  wide.rows[1].size = Bytes::Count(std::int64_t{8} << 30);
  ticks.clear();
  for (const ChartTick& tick : ChartOf({wide}).x_ticks) ticks += tick.label + " ";
  EXPECT_EQ(ticks, "32 1K 32K 1M 32M 1G ");
}

TEST(CollectiveChart, HasMeasuredPointsOnce) {
  CollectiveAnswer answer = AnswerOf("A", "a.yaml");
  answer.measured = {Seconds::Micros(1), Seconds::Micros(2)};
  const Chart chart = ChartOf({answer, answer});
  ASSERT_EQ(chart.series.size(), 3U);
  EXPECT_EQ(chart.series[2].label, "measured");
  EXPECT_TRUE(chart.series[2].measured);
  // An all-reduce of 16 ranks: busbw is 2 x 15/16 of 65,536 B over 2 us.
  EXPECT_DOUBLE_EQ(chart.series[2].points[1].x, 65536);
  EXPECT_NEAR(chart.series[2].points[1].y, 1.875 * 32.768, 1e-9);
}

}  // namespace
}  // namespace zerosim
