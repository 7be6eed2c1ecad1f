// The table of keys against what is written from it: schema, README, and the reader.
#include "models/scenario/keys.h"

#include <cstdlib>
#include <fstream>
#include <functional>
#include <set>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "models/core/units_text.h"
#include "models/scenario/schema.h"
#include "tests/scenario/small_scenario.h"

namespace zerosim {
namespace {

using nlohmann::json;
using testing::HasSubstr;

constexpr char kBegin[] = "<!-- written from models/scenario/keys_*.cc: begin -->\n";
constexpr char kEnd[] = "<!-- end -->\n";

std::string PathOf(const std::string& name) {
  return std::string(ZEROSIM_SOURCE_DIR) + "/scenarios/" + name;
}

std::string ContentOf(const std::string& name) {
  std::ifstream in(PathOf(name));
  return {std::istreambuf_iterator<char>(in), {}};
}

// Replaces a golden file, as `tools/test --update-golden` asks for. Returns whether it did.
bool Update(const std::string& name, const std::string& content) {
  const char* const update = std::getenv("ZEROSIM_UPDATE_GOLDEN");
  if (update == nullptr || std::string(update) != "1") return false;
  std::ofstream(PathOf(name)) << content;
  return true;
}

// Collects the paths of all properties below `schema`.
void Collect(const json& schema, const std::string& path, std::set<std::string>* paths) {
  if (schema.contains("anyOf")) {
    for (const json& form : schema["anyOf"]) Collect(form, path, paths);
  }
  if (schema.contains("items")) Collect(schema["items"], path + "[]", paths);
  if (!schema.contains("properties")) return;
  EXPECT_EQ(schema["additionalProperties"], false) << path;
  for (const auto& [key, value] : schema["properties"].items()) {
    const std::string child = path.empty() ? key : fmt::format("{}.{}", path, key);
    paths->insert(child);
    Collect(value, child, paths);
  }
}

TEST(Schema, IsTheOneThatIsShipped) {
  if (Update("scenario.schema.json", SchemaJson())) return;
  EXPECT_EQ(ContentOf("scenario.schema.json"), SchemaJson());
}

TEST(Schema, KnowsExactlyTheKeysOfTheReader) {
  std::set<std::string> in_schema;
  Collect(json::parse(ContentOf("scenario.schema.json")), "", &in_schema);

  std::set<std::string> in_reader;
  for (const KeySpec& key : AllKeys()) {
    const std::string path(key.path);
    const bool parameter =
        key.type == KeyType::kNumberParameter || key.type == KeyType::kDurationParameter;
    if (path.find('*') == std::string::npos) in_reader.insert(path);
    if (!parameter) continue;
    for (const char* part : {"value", "low", "high", "source"})
      in_reader.insert(fmt::format("{}.{}", path, part));
  }
  EXPECT_EQ(in_schema, in_reader);
}

TEST(Schema, DescribesEveryProperty) {
  const json schema = json::parse(SchemaJson());
  const std::function<void(const json&)> visit = [&](const json& node) {
    if (node.contains("properties")) {
      for (const auto& [key, value] : node["properties"].items()) {
        EXPECT_GT(value.value("description", "").size(), 20U) << key;
      }
    }
    for (const auto& child : node) {
      if (child.is_structured()) visit(child);
    }
  };
  visit(schema);
}

TEST(Readme, HoldsTheTablesOfTheKeys) {
  std::string readme = ContentOf("README.md");
  const std::size_t begin = readme.find(kBegin);
  const std::size_t end = readme.find(kEnd);
  ASSERT_NE(begin, std::string::npos);
  ASSERT_NE(end, std::string::npos);
  const std::size_t from = begin + sizeof(kBegin) - 1;
  std::string updated = readme;
  updated.replace(from, end - from, "\n" + KeysMarkdown() + "\n");
  if (Update("README.md", updated)) return;
  EXPECT_EQ(readme, updated);
}

// The reader checks by itself that it reads every key of the table, and refuses all others: this
// sets each key to nonsense and expects it to be known.
TEST(Keys, AreAllKnownToTheReader) {
  for (const KeySpec& key : AllKeys()) {
    const std::string path(key.path);
    if (path.find('*') != std::string::npos || path.find('[') != std::string::npos) continue;
    if (path.ends_with("include") || path.ends_with("base") || path.ends_with("huggingface"))
      continue;
    EXPECT_THAT(ErrorOf(SmallScenario(), {{path, "{no_such_thing: 1}"}}),
                Not(HasSubstr(path + ": no such key")))
        << path;
  }
}

TEST(Keys, HaveDefaultsThatTheReaderAccepts) {
  for (const KeySpec& key : AllKeys()) {
    if (key.fallback.empty() || key.path.find('[') != std::string_view::npos) continue;
    const std::string path(key.path);
    std::vector<Override> set;
    // A section that is optional brings its required keys with it.
    const std::string section = path.substr(0, path.rfind('.'));
    if (section.starts_with("model.") || section == "cluster.jitter") {
      for (const KeySpec* beside : KeysOf(section)) {
        if (beside->required()) set.push_back({std::string(beside->path), "1"});
      }
    }
    set.push_back({path, std::string(key.fallback)});
    const std::string scenario =
        path.starts_with("fsdp") ? Small("zero:\n  stage: 3\n", "fsdp: {}\n") : SmallScenario();
    EXPECT_EQ(ErrorOf(scenario, set), "") << path;
  }
}

TEST(Keys, StateTheDefaultsOfCalibration) {
  const Calibration c;
  const auto number = [](const Parameter& p) {
    return fmt::format("{} ({} to {})", FormatNumber(p.value), FormatNumber(p.low),
                       FormatNumber(p.high));
  };
  const auto time = [](const Parameter& p) {
    return fmt::format("{} ({} to {})", FormatSeconds(Seconds::Count(p.value)),
                       FormatSeconds(Seconds::Count(p.low)), FormatSeconds(Seconds::Count(p.high)));
  };
  const auto stated = [](const std::string& name) {
    return FindKey("cluster.calibration." + name)->otherwise;
  };

  EXPECT_EQ(stated("nic_fraction"), number(c.nic_fraction));
  EXPECT_EQ(stated("gpu_link_fraction"), number(c.gpu_link_fraction));
  EXPECT_EQ(stated("nic_step_latency"), time(c.nic_step_latency));
  EXPECT_EQ(stated("gpu_step_latency"), time(c.gpu_step_latency));
  EXPECT_EQ(stated("collective_launch"), time(c.collective_launch));
  EXPECT_EQ(stated("all_to_all_fraction"), number(c.all_to_all_fraction));
  EXPECT_EQ(stated("gemm_fraction"), number(c.gemm_fraction));
  EXPECT_EQ(stated("memory_fraction"), number(c.memory_fraction));
  EXPECT_EQ(stated("kernel_launch"), time(c.kernel_launch));
  EXPECT_EQ(stated("host_hook"), time(c.host_hook));
  EXPECT_EQ(stated("host_launch"), time(c.host_launch));
  EXPECT_EQ(stated("optimizer_fixed"), time(c.optimizer_fixed));
}

TEST(Keys, AreUniqueAndExplained) {
  std::set<std::string_view> paths;
  for (const KeySpec& key : AllKeys()) {
    EXPECT_TRUE(paths.insert(key.path).second) << key.path;
    EXPECT_TRUE(key.meaning.ends_with('.')) << key.path;
  }
}

TEST(Nearest, OffersWhatWasProbablyMeant) {
  const std::vector<std::string> known = {"stage", "overlap", "overlap_comm", "bits"};

  EXPECT_EQ(Nearest("stgae", known), "stage");
  EXPECT_EQ(Nearest("overlap_com", known), "overlap_comm");
  EXPECT_EQ(Nearest("bit", known), "bits");
  EXPECT_EQ(Nearest("hidden", known), "");
  EXPECT_EQ(Nearest("", known), "");
  EXPECT_EQ(Nearest(std::string(1'000'000, 'x'), known), "");
}

}  // namespace
}  // namespace zerosim
