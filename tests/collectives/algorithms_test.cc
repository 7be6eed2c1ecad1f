#include "models/collectives/algorithms.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "models/collectives/positions.h"
#include "tests/collectives/play.h"

namespace zerosim {
namespace {

using Kind = CollectiveKind;

constexpr GroupShape kShapes[] = {{1, 1}, {1, 2}, {1, 7}, {1, 8}, {2, 1},  {7, 1}, {2, 3},
                                  {3, 4}, {4, 4}, {2, 8}, {5, 2}, {16, 1}, {7, 9}};

struct Case {
  Algorithm algorithm = Algorithm::kRing;
  Kind kind = Kind::kAllGather;
  GroupShape shape;
  AlgorithmOptions options;
};

void PrintTo(const Case& c, std::ostream* out) {
  *out << NameOf(c.algorithm) << " " << NameOf(c.kind) << " of " << c.shape.nodes << " x "
       << c.shape.local << ", " << c.options.channels << " channels";
}

// Dimensions of a torus with the size of the group: its nodes by two or three, its local members.
std::vector<int> DimensionsOf(const GroupShape& shape) {
  std::vector<int> dimensions = {shape.local};
  if (shape.nodes % 2 == 0) return {shape.local, 2, shape.nodes / 2};
  dimensions.push_back(shape.nodes);
  return dimensions;
}

std::vector<Case> AllCases() {
  std::vector<Case> cases;
  for (const Algorithm algorithm : kAlgorithms) {
    for (const Kind kind : kCollectiveKinds) {
      for (const GroupShape& shape : kShapes) {
        for (const int channels : {1, 2, shape.local}) {
          if (channels > shape.local) continue;
          Case c{algorithm, kind, shape, {.channels = channels, .chunks = 3}};
          c.options.dimensions = DimensionsOf(shape);
          if (!WhyNot(algorithm, kind, shape, c.options)) cases.push_back(c);
        }
      }
    }
  }
  return cases;
}

Inputs Only(int member) {
  return Inputs{1} << member;
}
Inputs All(int n) {
  return (Inputs{1} << (n - 1) << 1) - 1;
}

// What members begin with, and end with.
std::pair<Holdings, Holdings> BeginAndEnd(Kind kind, int n) {
  Holdings begin(n);
  Holdings end(n);
  for (int m = 0; m < n; ++m) {
    for (int block = 0; block < n; ++block) {
      const bool own = block == m;
      if (kind != Kind::kAllGather || own) begin[m][block] = Only(m);
      if (kind == Kind::kAllGather) end[m][block] = Only(block);
      if (kind == Kind::kReduceScatter && own) end[m][block] = All(n);
      if (kind == Kind::kAllReduce) end[m][block] = All(n);
      if (kind == Kind::kBroadcast) end[m][block] = Only(0);
    }
  }
  return {begin, end};
}

TEST(Algorithms, EveryMemberEndsWithWhatTheCollectiveIsDefinedToGive) {
  const std::vector<Case> cases = AllCases();
  EXPECT_GT(cases.size(), 300u);
  for (const Case& c : cases) {
    SCOPED_TRACE(testing::PrintToString(c));
    const int n = c.shape.size();
    const Schedule schedule = ScheduleOf(c.algorithm, c.kind, c.shape, c.options);
    if (c.kind == Kind::kSendReceive) continue;
    if (c.kind == Kind::kAllToAll) {
      Mailbag held(n);
      for (int from = 0; from < n; ++from) {
        for (int to = 0; to < n; ++to) held[from].insert({from, to});
      }
      PlayPersonal(schedule, &held);
      for (int m = 0; m < n; ++m) {
        EXPECT_EQ(held[m].size(), static_cast<std::size_t>(n));
        for (const Item& item : held[m]) EXPECT_EQ(item.second, m);
      }
      continue;
    }
    for (int channel = 0; channel < c.options.channels; ++channel) {
      auto [held, end] = BeginAndEnd(c.kind, n);
      ASSERT_NO_THROW(Play(schedule, channel, &held));
      if (c.kind == Kind::kReduce) {
        for (const auto& [block, inputs] : held[0]) EXPECT_EQ(inputs, All(n));
      } else {
        EXPECT_EQ(held, end);
      }
    }
  }
}

TEST(Algorithms, OrdersOfTheLocalMembersMayBeGiven) {
  const GroupShape shape{3, 4};
  for (const Algorithm algorithm : {Algorithm::kRing, Algorithm::kTree}) {
    const AlgorithmOptions options{.channels = 2, .local_orders = {{2, 0, 3, 1}, {1, 3, 0, 2}}};
    const Schedule schedule = ScheduleOf(algorithm, Kind::kAllReduce, shape, options);
    for (int channel = 0; channel < 2; ++channel) {
      auto [held, end] = BeginAndEnd(Kind::kAllReduce, shape.size());
      Play(schedule, channel, &held);
      EXPECT_EQ(held, end);
    }
  }
  const Schedule ring = ScheduleOf(Algorithm::kRing, Kind::kAllGather, shape,
                                   {.channels = 1, .local_orders = {{2, 0, 3, 1}}});
  EXPECT_EQ(SendsOf(ring.stages[0], shape, 0, 0, 0).front().to, 3);
  EXPECT_EQ(SendsOf(ring.stages[0], shape, 0, 1, 0).front().to, 6);
}

TEST(Algorithms, SharesOfPeersAreTheSumOfTheMessages) {
  for (const Case& c : AllCases()) {
    SCOPED_TRACE(testing::PrintToString(c));
    for (const Stage& stage : ScheduleOf(c.algorithm, c.kind, c.shape, c.options).stages) {
      double unit = PositionShare(stage, c.shape) / stage.channels;
      if (stage.pattern == StagePattern::kTree) {
        const int trees = stage.tree == TreeKind::kChain ? 1 : 2;
        unit = 1.0 / stage.among.stride / stage.channels / trees / stage.chunks;
      }
      for (int channel = 0; channel < stage.channels; ++channel) {
        for (int m = 0; m < c.shape.size(); ++m) {
          std::map<int, double> sent;
          for (int round = 0; round < RoundsOf(stage, c.shape); ++round) {
            for (const Send& send : SendsOf(stage, c.shape, channel, m, round)) {
              sent[send.to] += send.count * unit;
            }
          }
          std::map<int, double> shares;
          for (const PeerShare& peer : PeersOf(stage, c.shape, channel, m)) {
            shares[peer.to] += peer.share;
          }
          ASSERT_EQ(sent.size(), shares.size());
          for (const auto& [to, share] : shares) EXPECT_NEAR(sent[to], share, 1e-12);
        }
      }
    }
  }
}

// The least that a member must send or receive for an all-reduce is 2(n-1)/n of the vector without
// help from switches (Patarasuk and Yuan, JPDC 69, 2009); all-gather and reduce-scatter half that.
TEST(Algorithms, NoMemberSendsLessThanTheBoundAndTheOptimalOnesSendJustThat) {
  for (const Case& c : AllCases()) {
    const int n = c.shape.size();
    if (n == 1 || c.kind > Kind::kAllReduce) continue;
    if (c.algorithm == Algorithm::kNvls || c.algorithm == Algorithm::kNvlsTree ||
        c.algorithm == Algorithm::kCollNet) {
      continue;
    }
    SCOPED_TRACE(testing::PrintToString(c));
    double total = 0;
    double most = 0;
    const Schedule schedule = ScheduleOf(c.algorithm, c.kind, c.shape, c.options);
    for (int m = 0; m < n; ++m) {
      double sent = 0;
      for (const Stage& stage : schedule.stages) {
        for (int channel = 0; channel < stage.channels; ++channel) {
          for (const PeerShare& peer : PeersOf(stage, c.shape, channel, m)) sent += peer.share;
        }
      }
      total += sent;
      most = std::max(most, sent);
    }
    const double bound = (c.kind == Kind::kAllReduce ? 2.0 : 1.0) * (n - 1) / n;
    EXPECT_NEAR(total, n * bound, 1e-9);
    if (c.algorithm == Algorithm::kTree) continue;
    EXPECT_NEAR(most, bound, 1e-9);
  }
}

TEST(Algorithms, InTheSwitchAMemberSendsTheVectorOnceAndReceivesItOnce) {
  const GroupShape shape{1, 8};
  const Schedule schedule = ScheduleOf(Algorithm::kNvls, Kind::kAllReduce, shape);
  double up = 0;
  double down = 0;
  for (const Stage& stage : schedule.stages) {
    for (const PeerShare& peer : PeersOf(stage, shape, 0, 3)) {
      EXPECT_EQ(peer.to, kSwitchMember);
      up += peer.share;
    }
    down += FromSwitch(stage, shape);
  }
  EXPECT_DOUBLE_EQ(up, 1 + 1.0 / 8);
  EXPECT_DOUBLE_EQ(down, 1 + 1.0 / 8);
}

TEST(Algorithms, AMemberOfTheDoubleTreeIsInnerInOneOfTheTreesAtMost) {
  for (const int nodes : {2, 3, 4, 5, 8, 12, 13, 31, 64, 100}) {
    const GroupShape shape{nodes, 1};
    const Stage stage = ScheduleOf(Algorithm::kTree, Kind::kAllReduce, shape).stages.front();
    for (int m = 0; m < nodes; ++m) {
      double sent = 0;
      for (const PeerShare& peer : PeersOf(stage, shape, 0, m)) sent += peer.share;
      EXPECT_LE(sent, 2.0) << "member " << m << " of " << nodes;
    }
  }
}

// The hops on the longest chain of messages, a hop across costing 1000 and one in a node 1.
int LongestPath(const Stage& stage, const GroupShape& shape) {
  int longest = 0;
  std::vector<int> ready(shape.size(), 0);
  for (int round = 0; round < RoundsOf(stage, shape); ++round) {
    std::vector<int> after = ready;
    for (int m = 0; m < shape.size(); ++m) {
      for (const Send& send : SendsOf(stage, shape, 0, m, round)) {
        const int hop = Crosses(shape, m, send.to) ? 1000 : 1;
        after[send.to] = std::max(after[send.to], ready[m] + hop);
        longest = std::max(longest, after[send.to]);
      }
    }
    ready = after;
  }
  return longest;
}

TEST(Algorithms, StepsAreTheHopsOnTheLongestPath) {
  for (const Case& c : AllCases()) {
    AlgorithmOptions options = c.options;
    options.chunks = 1;
    SCOPED_TRACE(testing::PrintToString(c));
    for (const Stage& stage : ScheduleOf(c.algorithm, c.kind, c.shape, options).stages) {
      const Steps steps = StepsOf(stage, c.shape);
      if (stage.pattern == StagePattern::kSwitch) {
        EXPECT_EQ(steps.in_node + steps.across, 1);
        continue;
      }
      EXPECT_EQ(steps.across * 1000 + steps.in_node, LongestPath(stage, c.shape));
    }
  }
}

TEST(Algorithms, WhatCannotBeDoneIsRefusedWithTheReason) {
  const auto why = [](Algorithm algorithm, Kind kind, GroupShape shape) {
    try {
      ScheduleOf(algorithm, kind, shape, {.dimensions = {2, 2}});
    } catch (const std::invalid_argument& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_EQ(why(Algorithm::kHalvingDoubling, Kind::kAllGather, {3, 4}),
            "halving_doubling can't do all_gather: 12 ranks are no power of two; use pat");
  EXPECT_EQ(why(Algorithm::kNvls, Kind::kAllReduce, {2, 8}),
            "nvls can't do all_reduce: the switches of a node reach its own GPUs alone");
  EXPECT_EQ(why(Algorithm::kNvlsTree, Kind::kAllReduce, {1, 8}),
            "nvls_tree can't do all_reduce: it needs two nodes or more; use nvls");
  EXPECT_EQ(why(Algorithm::kTree, Kind::kAllGather, {2, 8}),
            "tree can't do all_gather: trees all-reduce only");
  EXPECT_EQ(why(Algorithm::kTorusRings, Kind::kAllReduce, {2, 8}),
            "torus_rings can't do all_reduce: its dimensions hold 4 ranks, the group 16");
  EXPECT_EQ(why(Algorithm::kRing, Kind::kAllToAll, {2, 8}),
            "ring can't do all_to_all: use direct or two_hop");
  EXPECT_EQ(why(Algorithm::kCollNet, Kind::kAllReduce, {1, 8}),
            "collnet can't do all_reduce: it needs two nodes or more");
  EXPECT_EQ(why(Algorithm::kPat, Kind::kBroadcast, {2, 8}), "pat can't do broadcast: use ring");
}

}  // namespace
}  // namespace zerosim
