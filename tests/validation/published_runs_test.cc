// Predictions against the published runs in validate/published/: the errors that README.md states.
//
// The bounds hold what was reached with some room for changes that are right in themselves. They
// are means over many rows: a single row says little (the sources' own scatter is 2 to 3 %).
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "models/scenario/files.h"
#include "tools/zerosim/predict.h"
#include "tools/zerosim/validation.h"
#include "validate/error_summary.h"

namespace zerosim {
namespace {

constexpr int kJobs = 2;

struct Bound {
  const char* name;
  const char* file;
  const char* group;  // empty: all
  enum class Split { kCalibration, kTest, kBoth } split;
  std::size_t rows;  // so that none is lost
  double mean;       // bounds of errors of step time
  double median;
  double bias;  // of the mean with its sign, either way
};

constexpr Bound kBounds[] = {
    {"llm_foundry_one_node", "llm_foundry", "", Bound::Split::kCalibration, 142, 0.04, 0.03, 0.02},
    {"llm_foundry_several_nodes", "llm_foundry", "", Bound::Split::kTest, 32, 0.035, 0.025, 0.035},
    {"torchtitan", "torchtitan", "", Bound::Split::kBoth, 7, 0.115, 0.1, 0.115},
    {"simumax", "simumax_b200", "", Bound::Split::kBoth, 16, 0.18, 0.18, 0.18},
    {"azure_175b", "deepspeed_azure", "GPT-175B", Bound::Split::kBoth, 19, 0.035, 0.025, 0.02},
    {"azure", "deepspeed_azure", "", Bound::Split::kBoth, 27, 0.065, 0.05, 0.055},
};

std::vector<ValidatedRow> Predict(const std::string& name) {
  const DiskFiles disk;
  const std::string path = std::string(ZEROSIM_SOURCE_DIR "/validate/published/") + name + ".yaml";
  const Catalog catalog{{ZEROSIM_SOURCE_DIR "/scenarios"}};
  const PublishedFile file = ReadPublished(path, disk);
  std::vector<ValidatedRow> rows;
  std::vector<Scenario> scenarios;
  for (const PublishedRow& row : file.rows) {
    scenarios.push_back(ScenarioOf(row, path, catalog, disk));
    rows.push_back({file.name, row, scenarios.back().cluster.node.gpu.name, {}});
  }
  const std::vector<Prediction> predictions = PredictAll(scenarios, kJobs, [](std::size_t) {});
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i].predicted = predictions[i];
  return rows;
}

class PublishedRunsTest : public testing::TestWithParam<Bound> {};

TEST_P(PublishedRunsTest, StepTimesAreWithinTheStatedErrors) {
  const Bound bound = GetParam();

  std::vector<double> errors;
  for (const ValidatedRow& row : Predict(bound.file)) {
    if (*bound.group != '\0' && row.row.group != bound.group) continue;
    if (bound.split == Bound::Split::kCalibration && !row.row.calibration) continue;
    if (bound.split == Bound::Split::kTest && row.row.calibration) continue;
    if (row.row.step_time) errors.push_back(*row.step_error());
  }

  const ErrorSummary s = Summarize(errors);
  std::printf("  %zu rows: mean %.1f %%, median %.1f %%, worst %.1f %%, bias %+.1f %%\n", s.count,
              100 * s.mean, 100 * s.median, 100 * s.worst, 100 * s.bias);
  EXPECT_EQ(s.count, bound.rows);
  EXPECT_LE(s.mean, bound.mean);
  EXPECT_LE(s.median, bound.median);
  EXPECT_LE(std::abs(s.bias), bound.bias);
}

INSTANTIATE_TEST_SUITE_P(Sources, PublishedRunsTest, testing::ValuesIn(kBounds),
                         [](const testing::TestParamInfo<Bound>& info) {
                           return std::string(info.param.name);
                         });

struct MemoryBound {
  const char* file;
  std::size_t rows;
  double mean;
  double worst;
};

// Nothing is fitted to these rows. torchtitan reports what PyTorch reserved, SimuMax what was
// allocated.
constexpr MemoryBound kMemoryBounds[] = {
    {"torchtitan", 7, 0.05, 0.16},
    {"simumax_b200", 16, 0.015, 0.045},
};

class PublishedMemoryTest : public testing::TestWithParam<MemoryBound> {};

TEST_P(PublishedMemoryTest, PeaksAreWithinTheStatedErrors) {
  const MemoryBound bound = GetParam();

  std::vector<double> errors;
  for (const ValidatedRow& row : Predict(bound.file)) {
    if (row.row.memory) errors.push_back(*row.memory_error());
  }

  const ErrorSummary s = Summarize(errors);
  std::printf("  %zu rows: mean %.1f %%, worst %.1f %%\n", s.count, 100 * s.mean, 100 * s.worst);
  EXPECT_EQ(s.count, bound.rows);
  EXPECT_LE(s.mean, bound.mean);
  EXPECT_LE(s.worst, bound.worst);
}

INSTANTIATE_TEST_SUITE_P(Sources, PublishedMemoryTest, testing::ValuesIn(kMemoryBounds),
                         [](const testing::TestParamInfo<MemoryBound>& info) {
                           return std::string(info.param.file);
                         });

}  // namespace
}  // namespace zerosim
