// Configurations that people published, where this machine has the collection: each is read, or
// refused for a key that is named here. The collection is not part of the repository; the folder
// ZEROSIM_PUBLIC_DATA, or shared/ beside the repository, holds it.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/frameworks/deepspeed_keys.h"
#include "models/scenario/files.h"
#include "tests/scenario/small_scenario.h"

namespace zerosim {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

fs::path PublicData() {
  const char* const folder = std::getenv("ZEROSIM_PUBLIC_DATA");
  return folder != nullptr ? fs::path(folder) : fs::path(ZEROSIM_SOURCE_DIR) / "../shared";
}

std::string Text(const fs::path& path) {
  return DiskFiles().Read(path.string()).text.value_or("");
}

std::vector<fs::path> FilesIn(const std::string& folder, const std::string& extension) {
  std::vector<fs::path> files;
  if (!fs::exists(PublicData() / folder)) return files;
  for (const auto& entry : fs::directory_iterator(PublicData() / folder)) {
    if (entry.path().extension() == extension) files.push_back(entry.path());
  }
  std::ranges::sort(files);
  return files;
}

// What is refused, by a part of the file's name, and the texts that say why.
const std::multimap<std::string, std::string>& Refused() {
  static const auto* const refused = new std::multimap<std::string, std::string>{};
  return *refused;
}

// Of 32 ranks in nodes of 8, so that every batch and hpZ of the files divides; ALCF's nodes
// have 12.
std::string ScenarioFor(const std::string& name) {
  const bool twelve = name.find("ALCF") != std::string::npos;
  const bool sixteen = name.find("tutorial") != std::string::npos;
  std::string text = Small("  node: tiny_node\n  nodes: 2\n",
                           std::string("  node: {base: tiny_node, gpus: ") +
                               (twelve    ? "12"
                                : sixteen ? "16"
                                          : "8") +
                               ", host_memory_bandwidth: 100 GB/s}\n  nodes: " +
                               (name.find("mixz") != std::string::npos ? "1" : "4") + "\n");
  const std::size_t at = text.find("  stage: 3\n");
  return text.replace(at, 11, "  deepspeed_config: ds.json\n");
}

TEST(PublicConfigs, OfDeepSpeedAreReadOrRefusedForANamedKey) {
  std::vector<fs::path> files = FilesIn("data/files/ds_config", ".json");
  for (const fs::path& file : FilesIn("data/deepspeed-configs", ".json")) files.push_back(file);
  if (files.empty()) GTEST_SKIP() << "no published configurations in " << PublicData();

  for (const fs::path& file : files) {
    const std::string name = file.filename().string();
    // Fragments say nothing of the precision.
    const std::string error =
        ErrorOf(ScenarioFor(name), {{"training.precision", "fp16"}}, {{"ds.json", Text(file)}});
    bool refused = false;
    for (const auto& [part, what] : Refused()) {
      if (name.find(part) == std::string::npos) continue;
      EXPECT_THAT(error, HasSubstr(what)) << name;
      refused = true;
    }
    if (!refused) {
      EXPECT_EQ(error, "") << name;
    }
  }
}

TEST(PublicConfigs, OfDeepSpeedKeepTheirValues) {
  const fs::path folder = PublicData() / "data/deepspeed-configs";
  if (!fs::exists(folder)) GTEST_SKIP() << "no " << folder;
  const auto zero = [&](const std::string& name) {
    return ReadSmall(ScenarioFor(name), {{"training.precision", "fp16"}},
                     {{"ds.json", Text(folder / name)}})
        .scenario.zero;
  };

  const ZeroConfig aurora = zero("CONVERTED__ALCF_AuroraGPT70B_hpz.json");
  EXPECT_EQ(aurora.secondary_partition_size, 12);
  EXPECT_EQ(aurora.collective(), GradientCollective::kAllReduce);
  EXPECT_EQ(aurora.max_live_parameters, 3'000'000'000);
  EXPECT_EQ(aurora.reduce_bucket_size, 90'000'000);
  const ZeroConfig tutorial = zero("DeepSpeed-tutorial__zeropp.json");
  EXPECT_EQ(tutorial.secondary_partition_size, 16);
  EXPECT_TRUE(tutorial.quantized_weights && tutorial.quantized_gradients);
  EXPECT_EQ(tutorial.reduce_bucket_size, 10'000'000);
  const ZeroConfig axolotl = zero("axolotl__zero3.json");
  EXPECT_EQ(axolotl.max_live_parameters, 0);
  EXPECT_EQ(axolotl.max_reuse_distance, 0);
  EXPECT_EQ(axolotl.reduce_bucket_size, 64 * 64);
}

// Of GPT-NeoX. EleutherAI gives 20.55e9 parameters for the 20B and 6.857e9 for Pythia 6.9B; the 13B
// has 12 L h^2 + 2 V h.
TEST(PublicConfigs, OfNeoxAreRead) {
  const std::vector<fs::path> files = FilesIn("data/files/neox_yml", ".yml");
  if (files.empty()) GTEST_SKIP() << "no published configurations in " << PublicData();

  struct Published {
    double billions;
    int tensor;
    int pipeline;
    Block block;
  };
  const std::map<std::string, Published> published = {
      {"13B.yml", {13.11, 1, 1, Block::kPreNorm}},
      {"20B.yml", {20.55, 2, 4, Block::kParallelTwoNorms}},
      {"pythia_6-9B.yml", {6.857, 2, 1, Block::kParallelTwoNorms}}};
  for (const fs::path& file : files) {
    const std::string name = file.filename().string();
    SCOPED_TRACE(name);
    const Scenario s = ReadSmall(
                           "cluster:\n  node: tiny_node\n  nodes: 2\n"
                           "  fabric: {nics_per_node: 2, nic_bandwidth: 100 Gbps, latency: 2 us}\n"
                           "neox: n.yml\nmodel: {vocabulary: 50432}\n",
                           {}, {{"n.yml", Text(file)}})
                           .scenario;

    const Published& expected = published.at(name);
    const auto parameters = static_cast<double>(Layout(s.model).parameters());
    EXPECT_NEAR(parameters * 1e-9 / expected.billions, 1, 0.002);
    EXPECT_EQ(s.parallel.tensor, expected.tensor);
    EXPECT_EQ(s.parallel.pipeline, expected.pipeline);
    EXPECT_EQ(s.model.block, expected.block);
    EXPECT_EQ(s.zero.stage, 1);
    EXPECT_EQ(s.training.partition_checkpoints, name == "pythia_6-9B.yml");
  }
}

// Every key that the reference lists is in the table.
TEST(PublicConfigs, NameNoKeyThatTheTableLacks) {
  const std::string text = Text(PublicData() / "reference/zeropp/config_keys.yaml");
  if (text.empty()) GTEST_SKIP() << "no reference in " << PublicData();

  std::string section;
  int keys = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    at = end + 1;
    if (line == "top_level:") section = "";
    if (line == "zero_optimization:") section = "zero_optimization";
    const std::string mark = "  - {key: ";
    if (!line.starts_with(mark)) continue;
    std::string key = line.substr(mark.size(), line.find_first_of(",}") - mark.size());
    std::string parent = section;
    if (const std::size_t dot = key.find('.'); dot != std::string::npos) {
      parent = key.substr(0, dot);
      key = key.substr(dot + 1);
    }
    EXPECT_NE(FindDeepSpeedKey(parent, key), nullptr) << parent << " " << key;
    ++keys;
  }
  EXPECT_GE(keys, 40);
}

}  // namespace
}  // namespace zerosim
