// Reading cluster.exceptions, and what a user sees of one that is wrong: whole texts.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/scenario/small_scenario.h"

namespace zerosim {
namespace {

// The small scenario with that text for exceptions, on line 6.
std::string With(const std::string& exceptions) {
  std::string text = SmallScenario();
  return text.insert(text.find("model:"), "  exceptions: " + exceptions + "\n");
}

TEST(Exceptions, ListNodesAndRangesOrCountThem) {
  const ClusterSpec cluster =
      ReadSmall(With("[{nodes: [1], compute_speed: 0.4, nic_speed: 0.5, gpu_link_speed: 2, "
                     "dead_nics: 1}]"))
          .scenario.cluster;
  ASSERT_EQ(cluster.exceptions.size(), 1U);
  EXPECT_EQ(cluster.exceptions[0].nodes, std::vector{1});
  EXPECT_EQ(cluster.exceptions[0].speeds, (NodeSpeeds{0.4, 2, 0.5}));
  EXPECT_EQ(cluster.exceptions[0].dead_nics, 1);
  EXPECT_EQ(SpeedsOf(cluster.exceptions[0], 2).nic, 0.25);

  const std::vector<Override> nodes{{"cluster.nodes", "20"}};
  EXPECT_EQ(ReadSmall(With("[{nodes: [9-11, 3]}]"), nodes).scenario.cluster.exceptions[0].nodes,
            (std::vector{3, 9, 10, 11}));
  EXPECT_EQ(ReadSmall(With("[{count: 3}]"), nodes).scenario.cluster.exceptions[0].nodes,
            (std::vector{0, 1, 2}));
  EXPECT_TRUE(ReadSmall(With("[]")).scenario.cluster.exceptions.empty());
}

struct Wrong {
  const char* name;
  const char* exceptions;
  const char* error;
};

const Wrong kWrong[] = {
    {"neither", "[{compute_speed: 0.4}]",
     "s.yaml:6:16: error: cluster.exceptions[0].nodes: missing; expected nodes, such as [3, "
     "16-23], or count\n"
     "    exceptions: [{compute_speed: 0.4}]\n"
     "                 ^\n"},
    {"both", "[{nodes: [0], count: 1}]",
     "s.yaml:6:36: error: cluster.exceptions[0].count: excludes nodes; expected one of the two\n"
     "    exceptions: [{nodes: [0], count: 1}]\n"
     "                                     ^\n"},
    {"no_number", "[{nodes: [0, last]}]",
     "s.yaml:6:17: error: cluster.exceptions[0].nodes: expected numbers of nodes and ranges of "
     "them, such as [3, 16-23], got \"last\"\n"
     "    exceptions: [{nodes: [0, last]}]\n"
     "                  ^\n"},
    {"backwards", "[{nodes: [1-0]}]",
     "s.yaml:6:17: error: cluster.exceptions[0].nodes: expected numbers of nodes and ranges of "
     "them, such as [3, 16-23], got \"1-0\"\n"
     "    exceptions: [{nodes: [1-0]}]\n"
     "                  ^\n"},
    {"beyond", "[{nodes: [0-2]}]",
     "s.yaml:6:17: error: cluster.exceptions[0].nodes: expected nodes from 0 to 1 (line 4), got "
     "2\n"
     "    exceptions: [{nodes: [0-2]}]\n"
     "                  ^\n"},
    {"too_many", "[{count: 3}]",
     "s.yaml:6:24: error: cluster.exceptions[0].count: expected at most the 2 nodes of the cluster "
     "(line 4), got 3\n"
     "    exceptions: [{count: 3}]\n"
     "                         ^\n"},
    {"twice", "[{nodes: [1, 0-1]}]",
     "s.yaml:6:17: error: cluster.exceptions[0].nodes: node 1 stands here twice\n"
     "    exceptions: [{nodes: [1, 0-1]}]\n"
     "                  ^\n"},
    {"in_two", "[{count: 1}, {nodes: [0-1]}]",
     "s.yaml:6:29: error: cluster.exceptions[1].nodes: node 0 stands in cluster.exceptions[0] too; "
     "give one exception all that it has\n"
     "    exceptions: [{count: 1}, {nodes: [0-1]}]\n"
     "                              ^\n"},
    {"all_nics_dead", "[{count: 1, dead_nics: 2}]",
     "s.yaml:6:38: error: cluster.exceptions[0].dead_nics: expected fewer than the 2 NICs in use "
     "(line 5), got 2: a node without any takes no part\n"
     "    exceptions: [{count: 1, dead_nics: 2}]\n"
     "                                       ^\n"},
    {"standing_still", "[{count: 1, compute_speed: 0}]",
     "s.yaml:6:42: error: cluster.exceptions[0].compute_speed: expected a number from 0.001 to "
     "100, "
     "got \"0\"\n"
     "    exceptions: [{count: 1, compute_speed: 0}]\n"
     "                                           ^\n"},
};

class ExceptionErrors : public testing::TestWithParam<Wrong> {};

TEST_P(ExceptionErrors, NameThePlaceAndTheRemedy) {
  EXPECT_EQ(ErrorOf(With(GetParam().exceptions)), GetParam().error);
}

INSTANTIATE_TEST_SUITE_P(Wrong, ExceptionErrors, testing::ValuesIn(kWrong),
                         [](const testing::TestParamInfo<Wrong>& info) { return info.param.name; });

}  // namespace
}  // namespace zerosim
