#include <string>

#include <gtest/gtest.h>

#include "models/scenario/read_scenario.h"
#include "tests/topology_files/imported.h"

namespace zerosim {
namespace {

constexpr TopologyFormat kFormat = TopologyFormat::kSlurm;

// The keys of cluster.fabric down to nics_per_node.
std::string Fabric(const std::string& text) {
  const std::string yaml = Imported(kFormat, text).yaml;
  const std::size_t begin = yaml.find("    kind:");
  return yaml.substr(begin, yaml.find("    nics_per_node") - begin);
}

TEST(SlurmTopology, OfEqualSwitchesIsAFatTree) {
  const std::string text =
      "# a comment\n"
      "SwitchName=root Switches=pod[0-1]\n"
      "switchname=pod0 SWITCHES=leaf[0-2] LinkSpeed=100\n"
      "SwitchName=pod1 \\\n  Switches=leaf[3-4],leaf5\n"
      "SwitchName=leaf0 Nodes=n[00-03]  # four\n"
      "SwitchName=leaf1 Nodes=n[04-07]\r\n"
      "SwitchName=leaf2 Nodes=n[08-11]\n"
      "SwitchName=leaf3 Nodes=m[0-3]\n"
      "SwitchName=leaf4 Nodes=m4,m5,m6,m7\n"
      "SwitchName=leaf5 Nodes=m[8-9,20,21]\n";

  const ImportedTopology imported = Imported(kFormat, text);

  EXPECT_EQ(LinesWith("nodes: 24", imported.yaml), "nodes: 24\n");
  EXPECT_EQ(LinesWith("oversubscription", imported.yaml),
            "- {children: 4, oversubscription: 1}\n"
            "- {children: 3, oversubscription: 1}\n"
            "- {children: 2, oversubscription: 1}\n");
  EXPECT_EQ(imported.notes, (std::vector<std::string>{
                                "t:3:46: note: LinkSpeed: not read: it has no unit and no effect "
                                "in Slurm"}));
}

TEST(SlurmTopology, OfOneSwitchIsAFabricThatIsReadToday) {
  const std::string scenario = Imported(kFormat, "SwitchName=s0 Nodes=n[0-7]\n").yaml +
                               "model: {layers: 2, hidden: 64, heads: 4, vocabulary: 100}\n"
                               "training: {sequence_length: 128}\nzero: {stage: 3}\n";

  const ReadResult read =
      ReadScenarioText(scenario, "s.yaml", {}, {{ZEROSIM_SOURCE_DIR "/scenarios"}}, DiskFiles());

  EXPECT_EQ(read.scenario.cluster.nodes, 8);
  EXPECT_DOUBLE_EQ(read.scenario.cluster.fabric.nic_bandwidth.gigabytes_per_second(), 12.5);
}

TEST(SlurmTopology, OfUnequalSwitchesIsAGraph) {
  EXPECT_EQ(
      Fabric("SwitchName=top Switches=a,b\nSwitchName=b Nodes=n9\nSwitchName=a Nodes=n[0-2]\n"),
      "    kind: graph\n"
      "    switches:\n"
      "      - switch0                    # top\n"
      "      - switch1                    # b\n"
      "      - switch2                    # a\n"
      "    # not in the file: the rates of links; the default is 100 Gbps for each node below\n"
      "    links:\n"
      "      - {from: switch2, to: switch0, bandwidth: 300 Gbps}\n"
      "      - {from: switch1, to: switch0, bandwidth: 100 Gbps}\n"
      "      - {from: node3, to: switch1, bandwidth: 100 Gbps}  # n9\n"
      "      - {from: \"node[0-2]\", to: switch2, bandwidth: 100 Gbps}  # \"n[0-2]\"\n");
}

// Two pods of 1 + 2 and 4 nodes below a top.
TEST(SlurmTopology, GivesAnUplinkTheRateOfAllNodesBelow) {
  const std::string fabric = Fabric(
      "SwitchName=top Switches=p,c\nSwitchName=p Switches=a,b\nSwitchName=a Nodes=n0\n"
      "SwitchName=b Nodes=n[1-2]\nSwitchName=c Nodes=n[3-6]\n");

  EXPECT_EQ(LinesWith("to: switch0", fabric),
            "- {from: switch1, to: switch0, bandwidth: 300 Gbps}\n"
            "- {from: switch4, to: switch0, bandwidth: 400 Gbps}\n");
}

TEST(SlurmTopology, ReadsBlocksAsLeaves) {
  const ImportedTopology imported = Imported(
      kFormat, "BlockName=b1 Nodes=n[01-04]\nBlockName=b2 Nodes=n[05-08]\nBlockSizes=4,8\n");

  EXPECT_EQ(LinesWith("oversubscription", imported.yaml),
            "- {children: 4, oversubscription: 1}\n- {children: 2, oversubscription: 1}\n");
  EXPECT_EQ(LinesWith("# not in the file: a switch", imported.yaml),
            "# not in the file: a switch above all\n");
  EXPECT_EQ(imported.notes,
            (std::vector<std::string>{"t:3:12: note: BlockSizes: not read: it steers where jobs "
                                      "go"}));
}

TEST(SlurmTopology, WarnsOfTreesThatNothingJoins) {
  EXPECT_EQ(Imported(kFormat, "SwitchName=a Nodes=n0\nSwitchName=b Nodes=n1\n").warnings,
            (std::vector<std::string>{
                "t:2:12: warning: 2 switches have none above them, so that Slurm runs no job "
                "across them; a switch above all is assumed"}));
}

TEST(SlurmTopology, SaysWhatIsNoTree) {
  EXPECT_EQ(ImportError(kFormat, "SwitchName=a Switches=b\nSwitchName=b Switches=a\n"),
            "t:1:12: error: some switches are below themselves; expected a tree\n"
            "  SwitchName=a Switches=b\n"
            "             ^\n");
  EXPECT_EQ(ImportError(kFormat,
                        "SwitchName=a Switches=c\nSwitchName=b Switches=c\n"
                        "SwitchName=c Nodes=n\n"),
            "t:2:12: error: b: its switch c is below another one too; expected a tree\n"
            "  SwitchName=b Switches=c\n"
            "             ^\n");
  EXPECT_EQ(ImportError(kFormat, "SwitchName=a Nodes=n[0-1]\nSwitchName=b Nodes=n[1-2]\n"),
            "t:2:12: error: b: its node n1 is below a too; expected a tree\n"
            "  SwitchName=b Nodes=n[1-2]\n"
            "             ^\n");
  EXPECT_EQ(ImportError(kFormat, "SwitchName=a Switches=b\n"),
            "t:1:12: error: a: its switch b is not in the file\n"
            "  SwitchName=a Switches=b\n"
            "             ^\n");
}

TEST(SlurmTopology, SaysWhichLineIsWrong) {
  EXPECT_EQ(ImportError(kFormat, "{% for x in y %}\n"),
            "t:1:1: error: expected a key and a value such as \"SwitchName=leaf0\", got \"{%\"\n"
            "  {% for x in y %}\n"
            "  ^\n");
  EXPECT_EQ(ImportError(kFormat, "SwitchName=a Nods=n\n"),
            "t:1:19: error: nods: no such key; expected SwitchName, Switches, Nodes, LinkSpeed, "
            "BlockName or BlockSizes\n"
            "  SwitchName=a Nods=n\n"
            "                    ^\n");
  EXPECT_EQ(ImportError(kFormat, "SwitchName=a Nodes=n[0-\n"),
            "t:1:21: error: this \"[\" is never closed\n"
            "  SwitchName=a Nodes=n[0-\n"
            "                      ^\n");
  EXPECT_EQ(ImportError(kFormat, "SwitchName=a\n"),
            "t:1:12: error: a: expected either Nodes or Switches, got neither\n"
            "  SwitchName=a\n"
            "             ^\n");
  EXPECT_EQ(ImportError(kFormat, "Nodes=n\n"),
            "t:1:7: error: this line names no switch; expected SwitchName or BlockName\n"
            "  Nodes=n\n"
            "        ^\n");
  EXPECT_EQ(ImportError(kFormat, "SwitchName=a Nodes=n\nSwitchName=a Nodes=m\n"),
            "t:2:12: error: a: given twice; first in line 1\n"
            "  SwitchName=a Nodes=m\n"
            "             ^\n");
  EXPECT_EQ(
      ImportError(kFormat, "\n# nothing\n"),
      "t:1:1: error: expected a line such as \"SwitchName=leaf0 Nodes=node[0-15]\", got none\n");
}

TEST(SlurmTopology, HoldsToItsLimits) {
  const std::string text =
      "SwitchName=s0 Nodes=a[0-99999]\nSwitchName=s1 Nodes=b[0-99999]\n"
      "SwitchName=s2 Nodes=c[0-99999]\n";

  EXPECT_EQ(ImportError(kFormat, text),
            "t:3:23: error: too many names\n"
            "  SwitchName=s2 Nodes=c[0-99999]\n"
            "                        ^\n");
}

}  // namespace
}  // namespace zerosim
