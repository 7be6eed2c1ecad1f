#include "models/topology_files/nccl_topology.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "models/core/units_text.h"
#include "models/topology_files/gpu_kinds.h"
#include "models/topology_files/nccl_devices.h"
#include "models/topology_files/nccl_gpu_links.h"
#include "models/topology_files/node_draft.h"
#include "models/topology_files/pcie_rates.h"
#include "models/topology_files/source_lines.h"
#include "models/topology_files/xml_document.h"

namespace zerosim {
namespace {

constexpr int kMostModel = 1 << 20;
constexpr double kUnknownSocketRate = 10;  // NCCL's
constexpr std::size_t kMostCpus = 64;      // each pair of them has a link
constexpr std::size_t kMostGpus = 1024;

class NcclReader {
 public:
  NcclReader(const XmlElement& system, Problems* problems) : system_(system), problems_(problems) {}

  std::optional<NodeTopology> Read(const CatalogGpu* given) {
    found_ = ReadNcclDevices(system_, problems_);
    if (found_.gpus.empty() && !problems_->has_errors()) {
      problems_->Add(system_.where,
                     found_.unknown == nullptr
                         ? "expected a GPU, a <pci> of class 0x03 or with a <gpu>, got none"
                         : fmt::format("expected a GPU, a <pci> of class 0x03 or with a <gpu>; the "
                                       "file has PCI devices without class, such as {}",
                                       BusOf(*found_.unknown)));
    }
    if (found_.gpus.size() > kMostGpus || found_.cpus.size() > kMostCpus) {
      problems_->Add(system_.where,
                     fmt::format("{} GPUs and {} CPUs; expected at most {} and {}",
                                 found_.gpus.size(), found_.cpus.size(), kMostGpus, kMostCpus));
    }
    if (problems_->has_errors()) return std::nullopt;
    NodeTopology node;
    ChooseGpu(given, &node);
    KeepFastestNets(&node);
    AddGpuLinks(found_.gpus, &found_.draft, &node, problems_);
    LinkSockets(&node);
    DescribePcie(&node);
    std::map<std::size_t, int> rank;
    for (const NcclGpu& gpu : found_.gpus) rank[gpu.device] = gpu.rank;
    found_.draft.Finish(rank, &node);
    if (problems_->has_errors()) return std::nullopt;
    return node;
  }

 private:
  void ChooseGpu(const CatalogGpu* given, NodeTopology* node) {
    node->gpu = GpuOf(found_.gpus.front(), given, found_.slowest_transfer);
    for (const NcclGpu& gpu : found_.gpus) {
      const CatalogGpu* other = GpuOf(gpu, given, found_.slowest_transfer).value;
      if (other == node->gpu.value) continue;
      problems_->Warn(gpu.pci->where,
                      fmt::format("{}: this GPU is {}, the first one {}, which is "
                                  "taken for all",
                                  BusOf(*gpu.pci), other->name, node->gpu.value->name));
      break;
    }
  }

  // NCCL's search uses the fastest nets that it finds.
  void KeepFastestNets(NodeTopology* node) {
    int fastest = 0;
    for (const NcclNet& net : found_.nets) fastest = std::max(fastest, net.megabits);
    for (const NcclNet& net : found_.nets) {
      if (net.megabits == fastest) continue;
      problems_->Note(net.element->where,
                      fmt::format("{}: left out: slower than the fastest", net.name));
      found_.draft.Drop(net.device);
    }
    if (fastest == 0) return;
    node->nic_bandwidth = {BytesPerSecond::GigabitsPerSecond(fastest / 1e3),
                           fmt::format("speed {} Mb/s", fastest)};
  }

  // As NCCL, which links each NUMA node with each other.
  void LinkSockets(NodeTopology* node) {
    std::vector<NcclCpu> used;
    for (const NcclCpu& cpu : found_.cpus) {
      if (found_.draft.HasLinks(cpu.device)) {
        used.push_back(cpu);
      } else {
        found_.draft.Drop(cpu.device);
      }
    }
    if (used.size() < 2) return;
    const XmlElement& first = *used.front().element;
    const auto rate =
        NcclSocketRate(first.Find("arch").value_or(""), first.Find("vendor").value_or(""),
                       IntegerAttribute(first, "modelid", -1, kMostModel, problems_).value_or(0));
    const double gigabytes = rate ? rate->gigabytes_per_second : kUnknownSocketRate;
    node->defaults.push_back(
        rate ? fmt::format("the rate between NUMA nodes; {:g} GB/s is NCCL's for {}", gigabytes,
                           rate->of)
             : fmt::format("the CPUs; {:g} GB/s between NUMA nodes is NCCL's for Intel Skylake",
                           gigabytes));
    for (std::size_t i = 0; i < used.size(); ++i) {
      for (std::size_t j = i + 1; j < used.size(); ++j) {
        found_.draft.AddLink(used[i].device, used[j].device, CableKind::kInterSocket,
                             BytesPerSecond::GigabytesPerSecond(gigabytes), "");
      }
    }
  }

  void DescribePcie(NodeTopology* node) {
    const auto slowest = std::ranges::min_element(
        found_.gpus, {}, [](const NcclGpu& gpu) { return gpu.pcie.value; });
    node->pcie_bandwidth = slowest->pcie;
    if (slowest->pcie.source.empty()) {
      node->pcie_bandwidth.source = "not in the file: PCIe; NCCL's default, PCIe 3.0 x16";
    }
    if (found_.unknown_pcie) {
      node->defaults.insert(
          node->defaults.begin(),
          "the speed or width of some PCIe links; 12 GB/s is NCCL's default, PCIe "
          "3.0 x16");
    }
    std::map<int, int> gpus_of;  // by the link to the host
    for (const NcclGpu& gpu : found_.gpus) ++gpus_of[gpu.host_link];
    const int first = gpus_of.begin()->second;
    const bool equal =
        std::ranges::all_of(gpus_of, [&](auto& entry) { return entry.second == first; });
    if (equal && first > 1) {
      node->gpus_per_host_link =
          Sourced<int>{first, fmt::format("{} GPUs under each PCI device of a CPU", first)};
    }
  }

  const XmlElement& system_;
  Problems* const problems_;
  NcclDevices found_;
};

}  // namespace

std::optional<NodeTopology> ReadNcclTopology(const std::string& text, const std::string& file,
                                             const CatalogGpu* gpu, Problems* problems) {
  const std::optional<XmlElement> system = ParseXml(text, file, "system", problems);
  if (!system) return std::nullopt;
  return NcclReader(*system, problems).Read(gpu);
}

}  // namespace zerosim
