// The scenarios and the catalog that are shipped.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/scenario/read_scenario.h"

namespace zerosim {
namespace {

namespace fs = std::filesystem;

const fs::path kScenarios = fs::path(ZEROSIM_SOURCE_DIR) / "scenarios";

ReadResult Read(const std::string& name, const std::vector<Override>& set = {}) {
  return ReadScenario((kScenarios / (name + ".yaml")).string(), set, {});
}

// Names of the files in `folder`, without ".yaml".
std::vector<std::string> NamesIn(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".yaml") names.push_back(entry.path().stem().string());
  }
  std::ranges::sort(names);
  return names;
}

TEST(Scenarios, AreAllReadWithoutAWarning) {
  const std::vector<std::string> names = NamesIn(kScenarios);
  EXPECT_GE(names.size(), 10U);
  for (const std::string& name : names) {
    EXPECT_THAT(Read(name).warnings, testing::IsEmpty()) << name;
  }
}

TEST(Scenarios, NameTheirSchemaForEditors) {
  for (const std::string& name : NamesIn(kScenarios)) {
    std::ifstream in(kScenarios / (name + ".yaml"));
    std::string line;
    std::getline(in, line);
    EXPECT_EQ(line, "# yaml-language-server: $schema=scenario.schema.json") << name;
  }
}

TEST(Catalog, HasOnlyEntriesThatCanBeRead) {
  for (const std::string& node : NamesIn(kScenarios / "hardware/nodes")) {
    EXPECT_NO_THROW(Read("zero3_dgx2_384", {{"cluster.node", node}})) << node;
  }
  for (const std::string& gpu : NamesIn(kScenarios / "hardware/gpus")) {
    EXPECT_NO_THROW(Read("zero3_dgx2_384", {{"cluster.node.gpu", gpu}})) << gpu;
  }
  for (const std::string& calibration : NamesIn(kScenarios / "hardware/calibrations")) {
    EXPECT_NO_THROW(Read("zero3_dgx2_384", {{"cluster.calibration", calibration}})) << calibration;
  }
  for (const std::string& model : NamesIn(kScenarios / "models")) {
    EXPECT_NO_THROW(Read("zero3_dgx2_384", {{"model", model}})) << model;
  }
}

// Names two lines of a comment near every number would not check; that each entry says where its
// numbers come from, this does.
TEST(Catalog, NamesASourceInEveryFile) {
  for (const char* folder :
       {"hardware/gpus", "hardware/nodes", "hardware/calibrations", "models"}) {
    for (const std::string& name : NamesIn(kScenarios / folder)) {
      std::ifstream in(kScenarios / folder / (name + ".yaml"));
      const std::string text((std::istreambuf_iterator<char>(in)), {});
      const bool has_base = text.find("\nbase: ") != std::string::npos;
      EXPECT_TRUE(has_base || text.find("arXiv") != std::string::npos ||
                  text.find("llm-foundry") != std::string::npos ||
                  text.find("data sheet") != std::string::npos)
          << folder << "/" << name;
    }
  }
}

// DeepBench, V100 tensor cores, 4096 x n x 4096 (baidu-research/DeepBench at da81ba7): n = 7000
// reaches 112.3 TFLOP/s. The formula of GemmSpec must come within 2 % of it.
TEST(Catalog, GivesTheV100ItsMeasuredMatrixRate) {
  const GpuSpec gpu = Read("zero3_dgx2_384").scenario.cluster.node.gpu;

  const double rate =
      gpu.gemm.peak_fraction * gpu.peak.teraflops_per_second() / (1 + gpu.gemm.rows_half / 7000);

  EXPECT_NEAR(rate / 112.3, 1, 0.02);
}

// Sustained asymptotes r peak / f in TFLOP/s that the fits to training runs gave.
TEST(Catalog, GivesAmpereAndLaterTheirSustainedRates) {
  const auto rate = [](const std::string& name) {
    const GpuSpec gpu =
        Read("zero3_dgx2_384", {{"cluster.node.gpu", name}}).scenario.cluster.node.gpu;
    return gpu.gemm.peak_fraction * gpu.peak.teraflops_per_second() / gpu.gemm.sustained_slowdown;
  };

  EXPECT_NEAR(rate("a100_sxm4_80gb"), 258, 1);
  EXPECT_NEAR(rate("a100_sxm4_40gb"), 258, 1);
  EXPECT_NEAR(rate("h100_sxm5_80gb"), 641, 3);  // 643 from rounded constants
  EXPECT_NEAR(rate("h200"), 636, 1);
  EXPECT_NEAR(rate("b200"), 1239, 1);
}

TEST(Scenarios, OfThePaperDifferInTheStrategyOnly) {
  Scenario zeropp = Read("zeropp_dgx2_384").scenario;
  const Scenario zero3 = Read("zero3_dgx2_384").scenario;

  EXPECT_EQ(zeropp.world_size(), 384);
  EXPECT_EQ(zeropp.cluster.fabric.nics_per_node, 1);
  EXPECT_EQ(zeropp.zero.secondary_partition_size, 16);
  EXPECT_EQ(zeropp.zero.quantized_weights->bits, 8);
  EXPECT_EQ(zeropp.zero.quantized_gradients->between_nodes.bits, 4);
  EXPECT_EQ(zeropp.zero.reduce_bucket_size, zero3.zero.reduce_bucket_size);
  EXPECT_EQ(zeropp.training.sequence_length, zero3.training.sequence_length);
  EXPECT_FALSE(zero3.zero.quantized_weights || zero3.zero.quantized_gradients ||
               zero3.zero.has_secondary());
}

TEST(Catalog, GivesTheCalibrationItsIntervals) {
  const Calibration c = Read("zero3_dgx2_384").scenario.cluster.calibration;

  EXPECT_EQ(c.nic_fraction.value, 0.885);
  EXPECT_EQ(c.nic_fraction.low, 0.855);
  EXPECT_EQ(c.nic_fraction.high, 0.912);
  EXPECT_EQ(c.nic_step_latency.value, Seconds::Micros(3).seconds());
  EXPECT_EQ(c.collective_launch.value, Seconds::Millis(0.2).seconds());
}

}  // namespace
}  // namespace zerosim
