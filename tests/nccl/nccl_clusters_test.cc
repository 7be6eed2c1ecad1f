// The file of clusters and logs: what it holds, and what it says of mistakes.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/core/diagnostics.h"
#include "validate/nccl_clusters.h"
#include "validate/nccl_comparison.h"

namespace zerosim {
namespace {

using testing::ElementsAre;
using testing::Optional;
using testing::SizeIs;

std::vector<std::string> ProblemsOf(const std::string& text) {
  try {
    ReadNcclClusters("c.yaml", MemoryFiles({{"c.yaml", text}}));
  } catch (const ScenarioError& e) {
    std::vector<std::string> texts;
    for (const Diagnostic& p : e.problems()) texts.push_back(Place(p.where) + ": " + p.what);
    return texts;
  }
  return {};
}

constexpr const char* kHead =
    "clusters:\n"
    "- name: c\n"
    "  about: two nodes\n"
    "  gpu: A100\n"
    "  fabric: InfiniBand\n"
    "  source: a paper\n"
    "  assumed: nothing\n"
    "  version: 2.21.5\n";

TEST(NcclClusters, HaveTopologyVersionAndRuns) {
  const std::string text = std::string(kHead) +
                           "  topology: {compute_capability: 80, gpus_per_node: 4, nvlinks: 12, "
                           "nvlink: 25 GB/s, nvls: false,\n"
                           "    nics: 2, nic: 200 Gbps, cpu: amd, ll128_between_nodes: false}\n"
                           "  runs:\n"
                           "  - {log: a.log, collective: all_gather, nodes: 2, gpus: 4}\n"
                           "  - {log: b.log, collective: all_to_all, nodes: 1, gpus: 2, version: "
                           "2.18, algorithms: Ring}\n"
                           "skipped:\n"
                           "- {log: d.log, reason: broken}\n";

  const NcclClusters clusters = ReadNcclClusters("c.yaml", MemoryFiles({{"c.yaml", text}}));

  ASSERT_THAT(clusters.clusters, SizeIs(1));
  const NcclCluster& cluster = clusters.clusters[0];
  EXPECT_EQ(cluster.gpu, "A100");
  EXPECT_EQ(cluster.topology.compute_capability, 80);
  EXPECT_DOUBLE_EQ(cluster.topology.nic.gigabytes_per_second(), 25);
  EXPECT_EQ(cluster.topology.cpu, CpuVendor::kAmd);
  EXPECT_FALSE(cluster.topology.ll128_between_nodes);
  ASSERT_THAT(cluster.runs, SizeIs(2));
  EXPECT_EQ(cluster.runs[0].version, (NcclVersion{2, 21, 5}));
  EXPECT_EQ(cluster.runs[1].version, (NcclVersion{2, 18, 99}));
  EXPECT_EQ(cluster.runs[1].collective, NcclCollective::kAllToAll);
  EXPECT_TRUE(cluster.runs[1].overrides.algorithms[0].has_value());
  EXPECT_THAT(clusters.skipped, SizeIs(1));
}

TEST(NcclClusters, SayWhatIsWrong) {
  const std::string topology = "  topology: {gpus_per_node: 4}\n";
  EXPECT_THAT(
      ProblemsOf(kHead + topology +
                 "  runs:\n"
                 "  - {log: a.log, collective: gather, nodes: 0, gpus: 8, algorithms: Rings}\n"
                 "  - {log: a.log, colective: all_gather, nodes: 1, gpus: 1}\n"),
      ElementsAre(
          "c.yaml:11:30: collective: expected a collective such as all_reduce, got "
          "\"gather\"",
          "c.yaml:11:45: nodes: expected a whole number from 1 to 1000000, got \"0\"",
          "c.yaml:11:54: gpus: 8 of 4 in a node",
          "c.yaml:11:69: algorithms: expected Tree, Ring, CollNetDirect, CollNetChain, NVLS, "
          "NVLSTree or PAT, got \"Rings\"",
          "c.yaml:12:5: collective: missing", "c.yaml:12:11: log: \"a.log\" is there twice",
          "c.yaml:12:18: colective: no such key; expected log, collective, nodes, gpus, "
          "version, algorithms, protocols, min_channels"));
  EXPECT_THAT(ProblemsOf(std::string(kHead) + "  runs: []\n"),
              ElementsAre("c.yaml:2:3: topology: missing"));
  EXPECT_THAT(ProblemsOf("clusters: 3\n"), ElementsAre("c.yaml:1:11: clusters: expected a list"));
}

TEST(NcclClusters, AreReadFromAFileThatExists) {
  try {
    ReadNcclClusters("none.yaml", MemoryFiles({}));
    FAIL();
  } catch (const ScenarioError& e) {
    EXPECT_STREQ(e.what(), "none.yaml: error: no such file\n");
  }
}

TEST(CompareLog, TakesTheFasterPlacementAndLeavesOutWhatHasNoSize) {
  NcclCluster cluster;
  NcclRun run;
  run.collective = NcclCollective::kAllReduce;
  run.group = {1, 8};
  const NcclTestsLog log = ReadNcclTestsLog(
      {"a.log",
       "0 0 float sum -1 30 0 0 0 30 0 0 0\n"
       "1024 256 float sum -1 30 0 0 0 20 0 0 0\n"
       "2048 512 float sum -1 N/A N/A N/A N/A 21 0 0 0\n"
       "h:1:1 [0] NCCL INFO AllReduce: 1024 Bytes -> Algo RING proto LL channel{Lo..Hi}={0..0}\n"
       "h:1:1 [0] NCCL INFO AllReduce: 1024 Bytes -> Algo RING proto LL channel{Lo..Hi}={0..1}\n"});
  NcclComparison comparison;

  CompareLog(cluster, run, log, &comparison);

  ASSERT_THAT(comparison.points, SizeIs(2));
  EXPECT_DOUBLE_EQ(comparison.points[0].measured.microseconds(), 20);
  EXPECT_DOUBLE_EQ(comparison.points[1].measured.microseconds(), 21);
  ASSERT_THAT(comparison.choices, SizeIs(2));
  EXPECT_TRUE(comparison.choices[0].agrees());
  EXPECT_FALSE(comparison.choices[1].agrees());
}

TEST(SizeClass, EndsBelowItsBound) {
  EXPECT_EQ(SizeClassOf(Bytes::Count(4095)), 0U);
  EXPECT_EQ(SizeClassOf(Bytes::Count(4096)), 1U);
  EXPECT_EQ(SizeClassOf(Bytes::Count(268435456)), 4U);
}

}  // namespace
}  // namespace zerosim
