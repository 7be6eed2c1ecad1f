// The time of a collective: parts on paper, and what holds for any.
#include <algorithm>
#include <string>
#include <tuple>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/nccl/physical_time.h"
#include "tests/nccl/topologies.h"

namespace zerosim {
namespace {

using enum NcclCollective;

constexpr NcclCollective kAll[] = {kBroadcast, kReduce,   kAllGather,  kReduceScatter,
                                   kAllReduce, kAllToAll, kSendReceive};

TEST(NcclTime, OfARingInTheNodeIsItsStepsItsBytesAndItsFill) {
  const NcclCommunicator communicator = MakeCommunicator(H100(), {1, 4}, {2, 29, 2});

  const auto time = TimeOf(communicator, {kAllReduce, MiB(256), 1}, AchievedOn(H100()));

  ASSERT_TRUE(time);
  EXPECT_EQ(time->node_steps, 6);
  EXPECT_EQ(time->network_steps, 0);
  EXPECT_NEAR(time->latency.microseconds(), 8.4 + 6 * 3.4, 1e-9);
  EXPECT_EQ(time->gpu_link_bytes, Bytes::Count(MiB(256).count() * 3 / 2));
  EXPECT_EQ(time->node_egress_bytes, Bytes());
  const double transfer_us = 1.5 * 268435.456 / (0.82 * 450);
  EXPECT_NEAR(time->transfer.microseconds(), transfer_us, 1e-6);
  EXPECT_NEAR(time->fill.microseconds(), 40 * transfer_us / (transfer_us + 150), 1e-6);
}

TEST(NcclTime, OfATreeBetweenManyNodesIsBoundByTwiceTheVectorThroughTheNics) {
  NcclOverrides overrides;
  ASSERT_EQ(SetAlgorithms("Tree", &overrides), std::nullopt);
  ASSERT_EQ(SetProtocols("Simple", &overrides), std::nullopt);
  NcclTopology topology = H100();
  topology.nics_per_node = 4;
  const NcclCommunicator communicator = MakeCommunicator(topology, {4, 8}, {}, overrides);

  const auto time = TimeOf(communicator, {kAllReduce, MiB(1024), 1}, AchievedOn(H100()));

  ASSERT_TRUE(time);
  EXPECT_EQ(time->node_steps, 14);
  EXPECT_EQ(time->network_steps, 4);
  EXPECT_EQ(time->node_egress_bytes, MiB(2048));
  EXPECT_NEAR(time->transfer.microseconds(), 2 * 1073741.824 / (0.93 * 200), 1e-5);
}

TEST(NcclTime, CountsTheFlagsOfLl) {
  NcclOverrides overrides;
  ASSERT_EQ(SetAlgorithms("Ring", &overrides), std::nullopt);
  ASSERT_EQ(SetProtocols("LL", &overrides), std::nullopt);
  const NcclCommunicator communicator = MakeCommunicator(H100(), {2, 8}, {}, overrides);

  const auto time = TimeOf(communicator, {kAllGather, MiB(16), 1}, AchievedOn(H100()));

  EXPECT_EQ(time->node_egress_bytes, Bytes::Count(2 * MiB(16).count() * 15 / 16));
}

TEST(NcclTime, OfSeveralGpusAProcessIsAtLeastTheirLaunches) {
  const NcclCommunicator communicator = MakeCommunicator(H100(), {1, 8});

  const auto small = TimeOf(communicator, {kAllReduce, KiB(1), 8}, AchievedOn(H100()));
  const auto large = TimeOf(communicator, {kAllReduce, MiB(256), 8}, AchievedOn(H100()));

  EXPECT_NEAR(small->total().microseconds(), 8 * 4.4, 1e-9);
  EXPECT_EQ(large->total(), large->latency + large->transfer + large->fill);
}

TEST(NcclTime, IsNoneWhereTheUserLeavesNoAlgorithm) {
  NcclOverrides overrides;
  ASSERT_EQ(SetAlgorithms("PAT", &overrides), std::nullopt);
  const NcclCommunicator communicator = MakeCommunicator(H100(), {1, 8}, {}, overrides);

  EXPECT_FALSE(TimeOf(communicator, {kAllReduce, MiB(1), 1}, AchievedOn(H100())));
}

TEST(NcclTime, IsNoneOfOneRank) {
  const NcclCommunicator communicator = MakeCommunicator(H100(), {1, 1});
  for (const NcclCollective collective : kAll) {
    const auto time = TimeOf(communicator, {collective, MiB(1), 1}, AchievedOn(H100()));

    ASSERT_TRUE(time);
    EXPECT_EQ(time->total(), Seconds()) << Name(collective);
  }
}

// The least that any algorithm without reduction in switches must move: out of a node, and out of a
// GPU to its peers in the node. NVLS has the switches reduce: each GPU sends the vector once.
Seconds Bound(NcclCollective collective, Bytes size, const NcclTopology& topology,
              const NcclGroup& group) {
  const double nodes = group.nodes;
  const double gpus = group.gpus_per_node;
  const double both = collective == kAllReduce ? 2 : 1;
  double out = both * (nodes - 1) / nodes;
  double link = gpus > 1 ? (gpus - 1) / gpus : 0;
  if (collective == kBroadcast || collective == kReduce) out = nodes > 1 ? 1 : 0;
  if (collective == kAllToAll) {
    // What one GPU sends in all is `size`.
    out *= gpus;
    link *= 1 / nodes;
  }
  if (collective == kSendReceive) {
    out = nodes > 1 ? 1 : 0;
    link = nodes > 1 ? 0 : 1;
  }
  const BytesPerSecond nics = NicsInUse(topology, group) * topology.nic;
  const Seconds network = out > 0 ? out * (size / nics) : Seconds();
  const Seconds in_node = link * (size / GpuLink(topology));
  return std::max(network, in_node);
}

struct Forced {
  std::string name;
  NcclCommunicator communicator;
};

// What NCCL chooses by itself, and each algorithm with each protocol.
std::vector<Forced> EachWay(const TopologyAndGroup& at) {
  std::vector<Forced> ways{{"free", MakeCommunicator(at.topology, at.group)}};
  for (std::size_t a = 0; a < kNcclAlgorithms; ++a) {
    for (std::size_t p = 0; p < kNcclProtocols; ++p) {
      const std::string algorithm(Name(static_cast<NcclAlgorithm>(a)));
      const std::string protocol(Name(static_cast<NcclProtocol>(p)));
      NcclOverrides overrides;
      SetAlgorithms(algorithm, &overrides);
      SetProtocols(protocol, &overrides);
      ways.push_back(
          {algorithm + " " + protocol, MakeCommunicator(at.topology, at.group, {}, overrides)});
    }
  }
  return ways;
}

TEST(AnyNcclTime, NeverBeatsTheLinksThatTheBytesMustCross) {
  int timed = 0;
  for (const TopologyAndGroup& at : SomeGroups()) {
    SCOPED_TRACE(at.name());
    for (const Forced& way : EachWay(at)) {
      for (const NcclCollective collective : kAll) {
        for (std::int64_t bytes = 1; bytes <= 1LL << 34; bytes *= 4) {
          const Bytes size = Bytes::Count(bytes);
          const auto time =
              TimeOf(way.communicator, {collective, size, 1}, AchievedOn(at.topology));
          if (!time) break;
          ++timed;
          ASSERT_GE(time->total(), Bound(collective, size, at.topology, at.group))
              << way.name << " " << Name(collective) << " " << bytes;
        }
      }
    }
  }
  EXPECT_GT(timed, 50'000);
}

TEST(AnyNcclTime, GrowsWithSizeForOneAlgorithmAndProtocol) {
  for (const TopologyAndGroup& at : SomeGroups()) {
    SCOPED_TRACE(at.name());
    for (const Forced& way : EachWay(at)) {
      // The tree's correction is a table that steps up and down: NCCL's own prediction falls there.
      if (way.name == "free" || way.name == "Tree LL" || way.name == "Tree LL128") continue;
      for (const NcclCollective collective : kAll) {
        // A send gets more channels in steps, and messages of 256 bytes beat those just below.
        if (collective == kAllToAll || collective == kSendReceive) continue;
        Seconds last;
        for (std::int64_t bytes = 1; bytes <= 1LL << 34; bytes += bytes / 3 + 1) {
          const auto time = TimeOf(way.communicator, {collective, Bytes::Count(bytes), 1},
                                   AchievedOn(at.topology));
          if (!time) break;
          ASSERT_GE(time->total(), last) << way.name << " " << Name(collective) << " " << bytes;
          last = time->total();
        }
      }
    }
  }
}

TEST(AnyNcclTime, ShrinksWithFasterLinksAndNics) {
  for (const TopologyAndGroup& at : SomeGroups()) {
    SCOPED_TRACE(at.name());
    NcclOverrides overrides;
    ASSERT_EQ(SetAlgorithms("Ring", &overrides), std::nullopt);
    ASSERT_EQ(SetProtocols("Simple", &overrides), std::nullopt);
    NcclTopology faster = at.topology;
    faster.nic = 2.0 * faster.nic;
    faster.nvlink = 2.0 * faster.nvlink;
    faster.pcie_generation += 1;
    for (const NcclCollective collective : {kAllGather, kAllReduce, kBroadcast}) {
      const NcclCall call{collective, MiB(1024), 1};

      const auto slow = TimeOf(MakeCommunicator(at.topology, at.group, {}, overrides), call,
                               AchievedOn(at.topology));
      const auto fast =
          TimeOf(MakeCommunicator(faster, at.group, {}, overrides), call, AchievedOn(faster));

      EXPECT_NEAR(Ratio(slow->transfer, fast->transfer), 2, 1e-9);
      EXPECT_EQ(slow->latency, fast->latency);
    }
  }
}

}  // namespace
}  // namespace zerosim
