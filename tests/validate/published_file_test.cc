#include <string>

#include <gtest/gtest.h>

#include "models/core/diagnostics.h"
#include "validate/published.h"

namespace zerosim {
namespace {

const char kSmall[] =
    "name: small\n"                                    // 1
    "source: someone@1234567 README.md\n"              // 2
    "split: one node against several\n"                // 3
    "scenario: {framework: tiny, cluster.nodes: 1}\n"  // 4
    "groups:\n"                                        // 5
    "  - name: A100\n"                                 // 6
    "    scenario: {cluster.node: dgx}\n"              // 7
    "    rows:\n"                                      // 8
    "      - id: first\n"                              // 9
    "        at: README.md:12\n"                       // 10
    "        split: test\n"                            // 11
    "        scenario: {cluster.nodes: 4}\n"           // 12
    "        step_time: 1.5 s\n"                       // 13
    "        memory: 2 GiB\n"                          // 14
    "skipped:\n"                                       // 15
    "  - {id: second, reason: fp8}\n";                 // 16

PublishedFile Read(const std::string& text) {
  return ReadPublished("p.yaml", MemoryFiles({{"p.yaml", text}}));
}

std::string Changed(const std::string& from, const std::string& to) {
  std::string text = kSmall;
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

std::string ErrorOf(const std::string& text) {
  try {
    Read(text);
    return "";
  } catch (const ScenarioError& e) {
    return e.what();
  }
}

TEST(ReadPublished, PutsOverridesOfTheRowBehindThoseOfGroupAndFile) {
  const PublishedFile file = Read(kSmall);

  EXPECT_EQ(file.name, "small");
  ASSERT_EQ(file.rows.size(), 1u);
  const PublishedRow& row = file.rows[0];
  EXPECT_EQ(row.id, "first");
  EXPECT_EQ(row.at, "README.md:12");
  EXPECT_EQ(row.group, "A100");
  EXPECT_FALSE(row.calibration);
  EXPECT_EQ(row.step_time, Seconds::Count(1.5));
  EXPECT_EQ(row.memory, Bytes::Count(std::int64_t{2} << 30));
  ASSERT_EQ(row.scenario.size(), 4u);
  EXPECT_EQ(row.scenario[0].path, "framework");
  EXPECT_EQ(row.scenario[2].path, "cluster.node");
  EXPECT_EQ(row.scenario[3].value, "4");
  ASSERT_EQ(file.skipped.size(), 1u);
  EXPECT_EQ(file.skipped[0].reason, "fp8");
}

TEST(ReadPublished, RefusesWhatItDoesNotKnow) {
  EXPECT_EQ(ErrorOf(Changed("        memory:", "        memori:")),
            "p.yaml:14:9: error: memori: no such key; expected id, at, split, scenario, step_time, "
            "memory\n"
            "          memori: 2 GiB\n"
            "          ^\n");
  EXPECT_EQ(ErrorOf(Changed("split: test", "split: tests")),
            "p.yaml:11:16: error: split: expected calibration or test, got \"tests\"\n"
            "          split: tests\n"
            "                 ^\n");
}

TEST(ReadPublished, DemandsAQuantityWithItsUnit) {
  EXPECT_EQ(ErrorOf(Changed("1.5 s", "1.5")),
            "p.yaml:13:20: error: step_time: expected a duration such as \"1.5 s\", got \"1.5\"\n"
            "          step_time: 1.5\n"
            "                     ^\n");
  EXPECT_EQ(ErrorOf(Changed("        step_time: 1.5 s\n        memory: 2 GiB\n", "")),
            "p.yaml:9:9: error: expected step_time, memory or both\n"
            "        - id: first\n"
            "          ^\n");
}

TEST(ReadPublished, WantsWholePathsInItsScenarios) {
  EXPECT_EQ(ErrorOf(Changed("{cluster.nodes: 4}", "{cluster: {nodes: 4}}")),
            "p.yaml:12:29: error: scenario: cluster: expected a value, got a section; write the "
            "whole path, as in \"cluster.nodes: 4\"\n"
            "          scenario: {cluster: {nodes: 4}}\n"
            "                              ^\n");
}

TEST(ReadPublished, KnowsNoRowTwice) {
  EXPECT_EQ(ErrorOf(Changed("id: second", "id: first")),
            "p.yaml:16:10: error: id: \"first\" is there twice\n"
            "    - {id: first, reason: fp8}\n"
            "           ^\n");
}

TEST(ReadPublished, NamesAFileThatIsNotThere) {
  try {
    ReadPublished("q.yaml", MemoryFiles({}));
    FAIL();
  } catch (const ScenarioError& e) {
    EXPECT_EQ(std::string(e.what()), "q.yaml: error: no such file\n");
  }
}

}  // namespace
}  // namespace zerosim
