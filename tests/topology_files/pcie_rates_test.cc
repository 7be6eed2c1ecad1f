#include "models/topology_files/pcie_rates.h"

#include <gtest/gtest.h>

#include "models/scenario/files.h"
#include "models/topology_files/gpu_kinds.h"

namespace zerosim {
namespace {

TEST(PcieRates, ReadsWhatLinuxWrites) {
  EXPECT_EQ(ParseTransferRate("2.5 GT/s"), 2.5);
  EXPECT_EQ(ParseTransferRate("8 GT/s"), 8);
  EXPECT_EQ(ParseTransferRate("8.0 GT/s PCIe"), 8);
  EXPECT_EQ(ParseTransferRate("64.0 GT/s PCIe"), 64);
  for (const char* bad :
       {"", "7 GT/s", "8 Gb/s", "GT/s", "8GT/s", "-8 GT/s", "8 GT/s PCI", "nan"}) {
    EXPECT_EQ(ParseTransferRate(bad), std::nullopt) << bad;
  }
}

// PCI-SIG's rates of x16, a direction, in GB/s.
TEST(PcieRates, HaveTheLineCodeOfTheGeneration) {
  EXPECT_NEAR(PcieLineRate(2.5, 16).gigabytes_per_second(), 4.0, 1e-9);
  EXPECT_NEAR(PcieLineRate(5, 16).gigabytes_per_second(), 8.0, 1e-9);
  EXPECT_NEAR(PcieLineRate(8, 16).gigabytes_per_second(), 15.754, 1e-3);
  EXPECT_NEAR(PcieLineRate(16, 16).gigabytes_per_second(), 31.508, 1e-3);
  EXPECT_NEAR(PcieLineRate(32, 16).gigabytes_per_second(), 63.015, 1e-3);
  EXPECT_NEAR(PcieLineRate(64, 16).gigabytes_per_second(), 121.0, 1e-9);
}

// NCCL's kvDictPciGen, in units of 0.1 Gb/s a lane: 15, 30, 60, 120, 240, 480.
TEST(PcieRates, AreThoseOfNccl) {
  EXPECT_NEAR(PcieNcclRate(2.5, 1).gigabytes_per_second(), 1.5 / 8, 1e-12);
  EXPECT_NEAR(PcieNcclRate(5, 4).gigabytes_per_second(), 4 * 3.0 / 8, 1e-12);
  EXPECT_NEAR(PcieNcclRate(8, 16).gigabytes_per_second(), 12, 1e-12);
  EXPECT_NEAR(PcieNcclRate(16, 16).gigabytes_per_second(), 24, 1e-12);
  EXPECT_NEAR(PcieNcclRate(32, 8).gigabytes_per_second(), 24, 1e-12);
  EXPECT_NEAR(PcieNcclRate(64, 16).gigabytes_per_second(), 96, 1e-12);
  EXPECT_EQ(PcieName(5, 4), "PCIe 2.0 x4");
}

TEST(PcieRates, StayBelowTheLine) {
  for (const double rate : {2.5, 5.0, 8.0, 16.0, 32.0, 64.0}) {
    EXPECT_LT(PcieNcclRate(rate, 16), PcieLineRate(rate, 16)) << rate;
  }
}

TEST(NcclSocketRate, FollowsTheModel) {
  EXPECT_EQ(NcclSocketRate("x86_64", "GenuineIntel", 79)->gigabytes_per_second, 6);
  EXPECT_EQ(NcclSocketRate("x86_64", "GenuineIntel", 85)->gigabytes_per_second, 10);
  EXPECT_EQ(NcclSocketRate("x86_64", "GenuineIntel", 143)->gigabytes_per_second, 22);
  EXPECT_EQ(NcclSocketRate("x86_64", "GenuineIntel", 207)->gigabytes_per_second, 40);
  EXPECT_EQ(NcclSocketRate("x86_64", "AuthenticAMD", 49)->gigabytes_per_second, 16);
  EXPECT_EQ(NcclSocketRate("x86_64", "?", 0), std::nullopt);
}

TEST(GpuKinds, AreAllInTheCatalog) {
  for (const std::string& name : GpuNames()) {
    EXPECT_TRUE(DiskFiles().Exists(ZEROSIM_SOURCE_DIR "/scenarios/hardware/gpus/" + name + ".yaml"))
        << name;
    const CatalogGpu& kind = *GpuNamed(name);
    EXPECT_EQ(GpuOfPciDevice(kind.pci), &kind);
    EXPECT_LE(kind.nccl_rate, kind.line_rate) << name;
  }
}

TEST(GpuKinds, AreFoundByWhatFilesSay) {
  EXPECT_EQ(GpuOfComputeCapability(90)->name, "h100_sxm5_80gb");
  EXPECT_EQ(GpuOfComputeCapability(0), nullptr);
  EXPECT_EQ(GpuOfGfx("gfx90a")->name, "mi250x_gcd");
  EXPECT_EQ(GpuOfGfx("942")->name, "mi300x");
  EXPECT_EQ(GpuOfGfx("906"), nullptr);
  EXPECT_EQ(GpuOfLinks(12)->name, "a100_sxm4_80gb");
  EXPECT_EQ(GpuOfLinks(7), nullptr);
  EXPECT_EQ(XgmiRate("906"), 24);
}

}  // namespace
}  // namespace zerosim
