#include <string>

#include <gtest/gtest.h>

#include "models/scenario/read_scenario.h"
#include "tests/topology_files/imported.h"

namespace zerosim {
namespace {

constexpr TopologyFormat kFormat = TopologyFormat::kNccl;

std::string Gpu(const std::string& bus, const std::string& inside) {
  return "<pci busid=\"" + bus + "\" class=\"0x030200\" link_speed=\"16 GT/s\" link_width=\"16\">" +
         inside + "</pci>\n";
}

std::string System(const std::string& inside) {
  return "<system version=\"1\"><cpu numaid=\"0\">\n" + inside + "</cpu></system>\n";
}

TEST(NcclTopology, OfNvSwitchesIsANodeThatIsReadToday) {
  const ImportedTopology imported = Imported(kFormat, SampleText("nvswitch_dump.xml"));
  const std::string scenario = imported.yaml +
                               "model: {layers: 2, hidden: 64, heads: 4, vocabulary: 100}\n"
                               "training: {sequence_length: 128}\nzero: {stage: 3}\n";

  const ReadResult read =
      ReadScenarioText(scenario, "s.yaml", {}, {{ZEROSIM_SOURCE_DIR "/scenarios"}}, DiskFiles());

  const NodeSpec& node = read.scenario.cluster.node;
  EXPECT_EQ(node.gpu.name, "H100-SXM5-80GB");
  EXPECT_EQ(node.gpus, 2);
  EXPECT_DOUBLE_EQ(node.gpu_bandwidth.gigabytes_per_second(), 18 * 25);
  EXPECT_DOUBLE_EQ(node.pcie_bandwidth.gigabytes_per_second(), 48);
  EXPECT_EQ(node.nics, 2);
  EXPECT_DOUBLE_EQ(node.nic_bandwidth.gigabytes_per_second(), 25);
}

TEST(NcclTopology, SaysWhatItLeavesOut) {
  const ImportedTopology imported = Imported(kFormat, SampleText("nvswitch_dump.xml"));

  ASSERT_EQ(imported.notes.size(), 1U);
  EXPECT_EQ(imported.notes[0], "t:29:9: note: eno1: left out: slower than the fastest");
  EXPECT_TRUE(imported.warnings.empty());
}

TEST(NcclTopology, AsAGraphKeepsWhatHangsWhere) {
  const std::string yaml =
      Imported(kFormat, SampleText("nvswitch_dump.xml"), NodeForm::kGraph).yaml;

  EXPECT_EQ(LinesWith("{from", yaml),
            "- {from: pcie0, to: cpu0, bandwidth: 48 GB/s, kind: pcie}\n"
            "- {from: gpu0, to: pcie0, bandwidth: 48 GB/s, kind: pcie}\n"
            "- {from: adapter0, to: pcie0, bandwidth: 48 GB/s, kind: pcie}\n"
            "- {from: nic0, to: adapter0, bandwidth: 48 GB/s, kind: pcie}\n"
            "- {from: nic1, to: adapter0, bandwidth: 48 GB/s, kind: pcie}\n"
            "- {from: pcie1, to: cpu1, bandwidth: 48 GB/s, kind: pcie}\n"
            "- {from: gpu1, to: pcie1, bandwidth: 48 GB/s, kind: pcie}\n"
            "- {from: gpu0, to: nvswitch0, bandwidth: 370.8 GB/s, kind: nvlink}\n"
            "- {from: gpu1, to: nvswitch0, bandwidth: 370.8 GB/s, kind: nvlink}\n"
            "- {from: cpu0, to: cpu1, bandwidth: 22 GB/s, kind: inter_socket}\n");
}

// 3 GPUs, links as in a part of DGX-1V: 2 NVLinks, 1, and none; 20 GB/s each by NCCL.
TEST(NcclTopology, CountsTheLinksOfEachPairOnce) {
  const auto link = [](const std::string& target, int count) {
    return "<nvlink target=\"" + target + "\" count=\"" + std::to_string(count) +
           "\" tclass=\"0x030200\"/>";
  };
  const std::string a = "0000:06:00.0";
  const std::string b = "0000:0A:00.0";
  const std::string c = "0000:0b:00.0";
  const std::string text =
      System(Gpu(a, "<gpu dev=\"0\" sm=\"70\">" + link("0000:0a:00.0", 2) + link(c, 1) + "</gpu>") +
             Gpu(b, "<gpu dev=\"1\" sm=\"70\">" + link(a, 2) + "</gpu>") +
             Gpu(c, "<gpu dev=\"2\" sm=\"70\">" + link(a, 1) + "</gpu>"));

  EXPECT_EQ(LinesWith("nvlink", Imported(kFormat, text).yaml),
            "- {from: gpu0, to: gpu1, bandwidth: 40 GB/s, kind: nvlink}\n"
            "- {from: gpu0, to: gpu2, bandwidth: 20 GB/s, kind: nvlink}\n");
}

TEST(NcclTopology, OrdersGpusByRank) {
  const std::string text = System(Gpu("0000:06:00.0", "<gpu dev=\"0\" sm=\"86\" rank=\"1\"/>") +
                                  Gpu("0000:07:00.0", "<gpu dev=\"1\" sm=\"86\" rank=\"0\"/>"));

  EXPECT_EQ(LinesWith("# gpu", Imported(kFormat, text).yaml),
            "# gpu0: dev 1, 0000:07:00.0\n# gpu1: dev 0, 0000:06:00.0\n");
}

TEST(NcclTopology, OfPciDevicesAloneTakesTheUsualNodeOfTheGpuAndMarksIt) {
  const std::string text = System(Gpu("0000:06:00.0", "") + Gpu("0000:07:00.0", "") +
                                  "<pci busid=\"0000:08:00.0\" class=\"0x020700\"/>");

  EXPECT_EQ(
      Imported(kFormat, text, NodeForm::kNamedIfPossible, "h200").yaml,
      "cluster:\n"
      "  nodes: 1                         # not in the file\n"
      "  node:\n"
      "    gpu: h200                      # --gpu\n"
      "    gpus: 2\n"
      "    in_node: nvswitch              # not in the file: NVLinks; these are the default of "
      "h200\n"
      "    gpu_bandwidth: 450 GB/s        # 18 links; not in the file: their 25 GB/s, line rate "
      "of h200\n"
      "    gpu_bandwidth_fraction: 0.824  # not in the file: 20.6 of 25 GB/s, as NCCL takes a "
      "link\n"
      "    gpu_latency: 3.4 us            # not in the file: NCCL's ring step over NVLink, "
      "Simple\n"
      "    pcie_bandwidth: 24 GB/s        # PCIe 4.0 x16\n"
      "    nics: 1\n"
      "    nic_bandwidth: 100 Gbps        # not in the file: the NICs' line rate\n");
}

TEST(NcclTopology, ReadsXgmiOfRccl) {
  const std::string text =
      System(Gpu("0000:c1:00.0",
                 "<gpu dev=\"0\" sm=\"104\" gcn=\"910\"><xgmi target=\"0000:c5:00.0\" "
                 "count=\"4\" tclass=\"0x038000\"/></gpu>") +
             Gpu("0000:c5:00.0",
                 "<gpu dev=\"1\" sm=\"104\" gcn=\"910\"><xgmi target=\"0000:c1:00.0\" "
                 "count=\"4\" tclass=\"0x038000\"/></gpu>"));

  const std::string yaml = Imported(kFormat, text, NodeForm::kGraph).yaml;

  EXPECT_EQ(LinesWith("nvlink", yaml),
            "- {from: gpu0, to: gpu1, bandwidth: 144 GB/s, kind: nvlink}\n");
  EXPECT_EQ(LinesWith("gpu: ", yaml), "gpu: mi250x_gcd\n");
}

TEST(NcclTopology, ReadsChipToChipLinksInMegabytes) {
  const std::string text = System(
      Gpu("0009:01:00.0", "<gpu dev=\"0\" sm=\"90\"><c2c bw=\"44712\" count=\"10\"/></gpu>"));

  EXPECT_EQ(LinesWith("nvlink", Imported(kFormat, text).yaml),
            "- {from: gpu0, to: cpu0, bandwidth: 447.12 GB/s, kind: nvlink}\n");
}

TEST(NcclTopology, WarnsOfLinksThatLeadNowhere) {
  const std::string text =
      System(Gpu("0000:06:00.0",
                 "<gpu dev=\"0\" sm=\"80\">\n"
                 "<nvlink target=\"0000:06:00.0\" count=\"12\" tclass=\"0x030200\"/>\n"
                 "<nvlink target=\"0000:99:00.0\" count=\"12\" tclass=\"0x030200\"/></gpu>"));

  const ImportedTopology imported = Imported(kFormat, text);

  EXPECT_EQ(imported.warnings,
            (std::vector<std::string>{
                "t:3:1: warning: <nvlink>: left out: its target 0000:06:00.0 is the GPU itself",
                "t:4:1: warning: <nvlink>: left out: its target 0000:99:00.0 is no GPU of the "
                "file"}));
}

TEST(NcclTopology, WarnsOfASpeedThatNoNicHas) {
  const std::string text = System(Gpu("0000:06:00.0", "<gpu dev=\"0\" sm=\"80\"/>") +
                                  "<nic>\n<net name=\"cxi0\" speed=\"200000000\"/></nic>");

  const ImportedTopology imported = Imported(kFormat, text);

  ASSERT_EQ(imported.warnings.size(), 1U);
  EXPECT_EQ(imported.warnings[0],
            "t:4:1: warning: cxi0: speed 200000000 is in Mb/s and above that of any NIC; taken as "
            "Kb/s");
  EXPECT_EQ(LinesWith("nic_bandwidth", imported.yaml), "nic_bandwidth: 200 Gbps\n");
}

TEST(NcclTopology, TakesNcclsDefaultForAnUnknownSpeed) {
  const std::string text = System(
      "<pci busid=\"0001:00:00.0\" class=\"0x030200\" link_speed=\"\" link_width=\"0\">"
      "<gpu dev=\"0\" sm=\"80\"/></pci>");

  EXPECT_EQ(LinesWith("pcie_bandwidth", Imported(kFormat, text).yaml), "pcie_bandwidth: 12 GB/s\n");
}

TEST(NcclTopology, RefusesAFileWithoutGpus) {
  EXPECT_EQ(ImportError(kFormat, "<system version=\"1\"/>"),
            "t:1:1: error: expected a GPU, a <pci> of class 0x03 or with a <gpu>, got none\n"
            "  <system version=\"1\"/>\n"
            "  ^\n");
  EXPECT_EQ(ImportError(kFormat, "<system><cpu><pci busid=\"0000:00:16.0\"/></cpu></system>"),
            "t:1:1: error: expected a GPU, a <pci> of class 0x03 or with a <gpu>; the file has PCI "
            "devices without class, such as 0000:00:16.0\n"
            "  <system><cpu><pci busid=\"0000:00:16.0\"/></cpu></system>\n"
            "  ^\n");
  EXPECT_EQ(ImportError(kFormat, "<graphs/>"),
            "t:1:1: error: expected <system>, got <graphs>\n"
            "  <graphs/>\n"
            "  ^\n");
}

TEST(NcclTopology, SaysWhereAValueIsWrong) {
  EXPECT_EQ(ImportError(kFormat, System("<pci busid=\"x\" class=\"0x030200\"/>")),
            "t:2:1: error: <pci>: busid: expected one such as \"0000:1a:00.0\", got \"x\"\n"
            "  <pci busid=\"x\" class=\"0x030200\"/></cpu></system>\n"
            "  ^\n");
  EXPECT_EQ(
      ImportError(kFormat, System("<pci busid=\"0:1\" class=\"0x030200\" link_speed=\"9\"/>")),
      "t:2:1: error: <pci>: link_speed: expected a rate such as \"16 GT/s\" or \"32.0 GT/s "
      "PCIe\", got \"9\"\n"
      "  <pci busid=\"0:1\" class=\"0x030200\" link_speed=\"9\"/></cpu></system>\n"
      "  ^\n");
  EXPECT_EQ(ImportError(kFormat, System(Gpu("0:1",
                                            "<gpu sm=\"80\"><nvlink tclass=\"0x068000\" "
                                            "count=\"-1\"/></gpu>")))
                .substr(0, 81),
            "t:2:85: error: <nvlink>: count: expected a whole number from 1 to 1024, got \"-1\"\n");
  EXPECT_EQ(
      ImportError(kFormat, System(Gpu("0:1", "") + Gpu("0:1", ""))),
      "t:3:1: error: 0:1: a second GPU of this busid; the first is in line 2\n"
      "  <pci busid=\"0:1\" class=\"0x030200\" link_speed=\"16 GT/s\" link_width=\"16\"></pci>\n"
      "  ^\n");
}

TEST(NcclTopology, KeepsNoTextThatCouldEndAComment) {
  const std::string text = System(Gpu("0000:06:00.0", "<gpu dev=\"0\" sm=\"80\"/>") +
                                  "<nic><net name=\"a&#10;b: c\" speed=\"100000\"/></nic>");

  EXPECT_EQ(LinesWith("# nic", Imported(kFormat, text).yaml), "# nic0: \"a?b: c\"\n");
}

TEST(NcclTopology, NeverCrashesOnATruncatedFile) {
  const std::string text = SampleText("nvswitch_dump.xml");
  for (std::size_t size = 0; size + 1 < text.size(); size += 7) {
    EXPECT_NE(ImportError(kFormat, text.substr(0, size)), "") << size;
  }
}

}  // namespace
}  // namespace zerosim
