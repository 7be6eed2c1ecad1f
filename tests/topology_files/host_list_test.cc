#include "models/topology_files/host_list.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace zerosim {
namespace {

std::vector<std::string> Names(const std::string& list) {
  std::vector<std::string> names;
  EXPECT_FALSE(ExpandHostList(list, 100, &names)) << list;
  return names;
}

std::string Problem(const std::string& list, std::size_t most = 100) {
  std::vector<std::string> names;
  const auto problem = ExpandHostList(list, most, &names);
  return problem ? std::to_string(problem->byte) + ": " + problem->what : "";
}

TEST(ExpandHostList, WritesTheNamesThatSlurmDoes) {
  using Strings = std::vector<std::string>;
  EXPECT_EQ(Names("a"), (Strings{"a"}));
  EXPECT_EQ(Names("a,b7"), (Strings{"a", "b7"}));
  EXPECT_EQ(Names("n[8-11]"), (Strings{"n8", "n9", "n10", "n11"}));
  EXPECT_EQ(Names("n[008-010,3]-ib"), (Strings{"n008-ib", "n009-ib", "n010-ib", "n3-ib"}));
  EXPECT_EQ(Names("r[0-1]n[0-1],x"), (Strings{"r0n0", "r0n1", "r1n0", "r1n1", "x"}));
}

TEST(ExpandHostList, SaysWhereAListIsWrong) {
  EXPECT_EQ(Problem(""), "0: expected names, got none");
  EXPECT_EQ(Problem("a,"), "2: expected a name, got an empty one");
  EXPECT_EQ(Problem("a,,b"), "2: expected a name, got an empty one");
  EXPECT_EQ(Problem("n[0-3"), "1: this \"[\" is never closed");
  EXPECT_EQ(Problem("n0]"), "2: expected \"[\" before \"]\"");
  EXPECT_EQ(Problem("n[3-0]"), "2: expected a range such as 0-15 or 001-128, got \"3-0\"");
  EXPECT_EQ(Problem("n[0,x]"), "4: expected a range such as 0-15 or 001-128, got \"x\"");
  EXPECT_EQ(Problem("n[]"), "2: expected a range such as 0-15 or 001-128, got \"\"");
}

TEST(ExpandHostList, HoldsToItsLimit) {
  EXPECT_EQ(Problem("n[0-9]", 10), "");
  EXPECT_EQ(Problem("n[0-10]", 10), "2: too many names");
  EXPECT_EQ(Problem("n[0-999999999]"), "2: too many names");
  EXPECT_EQ(Problem("n[0-9]m[0-9]o[0-9]"), "13: too many names");
  EXPECT_EQ(Problem("n[0-5],m[0-5]", 10), "8: too many names");
}

}  // namespace
}  // namespace zerosim
