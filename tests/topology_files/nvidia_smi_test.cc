#include <string>

#include <gtest/gtest.h>

#include "models/topology_files/nvidia_smi_matrix.h"
#include "tests/topology_files/imported.h"

namespace zerosim {
namespace {

constexpr TopologyFormat kFormat = TopologyFormat::kNvidiaSmi;

SmiMatrix Matrix(const std::string& text) {
  Problems problems;
  const auto matrix = ReadSmiMatrix(text, "t", &problems);
  problems.ThrowIfAny();
  return matrix.value();
}

// GPU0 and NIC0 share a switch, GPU1 hangs on a second one of it, GPU2 on a host bridge of its own
// of the same NUMA node, the other NIC on another NUMA node.
TEST(NvidiaSmi, MakesATreeOfTheBridges) {
  const ImportedTopology imported = Imported(kFormat, SampleText("mesh_2nics.txt"));

  EXPECT_EQ(LinesWith("{from", imported.yaml),
            "- {from: pcie0, to: cpu0, bandwidth: 12 GB/s, kind: pcie}\n"
            "- {from: pcie1, to: pcie0, bandwidth: 12 GB/s, kind: pcie}\n"
            "- {from: gpu0, to: pcie1, bandwidth: 12 GB/s, kind: pcie}\n"
            "- {from: nic0, to: pcie1, bandwidth: 12 GB/s, kind: pcie}\n"
            "- {from: gpu1, to: pcie0, bandwidth: 12 GB/s, kind: pcie}\n"
            "- {from: gpu2, to: cpu0, bandwidth: 12 GB/s, kind: pcie}\n"
            "- {from: gpu0, to: gpu1, bandwidth: 80 GB/s, kind: nvlink}\n"
            "- {from: gpu0, to: gpu2, bandwidth: 40 GB/s, kind: nvlink}\n");
  EXPECT_EQ(imported.notes,
            (std::vector<std::string>{
                "t: note: left out, as they share no PCIe switch with a GPU: NIC1"}));
  EXPECT_EQ(LinesWith("# nic", imported.yaml), "# nic0: NIC0, mlx5_0\n");
}

constexpr const char* kAllEqual =
    "     GPU0 GPU1 GPU2 GPU3 CPU Affinity\n"
    "GPU0 X NV12 NV12 NV12 0-15\n"
    "GPU1 NV12 X NV12 NV12 0-15\n"
    "GPU2 NV12 NV12 X NV12 16-31\n"
    "GPU3 NV12 NV12 NV12 X 16-31\n";

// 12 links to each of 3 peers are more than a GPU has.
TEST(NvidiaSmi, TellsSwitchesFromAMesh) {
  const std::string switched = Imported(kFormat, kAllEqual).yaml;
  std::string text = kAllEqual;
  for (std::size_t at = 0; (at = text.find("NV12", at)) != std::string::npos;) {
    text.replace(at, 4, "NV4");
  }
  const std::string mesh = Imported(kFormat, text).yaml;

  EXPECT_EQ(LinesWith("gpu_bandwidth: ", switched), "gpu_bandwidth: 300 GB/s\n");
  EXPECT_EQ(LinesWith("in_node", switched), "in_node: nvswitch\n");
  EXPECT_EQ(LinesWith("in_node", mesh), "in_node: graph\n");
  EXPECT_EQ(LinesWith("gpu2, to: gpu3", mesh),
            "- {from: gpu2, to: gpu3, bandwidth: 80 GB/s, kind: nvlink}\n");
}

TEST(NvidiaSmi, PutsGpusOfTheSameCpusBelowOne) {
  const std::string yaml = Imported(kFormat, kAllEqual, NodeForm::kGraph).yaml;

  EXPECT_EQ(LinesWith("to: cpu", yaml),
            "- {from: gpu0, to: cpu0, bandwidth: 24 GB/s, kind: pcie}\n"
            "- {from: gpu1, to: cpu0, bandwidth: 24 GB/s, kind: pcie}\n"
            "- {from: gpu2, to: cpu1, bandwidth: 24 GB/s, kind: pcie}\n"
            "- {from: gpu3, to: cpu1, bandwidth: 24 GB/s, kind: pcie}\n"
            "- {from: cpu0, to: cpu1, bandwidth: 10 GB/s, kind: inter_socket}\n");
}

TEST(NvidiaSmi, ReadsAMatrixHoweverItWasPasted) {
  const std::string pasted[] = {
      "\x1B[4m\tGPU0\tGPU1\tmlx5_0\tCPU Affinity\x1B[0m\nGPU0\t X \tPIX\tSOC\t0-7\n"
      "GPU1\tPIX\t X \tSOC\t0-7\nmlx5_0\tSOC\tSOC\t X \n",
      "```\r\n  GPU0  GPU1  mlx5_0  CPU Affinity\r\nGPU0 X PIX SYS\r\nGPU1 PIX X SYS 0-7 0\r\n"
      "mlx5_0 SYS SYS X\r\n```\r\n",
      "> user@host:~$ nvidia-smi topo -m\n> | | GPU0 | GPU1 | mlx5_0 | CPU Affinity |\n"
      "> | GPU0 | X | PIX | SYS | 0 |\n> | GPU1 | PIX | X | SYS | 0 |\n> | mlx5_0 | SYS | SYS | X "
      "|",
      "GPU0 of this machine is slow:\n\xC2\xA0GPU0 GPU1\nmlx5_0 CPU\nAffinity\n"
      "GPU0 X\xC2\xA0PIX\nSYS 0-7\nGPU1 PIX X\n SYS 0-7\nmlx5_0 SYS\nSYS X",
  };
  for (const std::string& text : pasted) {
    const SmiMatrix matrix = Matrix(text);

    ASSERT_EQ(matrix.devices.size(), 3U) << text;
    EXPECT_EQ(matrix.devices[2].name, "mlx5_0");
    EXPECT_FALSE(matrix.devices[2].is_gpu);
    EXPECT_EQ(matrix.cells[0][1].path, PciePath::kPix);
    EXPECT_EQ(matrix.cells[2][1].path, PciePath::kSys);
  }
}

TEST(NvidiaSmi, ReadsTheFirstOfTwoMatricesAndWarns) {
  const std::string one = "GPU0 GPU1\nGPU0 X NV2\nGPU1 NV2 X\n";
  const ImportedTopology imported =
      Imported(kFormat, one + "without NVLink:\nGPU0 GPU1\nGPU0 X PHB\nGPU1 PHB X\n");

  EXPECT_EQ(
      imported.warnings,
      (std::vector<std::string>{"t:5:1: warning: a second matrix starts here, which is not read"}));
  EXPECT_EQ(LinesWith("in_node", imported.yaml), "in_node: nvswitch\n");
}

TEST(NvidiaSmi, SaysWhichCellIsWrong) {
  EXPECT_EQ(ImportError(kFormat, "\tGPU0\tNIC0\nGPU0\tX\tPXX\nNIC0\tPIX\tX\n"),
            "t:2:8: error: row GPU0, column NIC0: expected NV#, PIX, PXB, PHB, NODE, SYS or SOC, "
            "got \"PXX\"\n"
            "  GPU0 X PXX\n"
            "         ^\n");
  EXPECT_EQ(ImportError(kFormat, "GPU0 GPU1\nGPU0 X PIX\nGPU1 PIX NV0\n"),
            "t:3:10: error: row GPU1, column GPU1: expected X, got \"NV0\"\n"
            "  GPU1 PIX NV0\n"
            "           ^\n");
  EXPECT_EQ(ImportError(kFormat, "GPU0 GPU1\nGPU0 X PIX\nGPU1 SYS X\n"),
            "t:3:6: error: row GPU1, column GPU0: SYS, but the other way round PIX\n"
            "  GPU1 SYS X\n"
            "       ^\n");
}

TEST(NvidiaSmi, SaysWhatIsMissing) {
  EXPECT_EQ(ImportError(kFormat, "GPU0 GPU1\nGPU0 X PIX\n"),
            "t: error: expected the row GPU1, got the end of the file\n");
  EXPECT_EQ(ImportError(kFormat, "GPU0 GPU1 GPU2\nGPU0 X PIX\nGPU1 PIX X PIX\n"),
            "t: error: expected the row GPU2, got the end of the file\n"
            "t:2:1: error: the row GPU0 has 2 cells; expected 3\n"
            "  GPU0 X PIX\n"
            "  ^\n");
  EXPECT_EQ(ImportError(kFormat, "no matrix\n"),
            "t:1:1: error: expected the output of nvidia-smi topo -m: a line of columns that "
            "starts with GPU0 and a row GPU0 with X, got none\n"
            "  no matrix\n"
            "  ^\n");
  EXPECT_EQ(ImportError(kFormat, "GPU0 GPU0\nGPU0 X PIX\n").substr(0, 50),
            "t:1:6: error: the column GPU0 is given twice\n  GPU");
}

TEST(NvidiaSmi, NeverCrashesOnATruncatedFile) {
  const std::string text = SampleText("mesh_2nics.txt");
  const std::size_t end = text.find("\n\nLegend");
  for (std::size_t size = 0; size < end; ++size) {
    EXPECT_NE(ImportError(kFormat, text.substr(0, size)), "") << size;
  }
}

}  // namespace
}  // namespace zerosim
