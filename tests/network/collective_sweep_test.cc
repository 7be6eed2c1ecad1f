#include "models/network/collective_sweep.h"

#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "models/network/spec_network.h"

namespace zerosim {
namespace {

constexpr Bytes kGiB = Bytes::Count(std::int64_t{1} << 30);

// `nodes` of 8 H100 with a 50 GB/s NIC each on one switch, as data sheets say.
ClusterSpec H100Cluster(int nodes) {
  ClusterSpec cluster;
  cluster.nodes = nodes;
  cluster.node.gpus = 8;
  cluster.node.gpu.compute_capability = 90;
  cluster.node.gpu_bandwidth = BytesPerSecond::GigabytesPerSecond(450);
  cluster.node.pcie_bandwidth = BytesPerSecond::GigabytesPerSecond(55);
  cluster.node.nics = 8;
  cluster.fabric.nics_per_node = 8;
  cluster.fabric.nic_bandwidth = BytesPerSecond::GigabitsPerSecond(400);
  cluster.fabric.latency = Seconds::Micros(5);
  return cluster;
}

CollectiveQuestion Ask(CollectiveKind kind, int nodes, Bytes size) {
  CollectiveQuestion question;
  question.kind = kind;
  question.nodes = nodes;
  question.gpus_per_node = 8;
  question.sizes = {size};
  return question;
}

std::string ErrorOf(const ClusterSpec& cluster, const CollectiveQuestion& question) {
  try {
    SweepCollective(cluster, question);
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
  return "";
}

TEST(CollectiveSweep, SizesGrowByTheFactor) {
  const std::vector<Bytes> sizes = Sizes(Bytes::Count(8), Bytes::Count(64), 2);
  EXPECT_EQ(sizes, (std::vector<Bytes>{Bytes::Count(8), Bytes::Count(16), Bytes::Count(32),
                                       Bytes::Count(64)}));
  EXPECT_EQ(Sizes(Bytes::Count(1), Bytes::Count(3), 1.1).size(), 3u);
}

// At the rates that NCCL's rings achieve, 0.93 of the NICs.
TEST(CollectiveSweep, ARingTakesItsStepsAndWhatItSendsOverTheNics) {
  CollectiveQuestion question = Ask(CollectiveKind::kAllGather, 4, kGiB);
  question.algorithm = Algorithm::kRing;
  const CollectiveRow row = SweepCollective(H100Cluster(4), question).front();
  const Bytes sent = Bytes::Count(kGiB.count() / 32 * 31);
  EXPECT_NEAR(Ratio(row.cost.transfer, sent / BytesPerSecond::GigabytesPerSecond(0.93 * 400)), 1,
              1e-9);
  EXPECT_EQ(row.cost.limit, "nic out");
  // 31 hops, of which 4 leave a node.
  const ClusterSpec cluster = H100Cluster(4);
  EXPECT_NEAR(row.cost.latency.microseconds(),
              cluster.calibration.collective_launch.value * 1e6 + 4 * 5, 1e-9);
}

TEST(CollectiveSweep, OversubscriptionLimitsWhatCrossesIt) {
  ClusterSpec cluster = H100Cluster(8);
  const CollectiveQuestion exchange = Ask(CollectiveKind::kAllToAll, 8, kGiB);
  const CollectiveQuestion ring = Ask(CollectiveKind::kAllGather, 8, kGiB);
  const Seconds free = SweepCollective(cluster, exchange).front().cost.time();
  const Seconds ring_free = SweepCollective(cluster, ring).front().cost.time();

  cluster.fabric.kind = FatTreeLayout{{{2, 4}}};
  const CollectiveRow row = SweepCollective(cluster, exchange).front();
  EXPECT_EQ(row.cost.limit, "level 0 up");
  EXPECT_GT(Ratio(row.cost.time(), free), 2.5);
  // A ring leaves a leaf on one of two nodes' links.
  EXPECT_NEAR(Ratio(SweepCollective(cluster, ring).front().cost.time(), ring_free), 2, 0.1);
}

TEST(CollectiveSweep, InOneNodeTheSwitchMayReduce) {
  const CollectiveRow row =
      SweepCollective(H100Cluster(1), Ask(CollectiveKind::kAllReduce, 1, kGiB)).front();
  EXPECT_EQ(row.cost.algorithm, "NVLS");
  EXPECT_NEAR(row.busbw_bound.gigabytes_per_second(), 450 * 2 * 7.0 / 8, 1e-6);
}

TEST(CollectiveSweep, RingsOfAMeshUseAllItsLinks) {
  ClusterSpec cluster = H100Cluster(1);
  cluster.node.in_node = InNodeFabric::kFullMesh;
  CollectiveQuestion question = Ask(CollectiveKind::kAllGather, 1, kGiB);
  question.algorithm = Algorithm::kRing;
  const CollectiveRow row = SweepCollective(cluster, question).front();
  EXPECT_EQ(row.cost.limit, "rings of the node");
  // 0.82 of 450 GB/s: every NVLink carries its part.
  EXPECT_NEAR(row.busbw.gigabytes_per_second(), 0.82 * 450, 4);
}

// SweepCollective throws if a row beats the bound.
TEST(CollectiveSweep, NothingBeatsTheBoundOnRandomClusters) {
  constexpr std::uint32_t kSeed = 7;
  RecordProperty("seed", static_cast<int>(kSeed));
  std::mt19937 random(kSeed);
  const auto pick = [&](std::vector<int> choices) {
    return choices[std::uniform_int_distribution<std::size_t>(0, choices.size() - 1)(random)];
  };
  for (int i = 0; i < 300; ++i) {
    const int nodes = pick({1, 2, 4, 8});
    ClusterSpec cluster = H100Cluster(nodes);
    cluster.node.gpu.compute_capability = pick({70, 80, 90, 100});
    cluster.node.in_node = static_cast<InNodeFabric>(pick({0, 1, 2, 3, 4}));
    cluster.fabric.nics_per_node = pick({1, 2, 4, 8});
    cluster.fabric.nic_bandwidth = BytesPerSecond::GigabitsPerSecond(pick({25, 100, 400}));
    switch (pick({0, 1, 2, 3})) {
      case 1:
        cluster.fabric.kind = FatTreeLayout{{{2, 2}}};
        break;
      case 2:
        cluster.fabric.kind = RailLayout{{{2, 1}}};
        break;
      case 3:
        cluster.fabric.kind =
            TorusLayout{{nodes}, BytesPerSecond::GigabytesPerSecond(pick({5, 50}))};
        break;
      default:
        break;
    }
    CollectiveQuestion question = Ask(static_cast<CollectiveKind>(pick({0, 1, 2, 5})), nodes, kGiB);
    question.sizes = Sizes(Bytes::Count(1024), kGiB, 16);
    SCOPED_TRACE("case " + std::to_string(i) + ", " + std::to_string(nodes) + " nodes");
    if (!CheckTopology(cluster).empty()) continue;
    std::vector<CollectiveRow> rows;
    ASSERT_NO_THROW(rows = SweepCollective(cluster, question));
    for (const CollectiveRow& row : rows) EXPECT_GT(row.cost.time(), row.bound);
  }
}

TEST(CheckTopology, LinksOfAGraphAreCountedBeforeTheyAreWrittenOut) {
  ClusterSpec cluster = H100Cluster(4);
  const BytesPerSecond rate = BytesPerSecond::GigabytesPerSecond(50);
  cluster.fabric.kind = GraphLayout{{"s"}, {{"node[0-999999]", "node[0-999999]", rate, Seconds()}}};
  EXPECT_EQ(TextOf(CheckTopology(cluster)),
            "fabric.links: they name more than 500000 links; expected fewer, or another kind");
  cluster.fabric.kind = GraphLayout{
      {"s"}, {{"node[0-3]", "s", rate, Seconds()}, {"node[0-1]", "t", rate, Seconds()}}};
  const TopologyProblems problems = CheckTopology(cluster);
  ASSERT_FALSE(problems.empty());
  EXPECT_EQ(problems.front().path, "fabric.links[1].to");
}

TEST(CollectiveSweep, SaysWhatItCannotDo) {
  ClusterSpec cluster = H100Cluster(4);
  CollectiveQuestion question = Ask(CollectiveKind::kAllReduce, 4, kGiB);
  question.gpus_per_node = 16;
  EXPECT_EQ(ErrorOf(cluster, question), "16 GPUs a node: it has 8");
  question.gpus_per_node = 4;
  cluster.node.in_node = InNodeFabric::kPcie;
  EXPECT_EQ(ErrorOf(cluster, question),
            "4 of 8 GPUs a node: only behind an NVSwitch do all choices come to the same");
  question.gpus_per_node = 8;
  cluster.node.gpu.compute_capability = 0;
  EXPECT_EQ(ErrorOf(cluster, question),
            "NCCL runs on GPUs of NVIDIA's, and the GPU has no compute_capability; give it one, or "
            "an algorithm");
  question.algorithm = Algorithm::kHalvingDoubling;
  question.nodes = 3;
  EXPECT_EQ(ErrorOf(cluster, question),
            "halving_doubling can't do all_reduce: 24 ranks are no power of two; use pat");
  cluster.fabric.kind = FatTreeLayout{{{2, 1}}};
  EXPECT_EQ(ErrorOf(cluster, question),
            "3 of 4 nodes: a fabric other than switch is used whole; give it as many nodes");
}

}  // namespace
}  // namespace zerosim
