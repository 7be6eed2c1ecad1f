#include <string>

#include <gtest/gtest.h>

#include "models/scenario/read_scenario.h"
#include "tests/topology_files/imported.h"

namespace zerosim {
namespace {

constexpr TopologyFormat kFormat = TopologyFormat::kSimgrid;

std::string Cluster(const std::string& attributes) {
  return "<platform version=\"4.1\"><zone id=\"w\" routing=\"Full\">\n<cluster id=\"c\" " +
         attributes + "/></zone></platform>";
}

// The keys of cluster.fabric.
std::string Fabric(const std::string& text) {
  const std::string yaml = Imported(kFormat, text).yaml;
  return yaml.substr(yaml.find("  fabric:\n") + 10);
}

TEST(SimgridPlatform, ClusterIsASwitchThatIsReadToday) {
  const std::string scenario =
      Imported(kFormat, Cluster("radical=\"0-7\" bw=\"12.5GBps\" lat=\"1us\" bb_bw=\"25GBps\" "
                                "bb_lat=\"0.5us\""))
          .yaml +
      "model: {layers: 2, hidden: 64, heads: 4, vocabulary: 100}\n"
      "training: {sequence_length: 128}\nzero: {stage: 3}\n";

  const ReadResult read =
      ReadScenarioText(scenario, "s.yaml", {}, {{ZEROSIM_SOURCE_DIR "/scenarios"}}, DiskFiles());

  const ClusterSpec& cluster = read.scenario.cluster;
  EXPECT_EQ(cluster.nodes, 8);
  EXPECT_DOUBLE_EQ(cluster.fabric.nic_bandwidth.gigabytes_per_second(), 12.5);
  EXPECT_DOUBLE_EQ(cluster.fabric.latency.microseconds(), 2.5);
  EXPECT_DOUBLE_EQ(cluster.fabric.oversubscription, 4);  // 8 x 12.5 over 25
}

// SimGrid's own example: 4 nodes a leaf, 2 parents of 2 links each for a leaf.
TEST(SimgridPlatform, ReadsAFatTree) {
  EXPECT_EQ(LinesWith("oversubscription",
                      Fabric(Cluster("radical=\"0-15\" bw=\"10Gbps\" lat=\"2us\" "
                                     "topology=\"FAT_TREE\" topo_parameters=\"2;4,4;1,2;1,2\""))),
            "- {children: 4, oversubscription: 1}\n- {children: 4, oversubscription: 1}\n");
  EXPECT_EQ(LinesWith("oversubscription",
                      Fabric(Cluster("radical=\"0-63\" bw=\"10Gbps\" lat=\"2us\" "
                                     "topology=\"FAT_TREE\" topo_parameters=\"2;16,4;1,4;1,2\""))),
            "- {children: 16, oversubscription: 2}\n- {children: 4, oversubscription: 1}\n");
}

TEST(SimgridPlatform, ReadsATorusAndADragonfly) {
  const std::string torus = Fabric(Cluster(
      "radical=\"0-11\" bw=\"10Gbps\" lat=\"2us\" topology=\"TORUS\" topo_parameters=\"3,2,2\""));
  const std::string dragonfly =
      Fabric(Cluster("radical=\"0-23\" bw=\"8Gbps\" lat=\"2us\" topology=\"DRAGONFLY\" "
                     "topo_parameters=\"3,4;1,3;4,1;2\""));

  EXPECT_EQ(LinesWith("dimensions", torus), "dimensions: [3, 2, 2]\n");
  EXPECT_EQ(LinesWith("link_bandwidth", torus), "link_bandwidth: 1.25 GB/s\n");
  EXPECT_EQ(dragonfly.substr(0, dragonfly.find("    nics_per_node")),
            "    kind: dragonfly\n"
            "    groups: 3\n"
            "    routers_per_group: 4\n"
            "    nodes_per_router: 2\n"
            "    local_bandwidth: 1 GB/s\n"
            "    global_bandwidth: 4 GB/s\n"
            "    global_links: 1\n");
}

TEST(SimgridPlatform, ReadsRoutesAsCables) {
  const std::string fabric = Fabric(SampleText("platform.xml"));

  EXPECT_EQ(LinesWith("{from", fabric),
            "- {from: node0, to: switch0, bandwidth: 100 Gbps, latency: 1 us}\n"
            "- {from: node1, to: switch0, bandwidth: 50 Gbps, latency: 6 us}\n");
}

std::string Star(const std::string& more) {
  return "<platform version=\"4.1\"><zone id=\"w\" routing=\"Full\">\n"
         "<host id=\"a\"/><host id=\"b\"/><host id=\"c\"/>\n"
         "<link id=\"la\" bandwidth=\"1GBps\" latency=\"1us\"/>\n"
         "<link id=\"lb\" bandwidth=\"1GBps\" latency=\"1us\"/>\n"
         "<link id=\"lc\" bandwidth=\"1GBps\" latency=\"1us\"/>\n"
         "<link id=\"bb\" bandwidth=\"2GBps\" latency=\"3us\"/>\n" +
         more + "</zone></platform>";
}

std::string Route(const std::string& from, const std::string& to, const std::string& backbone) {
  const std::string middle = backbone.empty() ? "" : "<link_ctn id=\"" + backbone + "\"/>";
  return "<route src=\"" + from + "\" dst=\"" + to + "\"><link_ctn id=\"l" + from + "\"/>" +
         middle + "<link_ctn id=\"l" + to + "\"/></route>\n";
}

TEST(SimgridPlatform, ReadsRoutesOverASharedLinkAsASwitch) {
  const std::string fabric =
      Fabric(Star(Route("a", "b", "bb") + Route("a", "c", "bb") + Route("b", "c", "bb")));

  EXPECT_EQ(fabric.substr(0, fabric.find("    nics_per_node")),
            "    kind: switch\n"
            "    oversubscription: 1.5          # all hosts' links over bb\n");
  EXPECT_EQ(LinesWith("latency", fabric), "latency: 5 us\n");
  EXPECT_EQ(LinesWith("nic_bandwidth", fabric), "nic_bandwidth: 8 Gbps\n");
}

TEST(SimgridPlatform, RefusesOtherSharing) {
  EXPECT_EQ(ImportError(kFormat, Star(Route("a", "b", "bb") + Route("a", "c", ""))),
            "t:8:1: error: <route>: shares links with other routes in another way than over one "
            "switch between hosts of one rate, which a graph of cables does not express\n"
            "  <route src=\"a\" dst=\"c\"><link_ctn id=\"la\"/><link_ctn id=\"lc\"/></route>\n"
            "  ^\n");
}

TEST(SimgridPlatform, SaysWhatIsWrong) {
  EXPECT_EQ(ImportError(kFormat, Cluster("radical=\"0-7\" bw=\"fast\"")),
            "t:2:1: error: <cluster>: bw: expected a rate such as \"125MBps\" or \"10Gbps\", got "
            "\"fast\"\n"
            "  <cluster id=\"c\" radical=\"0-7\" bw=\"fast\"/></zone></platform>\n"
            "  ^\n");
  EXPECT_EQ(ImportError(kFormat, Cluster("radical=\"7-0\"")),
            "t:2:1: error: <cluster>: radical: expected the numbers of the hosts, such as 0-15, "
            "got \"7-0\"\n"
            "  <cluster id=\"c\" radical=\"7-0\"/></zone></platform>\n"
            "  ^\n");
  EXPECT_EQ(ImportError(kFormat, Cluster("radical=\"0-7\" bw=\"1Gbps\" topology=\"TORUS\" "
                                         "topo_parameters=\"3,3\"")),
            "t:2:1: error: <cluster>: topo_parameters have 9 nodes, radical 8\n"
            "  <cluster id=\"c\" radical=\"0-7\" bw=\"1Gbps\" topology=\"TORUS\" "
            "topo_parameters=\"3,3\"/></zone></platform>\n"
            "  ^\n");
  EXPECT_EQ(ImportError(kFormat, Star(Route("a", "z", ""))),
            "t:7:1: error: <route>: z is no host or router of the zone\n"
            "  <route src=\"a\" dst=\"z\"><link_ctn id=\"la\"/><link_ctn id=\"lz\"/></route>\n"
            "  ^\n");
  EXPECT_EQ(ImportError(kFormat, Star("<peer id=\"p\"/>\n")).substr(0, 87),
            "t:7:1: error: <peer>: cannot be imported; expected <host>, <router>, <link> or "
            "<route>\n");
  EXPECT_EQ(ImportError(kFormat, "<platform>\n<zone id=\"a\"/>\n<zone id=\"b\"/></platform>"),
            "t:3:1: error: <platform>: expected one <zone> or <cluster> that holds all hosts, got "
            "2\n"
            "  <zone id=\"b\"/></platform>\n"
            "  ^\n");
}

TEST(SimgridPlatform, NeverCrashesOnATruncatedFile) {
  const std::string text = SampleText("platform.xml");
  for (std::size_t size = 0; size + 1 < text.size(); size += 3) {
    EXPECT_NE(ImportError(kFormat, text.substr(0, size)), "") << size;
  }
}

}  // namespace
}  // namespace zerosim
