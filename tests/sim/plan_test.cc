// Plays every algorithm on sets instead of numbers: a block carries the set of members whose input
// is in it. From the plan come the peers and the rounds alone; which block a member sends is the
// algorithm's definition, written here: in a ring a member sends what it received last.
#include "sim/collectives/plan.h"

#include <cstdint>
#include <map>
#include <ostream>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace zerosim {
namespace {

// A prime, so that no group of 2 or more divides it.
constexpr Bytes kFull = Bytes::Count(1009);

// Groups of up to 63 members; a set of members is a bit mask.
const Placement kPlacements[] = {{1, 1, 1}, {1, 2, 1}, {1, 7, 1}, {2, 1, 1}, {7, 1, 4},
                                 {2, 3, 1}, {3, 4, 1}, {4, 4, 1}, {2, 8, 1}, {7, 9, 1}};

std::string NameOfPlacement(const testing::TestParamInfo<Placement>& info) {
  return std::to_string(info.param.nodes) + "x" + std::to_string(info.param.local);
}

std::uint64_t Only(int member) {
  return std::uint64_t{1} << member;
}

std::uint64_t All(const Placement& p) {
  return Only(p.size() - 1) | (Only(p.size() - 1) - 1);
}

// Blocks by the member that owns them, with the members whose input is in each.
using Parcel = std::map<int, std::uint64_t>;

// What one channel of a stage moves, by member: each sends `first` and then what it received last.
class Ring {
 public:
  Ring(const PlanStage& stage, const Placement& p, int channel)
      : stage_(stage), p_(p), channel_(channel) {}

  int Next(int i, int round) const { return PeerOf(stage_, p_, i, round, channel_); }

  // Members by whom each is sent to. Adds a failure if a member has not exactly one sender.
  std::vector<int> Senders(int round) const {
    std::vector<int> from(p_.size(), -1);
    for (int i = 0; i < p_.size(); ++i) {
      const int to = Next(i, round);
      if (to < 0 || to >= p_.size() || from[to] >= 0) {
        ADD_FAILURE() << "member " << i << " sends to " << to << " in round " << round;
        return from;
      }
      from[to] = i;
    }
    return from;
  }

  // Rounds [begin, end). Member i sends parcels[i]; `arrive(i, parcel)` says what becomes of what
  // it received.
  template <typename Arrive>
  void Play(int begin, int end, std::vector<Parcel>* parcels, Arrive arrive) const {
    for (int round = begin; round < end; ++round) {
      const std::vector<int> from = Senders(round);
      std::vector<Parcel> next(p_.size());
      for (int i = 0; i < p_.size(); ++i) {
        next[i] = (*parcels)[from[i]];
        arrive(i, &next[i]);
      }
      *parcels = std::move(next);
    }
  }

