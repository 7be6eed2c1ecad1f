#include "models/core/diagnostics.h"

#include <string>

#include <gtest/gtest.h>

namespace zerosim {
namespace {

TEST(ScenarioError, QuotesTheLineOfEachProblemsOwnFile) {
  const ScenarioError error(
      {{{"a.yaml", 2, 3}, "first: expected 1, got 2"}, {{"b.yaml", 1, 1}, "second: no such key"}},
      {{"a.yaml", "x: 1\n  first: 2\n"}, {"b.yaml", "second: 3"}});

  EXPECT_STREQ(error.what(),
               "a.yaml:2:3: error: first: expected 1, got 2\n"
               "    first: 2\n"
               "    ^\n"
               "b.yaml:1:1: error: second: no such key\n"
               "  second: 3\n"
               "  ^\n");
}

TEST(ScenarioError, ShowsNoLineWhereThereIsNone) {
  const ScenarioError error({{{"--set a=1", 0, 0}, "a: no such key"},
                             {{"gone.yaml", 0, 0}, "no such file"},
                             {{"unknown.yaml", 3, 4}, "b: missing"}},
                            {});

  EXPECT_STREQ(error.what(),
               "--set a=1: error: a: no such key\n"
               "gone.yaml: error: no such file\n"
               "unknown.yaml:3:4: error: b: missing\n");
}

TEST(ScenarioError, CutsALongLineAroundThePlace) {
  const std::string line = std::string(500, 'a') + "HERE" + std::string(500, 'b');

  const ScenarioError error({{{"a.yaml", 1, 501}, "wrong"}}, {{"a.yaml", line}});

  EXPECT_EQ(std::string(error.what()),
            "a.yaml:1:501: error: wrong\n"
            "  ..." +
                std::string(50, 'a') + "HERE" + std::string(46, 'b') + "...\n" + "  " +
                std::string(53, ' ') + "^\n");
}

TEST(ScenarioError, PutsTheCaretUnderTheCharacterNotTheByte) {
  const ScenarioError error({{{"a.yaml", 1, 6}, "wrong"}}, {{"a.yaml", "\xC3\xA9\xC3\xA9 x"}});

  EXPECT_STREQ(error.what(),
               "a.yaml:1:6: error: wrong\n"
               "  \xC3\xA9\xC3\xA9 x\n"
               "     ^\n");
}

TEST(ScenarioError, ShowsNoBytesThatATerminalCouldMisread) {
  const ScenarioError error({{{"a.yaml", 1, 4}, "wrong"}}, {{"a.yaml", "a\x1B\xFF z\r\n"}});

  EXPECT_STREQ(error.what(),
               "a.yaml:1:4: error: wrong\n"
               "  a?? z\n"
               "     ^\n");
}

TEST(ScenarioError, CountsTheProblemsAfterTheFiftieth) {
  std::vector<Diagnostic> problems(53, {{"a.yaml", 0, 0}, "wrong"});

  const ScenarioError error(problems, {});

  const std::string what = error.what();
  EXPECT_EQ(error.problems().size(), 53U);
  EXPECT_EQ(what.substr(what.rfind("a.yaml")), "a.yaml: error: wrong\nand 3 more problems\n");
}

TEST(Quoted, CutsAtSixtyBytesBetweenCharacters) {
  EXPECT_EQ(Quoted("abc"), "\"abc\"");
  EXPECT_EQ(Quoted(std::string(61, 'a')), '"' + std::string(60, 'a') + "...\"");
  EXPECT_EQ(Quoted(std::string(59, 'a') + "\xC3\xA9z"), '"' + std::string(59, 'a') + "...\"");
}

}  // namespace
}  // namespace zerosim
