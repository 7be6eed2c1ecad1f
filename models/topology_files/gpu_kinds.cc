#include "models/topology_files/gpu_kinds.h"

#include <algorithm>

namespace zerosim {
namespace {

using enum UsualNode;

// Of those that a look-up cannot tell apart the first one counts.
constexpr CatalogGpu kKinds[] = {
    {"h100_sxm5_80gb", "10de:2330", 90, 32, 18, 25, 20.6, kNvSwitch},
    {"a100_sxm4_80gb", "10de:20b2", 80, 16, 12, 25, 20, kNvSwitch},
    {"v100_sxm2_32gb", "10de:1db5", 70, 8, 6, 25, 20, kHybridCubeMesh},
    {"b200", "10de:2901", 100, 32, 18, 50, 40.1, kNvSwitch},
    {"gb200", "10de:2941", 100, 32, 18, 50, 40.1, kNvSwitch},
    {"a100_sxm4_40gb", "10de:20b0", 80, 16, 12, 25, 20, kNvSwitch},
    {"a100_pcie_80gb", "10de:20b5", 80, 16, 12, 25, 20, kPcie},
    {"h200", "10de:2335", 90, 32, 18, 25, 20.6, kNvSwitch},
    {"h20", "10de:2329", 90, 32, 18, 25, 20.6, kNvSwitch},
    {"h800_sxm5_80gb", "10de:2324", 90, 32, 8, 25, 20.6, kNvSwitch},
    {"h100_pcie_80gb", "10de:2331", 90, 32, 12, 25, 20.6, kPcie},
    {"v100_sxm2_16gb", "10de:1db1", 70, 8, 6, 25, 20, kHybridCubeMesh},
    {"v100_sxm3_32gb", "10de:1db8", 70, 8, 6, 25, 20, kNvSwitch},
    {"a10g", "10de:2237", 86, 16, 0, 0, 0, kPcie},
    {"a6000", "10de:2230", 86, 16, 4, 14.0625, 12, kPcie},
    {"rtx_3090", "10de:2204", 86, 16, 4, 14.0625, 12, kPcie},
    {"l40s", "10de:26b9", 89, 16, 0, 0, 0, kPcie},
    {"l4", "10de:27b8", 89, 16, 0, 0, 0, kPcie},
    {"rtx_4090", "10de:2684", 89, 16, 0, 0, 0, kPcie},
    {"rtx_5090", "10de:2b85", 120, 32, 0, 0, 0, kPcie},
    {"t4", "10de:1eb8", 75, 8, 0, 0, 0, kPcie},
    {"mi300x", "1002:74a1", 0, 32, 7, 64, 48, kMesh},
    {"mi250x_gcd", "1002:740c", 0, 16, 7, 50, 36, kMesh},
};

template <typename Condition>
const CatalogGpu* First(Condition condition) {
  const auto* found = std::ranges::find_if(kKinds, condition);
  return found == std::end(kKinds) ? nullptr : found;
}

bool IsMi300(std::string_view gfx) {
  return gfx.ends_with("940") || gfx.ends_with("941") || gfx.ends_with("942") ||
         gfx.ends_with("950");
}

bool IsMi200(std::string_view gfx) {
  return gfx.ends_with("910") || gfx.ends_with("90a");
}

}  // namespace

const CatalogGpu* GpuNamed(std::string_view name) {
  return First([&](const CatalogGpu& kind) { return kind.name == name; });
}

const CatalogGpu* GpuOfPciDevice(std::string_view vendor_and_device) {
  return First([&](const CatalogGpu& kind) { return kind.pci == vendor_and_device; });
}

const CatalogGpu* GpuOfComputeCapability(int capability) {
  return First([&](const CatalogGpu& kind) {
    return kind.compute_capability != 0 && kind.compute_capability == capability;
  });
}

const CatalogGpu* GpuOfGfx(std::string_view gfx) {
  if (IsMi300(gfx)) return GpuNamed("mi300x");
  return IsMi200(gfx) ? GpuNamed("mi250x_gcd") : nullptr;
}

const CatalogGpu* GpuOfLinks(int links) {
  return First([&](const CatalogGpu& kind) {
    return links > 0 && kind.compute_capability != 0 && kind.links == links;
  });
}

const CatalogGpu* GpuOfTransferRate(double transfer_rate) {
  return First([&](const CatalogGpu& kind) { return kind.transfer_rate == transfer_rate; });
}

std::vector<std::string> GpuNames() {
  std::vector<std::string> names;
  for (const CatalogGpu& kind : kKinds) names.emplace_back(kind.name);
  std::ranges::sort(names);
  return names;
}

double XgmiRate(std::string_view gfx) {
  if (IsMi300(gfx)) return 48;
  return IsMi200(gfx) ? 36 : 24;
}

}  // namespace zerosim