 private:
  PlanStage stage_;
  Placement p_;
  int channel_;
};

// What every member holds of every block.
using Holdings = std::vector<Parcel>;

// Sums two copies of a block. No input may be in both.
void Sum(std::uint64_t from, std::uint64_t* into) {
  EXPECT_EQ(*into & from, 0u) << "an input summed twice";
  *into |= from;
}

// All-gather rounds: a member begins with the parcel that it owns and keeps all that arrive.
void PlayGather(const Ring& ring, int begin, int end, Holdings* held) {
  std::vector<Parcel> parcels = *held;
  ring.Play(begin, end, &parcels, [&](int i, Parcel* parcel) {
    for (const auto& [block, inputs] : *parcel) {
      EXPECT_EQ((*held)[i].count(block), 0u) << "block " << block << " came twice to " << i;
      (*held)[i][block] = inputs;
    }
  });
}

// Reduce-scatter rounds: a member begins with the blocks of its predecessor, which get there last,
// adds its own inputs to what arrives, and keeps the last parcel alone. `blocks[i]` are those that
// belong to member i in this stage.
void PlayReduce(const Ring& ring, int begin, int end, const std::vector<std::set<int>>& blocks,
                Holdings* held) {
  if (begin == end) return;
  const std::vector<int> before = ring.Senders(begin);
  std::vector<Parcel> parcels(held->size());
  for (std::size_t i = 0; i < held->size(); ++i) {
    for (const int block : blocks[before[i]]) parcels[i][block] = held->at(i).at(block);
  }
  ring.Play(begin, end, &parcels, [&](int i, Parcel* parcel) {
    for (auto& [block, inputs] : *parcel) Sum(held->at(i).at(block), &inputs);
  });
  *held = parcels;
}

Holdings OwnBlocks(const Placement& p) {
  Holdings held(p.size());
  for (int i = 0; i < p.size(); ++i) held[i][i] = Only(i);
  return held;
}

Holdings OwnInputs(const Placement& p) {
  Holdings held(p.size());
  for (int i = 0; i < p.size(); ++i) {
    for (int block = 0; block < p.size(); ++block) held[i][block] = Only(i);
  }
  return held;
}

void ExpectGathered(const Holdings& held) {
  for (const Parcel& blocks : held) {
    EXPECT_EQ(blocks.size(), held.size());
    for (const auto& [block, inputs] : blocks) EXPECT_EQ(inputs, Only(block));
  }
}

void ExpectScattered(const Placement& p, const Holdings& held) {
  for (int i = 0; i < p.size(); ++i) {
    EXPECT_EQ(held[i], (Parcel{{i, All(p)}})) << "member " << i;
  }
}

void ExpectReduced(const Placement& p, const Holdings& held) {
  for (const Parcel& blocks : held) {
    EXPECT_EQ(blocks.size(), held.size());
    for (const auto& [block, inputs] : blocks) EXPECT_EQ(inputs, All(p)) << "block " << block;
  }
}

// The members' own blocks, and those of all members of the same local place.
std::vector<std::set<int>> BlocksOfMembers(const Placement& p) {
  std::vector<std::set<int>> blocks(p.size());
  for (int i = 0; i < p.size(); ++i) blocks[i] = {i};
  return blocks;
}

std::vector<std::set<int>> BlocksOfColumns(const Placement& p) {
  std::vector<std::set<int>> blocks(p.size());
  for (int i = 0; i < p.size(); ++i) {
    for (int node = 0; node < p.nodes; ++node) blocks[i].insert(node * p.local + i % p.local);
  }
  return blocks;
}

class PlanTest : public testing::TestWithParam<Placement> {
 protected:
  static Plan Of(CollectiveOp op, CollectiveAlgorithm algorithm, int nics) {
    return PlanCollective(op, kFull, GetParam(), algorithm, nics);
  }

