#include "models/topology/patterns.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace zerosim {
namespace {

using testing::ElementsAre;

TEST(NodeGroups, AreAllOfAForm) {
  const NodeGroups groups = AllGroups(12, 3, 2);

  std::vector<std::vector<int>> members;
  for (int group = 0; group < groups.count(); ++group) {
    members.push_back({groups.Node(group, 0), groups.Node(group, 1), groups.Node(group, 2)});
  }
  EXPECT_THAT(members, ElementsAre(ElementsAre(0, 2, 4), ElementsAre(1, 3, 5),
                                   ElementsAre(6, 8, 10), ElementsAre(7, 9, 11)));
}

TEST(NodeGroups, MustDivideTheNodes) {
  EXPECT_THROW(AllGroups(12, 5, 1), std::invalid_argument);
  EXPECT_THROW(AllGroups(12, 4, 4), std::invalid_argument);
  EXPECT_THROW(AllGroups(12, 0, 1), std::invalid_argument);
  EXPECT_THROW(AllGroups(12, 2'000'000'000, 2'000'000'000), std::invalid_argument);
}

TEST(Patterns, ARingGoesRoundOnEveryNic) {
  const std::vector<NicFlow> flows = FlowsOf({{4, 3, 2, 1, 1}, {0, 2}, RingEdges(3)});

  std::vector<std::pair<int, int>> nodes;
  for (const NicFlow& flow : flows) nodes.emplace_back(flow.from.node, flow.to.node);
  EXPECT_THAT(nodes, ElementsAre(std::pair(4, 6), std::pair(4, 6), std::pair(6, 8), std::pair(6, 8),
                                 std::pair(8, 4), std::pair(8, 4)));
  EXPECT_EQ(flows[1].from.nic, 2);
  EXPECT_EQ(flows[1].to.nic, 2);
}

TEST(Patterns, OfOneAreEmpty) {
  EXPECT_TRUE(RingEdges(1).empty());
  EXPECT_TRUE(DoubleTreeEdges(1).empty());
}

TEST(Patterns, AShiftByTheSizeIsNothing) {
  EXPECT_TRUE(ShiftEdges(4, 8).empty());
  EXPECT_EQ(ShiftEdges(4, 5), RingEdges(4));
}

TEST(Patterns, PartnersDifferInOneBit) {
  EXPECT_THAT(PairEdges(4, 1), ElementsAre(Edge{0, 2}, Edge{1, 3}, Edge{2, 0}, Edge{3, 1}));
  EXPECT_THROW(PairEdges(6, 1), std::invalid_argument);
  EXPECT_THROW(PairEdges(4, 2), std::invalid_argument);
}

class DoubleTree : public testing::TestWithParam<int> {};

// What Sanders, Speck and Traff ask of the two trees: each joins all, none has more than two
// children, and none has children in both.
TEST_P(DoubleTree, JoinsAllAndSharesTheWork) {
  const int n = GetParam();
  std::vector<int> inner(n, 0);
  for (const std::vector<int>& parents : {BinaryTreeParents(n), OtherTreeParents(n)}) {
    std::vector<int> children(n, 0);
    int roots = 0;
    for (int member = 0; member < n; ++member) {
      int at = member;
      for (int steps = 0; parents[at] >= 0; ++steps) {
        ASSERT_LE(steps, 2 * n);  // no cycle
        at = parents[at];
      }
      if (parents[member] < 0) {
        ++roots;
      } else {
        ++children[parents[member]];
      }
    }
    EXPECT_EQ(roots, n > 0 ? 1 : 0);
    EXPECT_LE(*std::max_element(children.begin(), children.end()), 2);
    for (int member = 0; member < n; ++member) inner[member] += children[member] > 0 ? 1 : 0;
  }
  // Of an odd number only the first tree's root has children in both.
  for (int member = 0; member < n; ++member) {
    EXPECT_LE(inner[member], n % 2 == 1 && member == 0 ? 2 : 1) << "member " << member;
  }
}

TEST_P(DoubleTree, SendsAndReceivesTheWholeDataOnceEachWay) {
  const int n = GetParam();
  std::vector<double> sent(n, 0);
  double total = 0;
  for (const Edge& edge : DoubleTreeEdges(n)) {
    sent[edge.from] += edge.weight;
    total += edge.weight;
  }

  // Two trees of n - 1 edges, half the data both ways.
  EXPECT_EQ(total, 2.0 * (n - 1));
  // At most a leaf's 1/2 up, and an inner node's 1/2 up and twice 1/2 down; one of an odd number is
  // an inner node twice.
  EXPECT_LE(*std::max_element(sent.begin(), sent.end()), n % 2 == 0 ? 2.0 : 3.0);
}

INSTANTIATE_TEST_SUITE_P(Sizes, DoubleTree,
                         testing::Values(1, 2, 3, 4, 5, 7, 8, 12, 16, 31, 64, 100));

// NCCL's first tree of eight ranks (src/graph/trees.cc draws 14): odd ones are leaves.
TEST(DoubleTree, OfEightIsNcclsTree) {
  EXPECT_THAT(BinaryTreeParents(8), ElementsAre(-1, 2, 4, 2, 0, 6, 4, 6));
  EXPECT_THAT(OtherTreeParents(8), ElementsAre(1, 3, 1, 7, 5, 3, 5, -1));
}

// Where a tree is cut off, the last members hang on the next lower ones.
TEST(DoubleTree, OfSixIsNcclsTree) {
  EXPECT_THAT(BinaryTreeParents(6), ElementsAre(-1, 2, 4, 2, 0, 4));
  EXPECT_THAT(OtherTreeParents(6), ElementsAre(1, 5, 3, 1, 3, -1));
}

}  // namespace
}  // namespace zerosim
