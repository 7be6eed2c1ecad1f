// Reading cluster.jitter, and what a user sees of one that is wrong: whole texts.
#include <string>

#include <gtest/gtest.h>

#include "tests/scenario/small_scenario.h"

namespace zerosim {
namespace {

// The small scenario with that text for jitter, on line 6.
std::string With(const std::string& jitter) {
  std::string text = SmallScenario();
  return text.insert(text.find("model:"), "  jitter: " + jitter + "\n");
}

TEST(Jitter, IsReadWithItsDefaults) {
  const JitterSpec all =
      ReadSmall(With("{compute: 0.05, seed: 9, steps: 50}")).scenario.cluster.jitter;
  EXPECT_EQ(all.compute, 0.05);
  EXPECT_EQ(all.seed, 9);
  EXPECT_EQ(all.steps, 50);
  const JitterSpec defaults = ReadSmall(With("{compute: 0.05}")).scenario.cluster.jitter;
  EXPECT_EQ(defaults.seed, 1);
  EXPECT_EQ(defaults.steps, 200);
  EXPECT_FALSE(ReadSmall(With("{compute: 0}")).scenario.cluster.jitter.on());
  EXPECT_FALSE(ReadSmall(SmallScenario()).scenario.cluster.jitter.on());
}

struct Wrong {
  const char* name;
  const char* jitter;
  const char* error;
};

const Wrong kWrong[] = {
    {"empty", "{}",
     "s.yaml:6:3: error: cluster.jitter.compute: missing; expected a number from 0 to 1\n"
     "    jitter: {}\n"
     "    ^\n"},
    {"not_a_section", "0.03",
     "s.yaml:6:11: error: cluster.jitter: expected a section, got \"0.03\"\n"
     "    jitter: 0.03\n"
     "            ^\n"},
    {"negative", "{compute: -0.1}",
     "s.yaml:6:21: error: cluster.jitter.compute: expected a number from 0 to 1, got \"-0.1\"\n"
     "    jitter: {compute: -0.1}\n"
     "                      ^\n"},
    {"percent", "{compute: 3}",
     "s.yaml:6:21: error: cluster.jitter.compute: expected a number from 0 to 1, got \"3\"\n"
     "    jitter: {compute: 3}\n"
     "                      ^\n"},
    {"no_steps", "{compute: 0.03, steps: 0}",
     "s.yaml:6:34: error: cluster.jitter.steps: expected a whole number from 1 to 100000, got "
     "\"0\"\n"
     "    jitter: {compute: 0.03, steps: 0}\n"
     "                                   ^\n"},
    {"half_a_seed", "{compute: 0.03, seed: 0.5}",
     "s.yaml:6:33: error: cluster.jitter.seed: expected a whole number from 0 to 9e+15, got "
     "\"0.5\"\n"
     "    jitter: {compute: 0.03, seed: 0.5}\n"
     "                                  ^\n"},
    {"unknown", "{compute: 0.03, step: 100}",
     "s.yaml:6:27: error: cluster.jitter.step: no such key; did you mean \"steps\"?\n"
     "    jitter: {compute: 0.03, step: 100}\n"
     "                            ^\n"},
};

class JitterErrors : public testing::TestWithParam<Wrong> {};

TEST_P(JitterErrors, NameThePlaceAndTheRemedy) {
  EXPECT_EQ(ErrorOf(With(GetParam().jitter)), GetParam().error);
}

INSTANTIATE_TEST_SUITE_P(Wrong, JitterErrors, testing::ValuesIn(kWrong),
                         [](const testing::TestParamInfo<Wrong>& info) { return info.param.name; });

}  // namespace
}  // namespace zerosim
