// What the sanitizers catch: each planted kernel in a process of its own, which the sanitizer ends.
// The ordinary build has ThreadSanitizer's; that with AddressSanitizer and
// UndefinedBehaviorSanitizer, theirs.
#include <array>
#include <cstdio>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/kernels/executor/marks.h"
#include "tests/kernels/executor/planted.h"

namespace zerosim::kernels {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// Returns what the child prints, errors included.
std::string OutputOf(const std::string& arguments) {
  const std::string command = ZEROSIM_PLANTED " " + arguments + " 2>&1";
  FILE* const pipe = popen(command.c_str(), "r");
  EXPECT_NE(pipe, nullptr);
  std::string output;
  std::array<char, 4096> part;
  while (std::fgets(part.data(), part.size(), pipe) != nullptr) output += part.data();
  pclose(pipe);
  return output;
}

struct Found {
  const char* name;
  const char* report;        // what the sanitizer calls it
  const char* mark;          // the line that it must name
  const char* other = mark;  // and that which it races with
};

void PrintTo(const Found& found, std::ostream* out) {
  *out << found.name;
}

class Sanitizer : public testing::TestWithParam<Found> {};

TEST_P(Sanitizer, NamesTheLine) {
  const Found& found = GetParam();

  const std::string output = OutputOf(found.name);

  const std::string file = "planted_memory.cc";
  EXPECT_THAT(output, AllOf(HasSubstr(found.report), HasSubstr(PlaceOf(file, found.mark)),
                            HasSubstr(PlaceOf(file, found.other))));
}

#if ZEROSIM_TSAN_CHILD
constexpr const char* kRace = "WARNING: ThreadSanitizer: data race";
INSTANTIATE_TEST_SUITE_P(
    Planted, Sanitizer,
    testing::Values(Found{"race_between_blocks", kRace, "between blocks"},
                    Found{"missing_barrier", kRace, "barrier write", "barrier read"},
                    Found{"missing_loop_barrier", kRace, "loop write", "loop read"},
                    Found{"missing_syncwarp", kRace, "warp write", "warp read"},
                    Found{"shuffle_for_syncwarp", kRace, "warp write", "warp read"},
                    Found{"same_value_race", kRace, "same value"},
                    Found{"plain_increment", kRace, "increment"}),
    [](const auto& info) { return std::string(info.param.name); });
#else
constexpr const char* kPoison = "AddressSanitizer: use-after-poison";
INSTANTIATE_TEST_SUITE_P(
    Planted, Sanitizer,
    testing::Values(Found{"shared_overrun", kPoison, "shared overrun"},
                    Found{"dynamic_overrun", kPoison, "dynamic overrun"},
                    Found{"read_tail", "AddressSanitizer: heap-buffer-overflow", "tail"},
                    Found{"misaligned_shared", "runtime error: store to misaligned address",
                          "shared alignment"}),
    [](const auto& info) { return std::string(info.param.name); });
#endif

TEST(Sanitizer, IsSilentAboutControls) {
  std::vector<std::string> runs;
  for (const Planted& control : Controls()) {
    for (const char* seed : {"", ":1", ":2", ":3"}) runs.push_back(control.name + seed);
  }
  for (const Planted& control : LargeControls()) runs.push_back(control.name);

  std::string arguments;
  std::string expected;
  for (const std::string& run : runs) {
    arguments += run + " ";
    expected += run + ": : right\n";
  }
  EXPECT_EQ(OutputOf(arguments), expected);
}

// The executor's own complaints are the same, one launch after the other, and leave nothing for a
// sanitizer to find.
TEST(Sanitizer, IsSilentAboutTheExecutorsComplaints) {
  std::string arguments;
  std::string expected;
  for (const Planted& planted : PlantedInRules()) {
    arguments += planted.name + " ";
    expected += planted.name + ": " + planted.run(executor::LaunchOptions()).message + ": wrong\n";
  }
  EXPECT_EQ(OutputOf(arguments), expected);
}

}  // namespace
}  // namespace zerosim::kernels
