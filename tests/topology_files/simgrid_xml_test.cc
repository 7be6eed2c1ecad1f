#include "models/topology_files/simgrid_xml.h"

#include <stdexcept>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/network/collective_sweep.h"
#include "tests/topology_files/exported_clusters.h"
#include "tests/topology_files/imported.h"

namespace zerosim {
namespace {

using testing::ElementsAre;

TEST(SimgridXml, SwitchIsACluster) {
  const SimgridExport result =
      ExportSimgrid("A & <B> -- C", ClusterOn(8, "kind: switch, oversubscription: 2"));

  EXPECT_EQ(result.xml,
            "<?xml version=\"1.0\"?>\n"
            "<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
            "<!-- A &amp; &lt;B> -  C: hosts are its 8 nodes -->\n"
            "<platform version=\"4.1\">\n"
            "  <cluster id=\"cluster\" prefix=\"node\" suffix=\"\" radical=\"0-7\" "
            "speed=\"2496000Gf\" bw=\"12.5GBps\" lat=\"1us\" sharing_policy=\"SPLITDUPLEX\" "
            "bb_bw=\"50GBps\" bb_lat=\"0us\"/>\n"
            "</platform>\n");
  EXPECT_THAT(result.left_out, ElementsAre("cluster.node: SimGrid has no inside of a node"));
}

TEST(SimgridXml, GraphIsAZoneOfCables) {
  const SimgridExport result = ExportSimgrid(
      "G", ClusterOn(2,
                     "kind: graph, switches: [a], links: [{from: 'node[0-1].nic0', to: a, "
                     "bandwidth: 25 Gbps}, {from: node1, to: a, bandwidth: 75 Gbps}]"));

  EXPECT_EQ(result.xml.substr(result.xml.find("  <zone")),
            "  <zone id=\"cluster\" routing=\"Dijkstra\">\n"
            "    <host id=\"node0\" speed=\"2496000Gf\"/>\n"
            "    <host id=\"node1\" speed=\"2496000Gf\"/>\n"
            "    <router id=\"a\"/>\n"
            "    <link id=\"link0\" bandwidth=\"3.125GBps\" latency=\"0us\" "
            "sharing_policy=\"SPLITDUPLEX\"/>\n"
            "    <link id=\"link1\" bandwidth=\"12.5GBps\" latency=\"0us\" "
            "sharing_policy=\"SPLITDUPLEX\"/>\n"
            "    <route src=\"node0\" dst=\"a\"><link_ctn id=\"link0\" direction=\"UP\"/></route>\n"
            "    <route src=\"node1\" dst=\"a\"><link_ctn id=\"link1\" direction=\"UP\"/></route>\n"
            "  </zone>\n"
            "</platform>\n");
  EXPECT_THAT(
      result.left_out,
      ElementsAre("cluster.node: SimGrid has no inside of a node",
                  "cluster.fabric.links: parallel ones are one of their sum",
                  "cluster.fabric.nic_bandwidth and latency: a host has those of its links"));
}

// Each time of collectives that load a fabric in different ways.
TEST(SimgridXml, ComesBackWithTheSamePredictions) {
  for (const auto& [name, cluster] : ExportedClusters()) {
    const std::string xml = ExportSimgrid(name, cluster).xml;
    const ClusterSpec again = ClusterOfYaml(Imported(TopologyFormat::kSimgrid, xml).yaml);
    for (const auto& [kind, algorithm] :
         {std::pair(CollectiveKind::kAllReduce, Algorithm::kTree),
          std::pair(CollectiveKind::kAllGather, Algorithm::kRing),
          std::pair(CollectiveKind::kAllToAll, Algorithm::kDirect)}) {
      CollectiveQuestion question;
      question.kind = kind;
      question.algorithm = algorithm;
      question.nodes = cluster.nodes;
      question.gpus_per_node = cluster.node.gpus;
      question.sizes = {Bytes::Count(1 << 10), Bytes::Count(1 << 28)};
      const std::vector<CollectiveRow> before = SweepCollective(cluster, question);
      const std::vector<CollectiveRow> after = SweepCollective(again, question);
      for (std::size_t i = 0; i < before.size(); ++i) {
        // YAML has six digits.
        EXPECT_NEAR(Ratio(after[i].cost.time(), before[i].cost.time()), 1, 1e-5)
            << name << ", " << NameOf(algorithm) << "\n"
            << xml;
        EXPECT_EQ(after[i].cost.limit, before[i].cost.limit) << name;
      }
    }
  }
}

TEST(SimgridXml, SaysWhatItLeavesOut) {
  ClusterSpec torus =
      ClusterOn(4, "kind: torus, dimensions: [4], link_bandwidth: 40 Gbps, routing: adaptive");
  torus.fabric.nics_per_node = 4;
  EXPECT_THAT(ExportSimgrid("T", torus).left_out,
              ElementsAre("cluster.node: SimGrid has no inside of a node",
                          "cluster.fabric.nics_per_node: the 4 NICs of a node are one link of 50.0 "
                          "GB/s",
                          "cluster.fabric.routing: SimGrid routes by destination",
                          "cluster.fabric.nic_bandwidth: a host of a torus has the rate of its "
                          "links",
                          "cluster.fabric.hop_latency: links of a <cluster> are alike, half of "
                          "latency each"));
  EXPECT_THAT(ExportSimgrid("D", ClusterOn(8,
                                           "kind: dragonfly, groups: 2, routers_per_group: 2, "
                                           "nodes_per_router: 2, global_links: 2, "
                                           "global_latency: 1 us, local_bandwidth: 100 Gbps, "
                                           "global_bandwidth: 100 Gbps"))
                  .left_out,
              testing::IsSupersetOf({"cluster.fabric.global_links: those of two groups are one "
                                     "link, at one router",
                                     "cluster.fabric.global_latency: links of a <cluster> are "
                                     "alike"}));
  EXPECT_THAT(ExportSimgrid("F", ClusterOn(4,
                                           "kind: fat_tree, levels: [{children: 2, "
                                           "extra_latency: 1 us}]"))
                  .left_out,
              testing::Contains("cluster.fabric.levels.extra_latency: links of a <cluster> are "
                                "alike"));
}

std::string ErrorOf(const ClusterSpec& cluster) {
  try {
    ExportSimgrid("A", cluster);
    return "";
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
}

TEST(SimgridXml, SaysWhatSimgridDoesNotExpress) {
  EXPECT_EQ(ErrorOf(ClusterOfYaml("cluster: {nodes: 1, node: dgx_a100_80gb}\n")),
            "cluster.nodes: one node has no network between nodes, and SimGrid no inside of a "
            "node; expected at least 2");
  EXPECT_EQ(ErrorOf(ClusterOn(8, "kind: rail_only, levels: [{children: 8}]")),
            "cluster.fabric.kind: in a rail network the NICs of a node are at several leaves, and "
            "a host of SimGrid at one; expected another kind, such as fat_tree");
  EXPECT_EQ(ErrorOf(ClusterOn(8,
                              "kind: fat_tree, levels: [{children: 2, oversubscription: "
                              "1.2345}]")),
            "cluster.fabric.levels: no whole number of links has the ratios 1.2345; expected "
            "oversubscriptions such as 2 or 1.5");
  EXPECT_EQ(ErrorOf(ClusterOn(9, "kind: fat_tree, levels: [{children: 2}]")),
            "cluster.nodes: 9 nodes do not fill subtrees of 2, as a <cluster> does; expected a "
            "multiple");
  EXPECT_EQ(ErrorOf(ClusterOn(6,
                              "kind: dragonfly, groups: 3, routers_per_group: 2, "
                              "nodes_per_router: 1, local_bandwidth: 100 Gbps, "
                              "global_bandwidth: 100 Gbps")),
            "cluster.fabric.groups: SimGrid's groups have a router for each group; expected at "
            "most routers_per_group, 2, got 3");
  EXPECT_EQ(ErrorOf(ClusterOn(4,
                              "kind: dragonfly, groups: 2, routers_per_group: 2, "
                              "nodes_per_router: 1, local_bandwidth: 150 Gbps, "
                              "global_bandwidth: 100 Gbps")),
            "cluster.fabric.local_bandwidth: links of a <cluster> are as fast as a node's, 12.5 "
            "GB/s; expected a multiple, got 18.8 GB/s");
  ClusterSpec rails =
      ClusterOn(2,
                "kind: graph, switches: [a], links: [{from: node0.nic0, to: a, bandwidth: 25 "
                "Gbps}, {from: node1.nic0, to: a, bandwidth: 75 Gbps}]");
  rails.fabric.nics_per_node = 2;
  EXPECT_EQ(ErrorOf(rails),
            "cluster.fabric.links: node0.nic0 is one NIC of several, and a host of SimGrid has one "
            "place; expected links of whole nodes");
}

}  // namespace
}  // namespace zerosim
