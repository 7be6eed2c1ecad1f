#include "models/topology_files/dot_drawing.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/topology_files/dot_graph.h"
#include "tests/topology_files/exported_clusters.h"
#include "tests/topology_files/imported.h"

namespace zerosim {
namespace {

using testing::ElementsAre;

TEST(DotGraph, QuotesAllText) {
  DotGraph graph("a \"b\"\n\\c\td");
  graph.Vertex("x y", {});
  graph.BeginFrame("frame");
  graph.Edge("x y", "{z}", {{"label", "1"}, {"taillabel", "-- 2"}});
  graph.EndFrame();

  EXPECT_EQ(std::move(graph).Take(),
            "graph \"a \\\"b\\\"\\n\\\\c d\" {\n"
            "  graph [label=\"a \\\"b\\\"\\n\\\\c d\", labelloc=\"t\", fontname=\"sans\"]\n"
            "  node [shape=\"box\", fontname=\"sans\"]\n"
            "  edge [fontname=\"sans\", fontsize=\"10\"]\n"
            "  \"x y\"\n"
            "  subgraph \"cluster frame\" {\n"
            "    label=\"frame\"\n"
            "    \"x y\" -- \"{z}\" [label=\"1\", taillabel=\"-- 2\"]\n"
            "  }\n"
            "}\n");
}

TEST(AlikeVertices, TellsApartWhatIsLinkedOtherwise) {
  // A path of five: ends, next to them, middle.
  EXPECT_THAT(AlikeVertices({0, 0, 0, 0, 0}, {{0, 1, "r"}, {1, 2, "r"}, {2, 3, "r"}, {3, 4, "r"}}),
              ElementsAre(0, 1, 2, 1, 0));
  // A ring of one rate, and with one link of another.
  EXPECT_THAT(AlikeVertices({0, 0, 0}, {{0, 1, "r"}, {1, 2, "r"}, {2, 0, "r"}}),
              ElementsAre(0, 0, 0));
  EXPECT_THAT(AlikeVertices({0, 0, 0}, {{0, 1, "r"}, {1, 2, "r"}, {2, 0, "s"}}),
              ElementsAre(0, 1, 0));
  EXPECT_THAT(AlikeVertices({0, 1, 0}, {}), ElementsAre(0, 1, 0));
}

// The lines of the fabric: after the node's frame.
std::string FabricOf(const ClusterSpec& cluster) {
  const std::string drawing = DrawCluster("A", cluster);
  return drawing.substr(drawing.find("\n  }\n") + 5);
}

TEST(DotDrawing, HasTheInsideOfANodeOnce) {
  ClusterSpec cluster = ClusterOn(1000, "kind: switch");
  const std::string drawing = DrawCluster("A", cluster);
  EXPECT_THAT(drawing, testing::HasSubstr("graph \"A\\n1000 nodes of 8 GPUs\" {"));
  EXPECT_THAT(drawing, testing::HasSubstr("label=\"node, 1000 alike\""));
  EXPECT_THAT(drawing, testing::HasSubstr("\"gpu7\" -- \"nvswitch\" [label=\"300 GB/s\""));
  EXPECT_LT(drawing.size(), 5000U);
}

TEST(DotDrawing, HasEachLevelOfARegularFabricOnce) {
  EXPECT_EQ(FabricOf(ClusterOn(8, "kind: switch, oversubscription: 2")),
            "  \"switch\" [label=\"switch\\n1 of 2 of the rate\", shape=\"ellipse\"]\n"
            "  \"nic0\" -- \"switch\" [label=\"12.5 GB/s\"]\n"
            "}\n");
  EXPECT_EQ(FabricOf(ClusterOn(8192,
                               "kind: fat_tree, levels: [{children: 32, oversubscription: "
                               "4}, {children: 16}]")),
            "  \"level 0\" [label=\"level 0\\n256 leaves of 32 NICs\", shape=\"ellipse\"]\n"
            "  \"level 1\" [label=\"level 1\\n16 subtrees of 512 NICs\", shape=\"ellipse\"]\n"
            "  \"roots\" [shape=\"ellipse\"]\n"
            "  \"nic0\" -- \"level 0\" [label=\"12.5 GB/s\"]\n"
            "  \"level 0\" -- \"level 1\" [label=\"12.5 GB/s\", taillabel=\"8\"]\n"
            "  \"level 1\" -- \"roots\" [label=\"12.5 GB/s\", taillabel=\"128\"]\n"
            "}\n");
  EXPECT_EQ(FabricOf(ClusterOn(12, "kind: torus, dimensions: [4, 3], link_bandwidth: 40 Gbps")),
            "  \"router\" [label=\"router, one a node\", shape=\"ellipse\"]\n"
            "  \"nic0\" -- \"router\" [label=\"12.5 GB/s\"]\n"
            "  \"dimension 0\" [label=\"neighbours in dimension 0\\na ring of 4\", "
            "shape=\"ellipse\"]\n"
            "  \"router\" -- \"dimension 0\" [label=\"5.00 GB/s\", taillabel=\"2\"]\n"
            "  \"dimension 1\" [label=\"neighbours in dimension 1\\na ring of 3\", "
            "shape=\"ellipse\"]\n"
            "  \"router\" -- \"dimension 1\" [label=\"5.00 GB/s\", taillabel=\"2\"]\n"
            "}\n");
  EXPECT_EQ(FabricOf(ClusterOn(16,
                               "kind: dragonfly, groups: 2, routers_per_group: 4, "
                               "nodes_per_router: 2, global_links: 3, local_bandwidth: 200 "
                               "Gbps, global_bandwidth: 300 Gbps")),
            "  \"router\" [label=\"router\\n4 in each of 2 groups\\n2 nodes a router\", "
            "shape=\"ellipse\"]\n"
            "  \"nic0\" -- \"router\" [label=\"12.5 GB/s\"]\n"
            "  \"group\" [label=\"other routers of the group\", shape=\"ellipse\"]\n"
            "  \"router\" -- \"group\" [label=\"25.0 GB/s\", taillabel=\"3\"]\n"
            "  \"groups\" [label=\"routers of other groups\", shape=\"ellipse\"]\n"
            "  \"router\" -- \"groups\" [label=\"37.5 GB/s\\n3 links from group to group\"]\n"
            "}\n");
}

TEST(DotDrawing, HasAllOfASmallGraph) {
  EXPECT_EQ(FabricOf(ClusterOn(2,
                               "kind: graph, switches: [gpu0], links: [{from: 'node[0-1]', to: "
                               "gpu0, bandwidth: 100 Gbps}]")),
            "  \"fabric gpu0\" [label=\"gpu0\", shape=\"ellipse\"]\n"
            "  \"fabric node0\" [label=\"node0\", shape=\"box\"]\n"
            "  \"fabric node1\" [label=\"node1\", shape=\"box\"]\n"
            "  \"fabric node0\" -- \"fabric gpu0\" [label=\"12.5 GB/s\"]\n"
            "  \"fabric node1\" -- \"fabric gpu0\" [label=\"12.5 GB/s\"]\n"
            "}\n");
}

// 64 leaves of 32 nodes under two spines, of which one leaf's node is slower.
TEST(DotDrawing, HasPartsOfALargeGraphThatAreLinkedAlikeOnce) {
  std::string links;
  for (int leaf = 0; leaf < 64; ++leaf) {
    const std::string name = "leaf" + std::to_string(leaf);
    const int first = 32 * leaf;
    links += "{from: 'node[" + std::to_string(first) + "-" + std::to_string(first + 31) +
             "]', to: " + name + ", bandwidth: 100 Gbps}, {from: " + name +
             ", to: 'spine[0-1]', bandwidth: " + (leaf == 5 ? "100" : "400") + " Gbps}, ";
  }
  std::string switches = "spine0, spine1";
  for (int leaf = 0; leaf < 64; ++leaf) switches += ", leaf" + std::to_string(leaf);
  EXPECT_EQ(FabricOf(ClusterOn(2048, "kind: graph, switches: [" + switches + "], links: [" +
                                         links.substr(0, links.size() - 2) + "]")),
            "  \"fabric spine0\" [label=\"spine0 ... spine1\\n2 alike\", shape=\"ellipse\"]\n"
            "  \"fabric leaf0\" [label=\"leaf0 ... leaf63\\n63 alike\", shape=\"ellipse\"]\n"
            "  \"fabric leaf5\" [label=\"leaf5\", shape=\"ellipse\"]\n"
            "  \"fabric node0\" [label=\"node0 ... node2047\\n2016 alike\", shape=\"box\"]\n"
            "  \"fabric node160\" [label=\"node160 ... node191\\n32 alike\", shape=\"box\"]\n"
            "  \"fabric spine0\" -- \"fabric leaf0\" [label=\"50.0 GB/s\", taillabel=\"63\", "
            "headlabel=\"2\"]\n"
            "  \"fabric spine0\" -- \"fabric leaf5\" [label=\"12.5 GB/s\", taillabel=\"1\", "
            "headlabel=\"2\"]\n"
            "  \"fabric leaf0\" -- \"fabric node0\" [label=\"12.5 GB/s\", taillabel=\"32\", "
            "headlabel=\"1\"]\n"
            "  \"fabric leaf5\" -- \"fabric node160\" [label=\"12.5 GB/s\", taillabel=\"32\", "
            "headlabel=\"1\"]\n"
            "}\n");
}

}  // namespace
}  // namespace zerosim