  // Calls play(ring, rounds) for every channel of the one stage of a ring with 1, 2 and 4 NICs.
  template <typename Play>
  static void ForEachRing(CollectiveOp op, Play play) {
    for (const int nics : {1, 2, 4}) {
      const Plan plan = Of(op, CollectiveAlgorithm::kRing, nics);
      if (GetParam().size() == 1) {
        EXPECT_TRUE(plan.stages.empty());
        continue;
      }
      ASSERT_EQ(plan.stages.size(), 1u);
      const PlanStage& stage = plan.stages[0];
      ASSERT_GE(stage.channels, 1);
      for (int channel = 0; channel < stage.channels; ++channel) {
        SCOPED_TRACE("channel " + std::to_string(channel) + " of " +
                     std::to_string(stage.channels));
        play(Ring(stage, GetParam(), channel), stage.rounds);
      }
    }
  }
};

TEST_P(PlanTest, RingGathersEveryBlockToEveryMemberOnce) {
  ForEachRing(CollectiveOp::kAllGather, [](const Ring& ring, int rounds) {
    Holdings held = OwnBlocks(GetParam());
    PlayGather(ring, 0, rounds, &held);
    ExpectGathered(held);
  });
}

TEST_P(PlanTest, RingReducesEveryInputToItsOwnerOnce) {
  ForEachRing(CollectiveOp::kReduceScatter, [](const Ring& ring, int rounds) {
    Holdings held = OwnInputs(GetParam());
    PlayReduce(ring, 0, rounds, BlocksOfMembers(GetParam()), &held);
    ExpectScattered(GetParam(), held);
  });
}

TEST_P(PlanTest, RingAllReduceGivesEveryMemberEveryInputOnce) {
  ForEachRing(CollectiveOp::kAllReduce, [](const Ring& ring, int rounds) {
    const int half = rounds / 2;
    Holdings held = OwnInputs(GetParam());
    PlayReduce(ring, 0, half, BlocksOfMembers(GetParam()), &held);
    PlayGather(ring, half, rounds, &held);
    ExpectReduced(GetParam(), held);
  });
}

TEST_P(PlanTest, RingLeavesANodeOncePerChannelAndFromAnotherMemberEach) {
  const Placement p = GetParam();
  for (const int nics : {1, 2, 4, 8}) {
    const Plan plan = Of(CollectiveOp::kAllGather, CollectiveAlgorithm::kRing, nics);
    for (const PlanStage& stage : plan.stages) {
      std::set<int> leaving;
      for (int channel = 0; channel < stage.channels; ++channel) {
        for (int i = 0; i < p.size(); ++i) {
          if (!Crosses(p, i, PeerOf(stage, p, i, 0, channel))) continue;
          EXPECT_TRUE(leaving.insert(i).second) << "member " << i << " on two channels";
        }
      }
      EXPECT_EQ(leaving.size(), p.nodes > 1 ? std::size_t(p.nodes * stage.channels) : 0u);
    }
  }
}

TEST_P(PlanTest, HierarchicalRingsGatherAndReduceEverythingOnce) {
  const Placement p = GetParam();
  if (p.nodes == 1 || p.local == 1) {
    EXPECT_NE(Of(CollectiveOp::kAllGather, CollectiveAlgorithm::kHierarchicalRing, 1).algorithm,
              "hierarchical_ring");
    return;
  }
  const auto stages = [](CollectiveOp op) {
    return Of(op, CollectiveAlgorithm::kHierarchicalRing, 2).stages;
  };

  const auto gather = stages(CollectiveOp::kAllGather);
  ASSERT_EQ(gather.size(), 2u);
  Holdings held = OwnBlocks(p);
  for (const PlanStage& s : gather) PlayGather(Ring(s, p, 0), 0, s.rounds, &held);
  ExpectGathered(held);

  const auto reduce = stages(CollectiveOp::kReduceScatter);
  ASSERT_EQ(reduce.size(), 2u);
  held = OwnInputs(p);
  PlayReduce(Ring(reduce[0], p, 0), 0, reduce[0].rounds, BlocksOfColumns(p), &held);
  PlayReduce(Ring(reduce[1], p, 0), 0, reduce[1].rounds, BlocksOfMembers(p), &held);
  ExpectScattered(p, held);

  const auto all = stages(CollectiveOp::kAllReduce);
  ASSERT_EQ(all.size(), 4u);
  held = OwnInputs(p);
  PlayReduce(Ring(all[0], p, 0), 0, all[0].rounds, BlocksOfColumns(p), &held);
  PlayReduce(Ring(all[1], p, 0), 0, all[1].rounds, BlocksOfMembers(p), &held);
  PlayGather(Ring(all[2], p, 0), 0, all[2].rounds, &held);
  PlayGather(Ring(all[3], p, 0), 0, all[3].rounds, &held);
  ExpectReduced(p, held);
}

TEST_P(PlanTest, BlocksHoldTheVectorRoundedUp) {
  const Placement p = GetParam();
  for (const CollectiveOp op : {CollectiveOp::kAllGather, CollectiveOp::kReduceScatter,
                                CollectiveOp::kAllReduce, CollectiveOp::kAllToAll}) {
    for (const auto algorithm :
         {CollectiveAlgorithm::kRing, CollectiveAlgorithm::kHierarchicalRing}) {
      for (const PlanStage& stage : Of(op, algorithm, 2).stages) {
        // In the node of a hierarchical ring a member sends the blocks of all nodes.
        const bool columns = algorithm == CollectiveAlgorithm::kHierarchicalRing &&
                             stage.pattern == Pattern::kRingInNode && p.nodes > 1;
        const int parts = columns ? p.local : p.size();
        EXPECT_GE(parts * stage.block, kFull);
        EXPECT_LT(parts * stage.block, kFull + Bytes::Count(parts));
      }
    }
  }
}

TEST_P(PlanTest, ExchangeSendsEveryPairItsBlockOnce) {
  const Placement p = GetParam();
  const Plan plan = Of(CollectiveOp::kAllToAll, CollectiveAlgorithm::kRing, 4);

  std::set<std::pair<int, int>> pairs;
  for (const PlanStage& stage : plan.stages) {
    const Ring exchange(stage, p, 0);
    for (int round = 0; round < stage.rounds; ++round) {
      exchange.Senders(round);
      for (int i = 0; i < p.size(); ++i) {
        const int to = exchange.Next(i, round);
        EXPECT_EQ(Crosses(p, i, to), stage.pattern == Pattern::kExchangeAcross)
            << "member " << i << " in round " << round;
        EXPECT_TRUE(pairs.emplace(i, to).second) << i << " sends twice to " << to;
        EXPECT_NE(i, to);
      }
    }
  }

  EXPECT_EQ(pairs.size(), std::size_t(p.size() * (p.size() - 1)));
}

INSTANTIATE_TEST_SUITE_P(Placements, PlanTest, testing::ValuesIn(kPlacements), NameOfPlacement);

TEST(PlanCollective, OfOneMemberSendsNothing) {
  for (const CollectiveOp op : {CollectiveOp::kAllGather, CollectiveOp::kReduceScatter,
                                CollectiveOp::kAllReduce, CollectiveOp::kAllToAll}) {
    const Plan plan =
        PlanCollective(op, kFull, {1, 1, 8}, CollectiveAlgorithm::kHierarchicalRing, 8);
    EXPECT_TRUE(plan.stages.empty());
    EXPECT_EQ(plan.algorithm, "none");
  }
}

struct Placed {
  ProcessGroup group;
  int gpus;
  Placement placement;
};

TEST(PlacementOf, FillsWholeNodesOrDividesOne) {
  // Groups and the nodes that they lie on, by hand.
  const Placed placed[] = {
      {{32, 1}, 8, {4, 8, 1}},  // the world
      {{16, 1}, 8, {2, 8, 1}},  // pairs of nodes
      {{8, 1}, 8, {1, 8, 1}},   // nodes
      {{2, 1}, 8, {1, 2, 4}},   // pairs in a node
      {{4, 8}, 8, {4, 1, 8}},   // GPUs of equal local rank
      {{1, 1}, 8, {1, 1, 8}},   // single ranks
      {{3, 1}, 1, {3, 1, 1}},   // nodes of one GPU
      {{4, 2}, 8, {1, 4, 2}},   // every second rank of a node
      {{16, 2}, 8, {4, 4, 2}},  // every second rank of four nodes
      {{2, 2}, 8, {1, 2, 4}},   // ranks two apart
      {{3, 16}, 8, {3, 1, 8}},  // equal local rank, in every second node
  };

  for (const Placed& c : placed) {
    const Placement p = PlacementOf(c.group, c.gpus);
    EXPECT_EQ(p.nodes, c.placement.nodes) << c.group.size << " by " << c.group.stride;
    EXPECT_EQ(p.local, c.placement.local) << c.group.size << " by " << c.group.stride;
    EXPECT_EQ(p.groups_per_node, c.placement.groups_per_node)
        << c.group.size << " by " << c.group.stride;
  }
}

std::string ErrorOfPlacement(ProcessGroup group, int gpus) {
  try {
    PlacementOf(group, gpus);
    return "";
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
}

TEST(PlacementOf, RefusesGroupsThatDoNotFillNodes) {
  EXPECT_EQ(ErrorOfPlacement({0, 1}, 8), "a group of 0 ranks");
  EXPECT_EQ(ErrorOfPlacement({3, 1}, 8), "a group of 3 ranks 1 apart does not fill nodes of 8");
  EXPECT_EQ(ErrorOfPlacement({12, 1}, 8), "a group of 12 ranks 1 apart does not fill nodes of 8");
  EXPECT_EQ(ErrorOfPlacement({6, 2}, 8), "a group of 6 ranks 2 apart does not fill nodes of 8");
  EXPECT_EQ(ErrorOfPlacement({4, 3}, 8), "a group of 4 ranks 3 apart does not fill nodes of 8");
  EXPECT_EQ(ErrorOfPlacement({2, 12}, 8), "a group of 2 ranks 12 apart does not fill nodes of 8");
}

}  // namespace
}  // namespace zerosim
