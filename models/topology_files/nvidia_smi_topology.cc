#include "models/topology_files/nvidia_smi_topology.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "models/topology_files/gpu_kinds.h"
#include "models/topology_files/node_draft.h"
#include "models/topology_files/nvidia_smi_matrix.h"
#include "models/topology_files/pcie_rates.h"
#include "models/topology_files/pcie_tree.h"
#include "models/topology_files/source_lines.h"

namespace zerosim {
namespace {

constexpr int kMostLinksOfAGpu = 18;  // of Hopper and Blackwell; more to all peers need switches
constexpr double kSocketRate = 10;    // NCCL's for Intel Skylake, GB/s
constexpr int kLanes = 16;

// NVLinks as they join the GPUs.
struct NvLinks {
  bool all_equal = false;  // each pair has `of_pair` of them
  int of_pair = 0;         // of the first pair that has some; 0: there are none
  int most = 0;            // of one GPU to all of its peers
};

NvLinks NvLinksOf(const SmiMatrix& matrix) {
  NvLinks links{.all_equal = true};
  for (std::size_t i = 0; i < matrix.cells.size(); ++i) {
    if (!matrix.devices[i].is_gpu) continue;
    int sum = 0;
    for (std::size_t j = 0; j < matrix.cells.size(); ++j) {
      const int count = matrix.cells[i][j].nvlinks;
      if (i == j || !matrix.devices[j].is_gpu) continue;
      if (links.of_pair == 0) links.of_pair = count;
      links.all_equal = links.all_equal && count == links.of_pair && count > 0;
      sum += count;
    }
    links.most = std::max(links.most, sum);
  }
  links.all_equal = links.all_equal && links.of_pair > 0;
  return links;
}

bool IsSwitched(const NvLinks& links, std::size_t gpus, const CatalogGpu* given) {
  if (!links.all_equal) return false;
  return gpus == 2 || links.most > kMostLinksOfAGpu ||
         (given != nullptr && given->links < links.most);
}

Sourced<const CatalogGpu*> ChooseGpu(const CatalogGpu* given, const NvLinks& links, bool switched) {
  if (given != nullptr) return {given, "--gpu"};
  if (links.most == 0) {
    return {GpuNamed("a100_pcie_80gb"), "not in the file: the GPU; --gpu says it"};
  }
  const int used = switched ? links.of_pair : links.most;
  const CatalogGpu* kind = GpuOfLinks(used);
  return {kind != nullptr ? kind : GpuNamed("v100_sxm2_32gb"),
          fmt::format("not in the file: the GPU, taken by its {} NVLinks; --gpu says it", used)};
}

// How PCIe joins the devices, with what NVLinks hide from CPU affinities.
std::vector<std::vector<PciePath>> PathsOf(const SmiMatrix& matrix,
                                           const std::vector<std::size_t>& kept) {
  std::vector<std::vector<PciePath>> paths(kept.size());
  for (std::size_t i = 0; i < kept.size(); ++i) {
    for (std::size_t j = 0; j < kept.size(); ++j) {
      const SmiDevice& a = matrix.devices[kept[i]];
      const SmiDevice& b = matrix.devices[kept[j]];
      PciePath path = matrix.cells[kept[i]][kept[j]].path;
      if (i != j && path == PciePath::kUnknown) {
        path = a.affinity == b.affinity ? PciePath::kNode : PciePath::kSys;
      }
      paths[i].push_back(path);
    }
  }
  return paths;
}

// The columns to keep, GPUs first: all GPUs, and of the NICs those that share a PCIe switch with a
// GPU, if any does.
std::vector<std::size_t> KeptColumns(const SmiMatrix& matrix, const std::string& file,
                                     Problems* problems) {
  const auto is_near = [&](std::size_t nic) {
    for (std::size_t j = 0; j < matrix.devices.size(); ++j) {
      if (matrix.devices[j].is_gpu && matrix.cells[nic][j].path <= PciePath::kPxb) return true;
    }
    return false;
  };
  std::vector<std::size_t> kept;
  std::vector<std::size_t> far;
  for (std::size_t i = 0; i < matrix.devices.size(); ++i) {
    if (!matrix.devices[i].is_gpu && !is_near(i)) {
      far.push_back(i);
    } else {
      kept.push_back(i);
    }
  }
  std::stable_partition(kept.begin(), kept.end(),
                        [&](std::size_t i) { return matrix.devices[i].is_gpu; });
  const bool all_far =
      std::ranges::all_of(kept, [&](std::size_t i) { return matrix.devices[i].is_gpu; });
  if (all_far) {
    kept.insert(kept.end(), far.begin(), far.end());
    return kept;
  }
  std::string names;
  for (const std::size_t i : far) {
    names += (names.empty() ? "" : ", ") + Plain(matrix.devices[i].name);
  }
  if (!far.empty()) {
    problems->Note({file, 0, 0},
                   fmt::format("left out, as they share no PCIe switch with a GPU: {}", names));
  }
  return kept;
}

void AddNvLinks(const SmiMatrix& matrix, const std::vector<std::size_t>& kept,
                const std::vector<std::size_t>& devices, bool switched, const NvLinks& links,
                NodeDraft* draft, NodeTopology* node) {
  const CatalogGpu& linked =
      node->gpu.value->links > 0 ? *node->gpu.value : *GpuNamed("a100_sxm4_80gb");
  const auto add = [&](std::size_t from, std::size_t to, int count) {
    draft->AddLink(from, to, CableKind::kNvLink,
                   BytesPerSecond::GigabytesPerSecond(linked.nccl_rate * count),
                   fmt::format("{} NVLink{}", count, count == 1 ? "" : "s"));
  };
  const std::size_t nvswitch = switched ? draft->AddSwitch("nvswitch", "all of them") : 0;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    if (switched && matrix.devices[kept[i]].is_gpu) add(devices[i], nvswitch, links.of_pair);
    for (std::size_t j = i + 1; !switched && j < kept.size(); ++j) {
      const int count = matrix.cells[kept[i]][kept[j]].nvlinks;
      if (count > 0) add(devices[i], devices[j], count);
    }
  }
  node->defaults.push_back(
      fmt::format("the rate of an NVLink; {:g} GB/s is NCCL's for {}, of a line rate of {:g}",
                  linked.nccl_rate, linked.name, linked.line_rate));
}

// GPUs behind each link to a CPU that has some; nothing if they are not equally many, or one.
std::optional<int> GpusPerHostLink(const PcieTreeFacts& tree, std::size_t gpus) {
  std::vector<std::ptrdiff_t> counts;
  for (const std::vector<std::size_t>& devices : tree.behind_one_link) {
    // GPUs were added first.
    const auto count =
        std::ranges::count_if(devices, [&](std::size_t device) { return device < gpus; });
    if (count > 0) counts.push_back(count);
  }
  const auto [least, most] = std::ranges::minmax(counts);
  return least == most && least > 1 ? std::optional(static_cast<int>(least)) : std::nullopt;
}

}  // namespace

std::optional<NodeTopology> ReadNvidiaSmiTopology(const std::string& text, const std::string& file,
                                                  const CatalogGpu* gpu, Problems* problems) {
  const std::optional<SmiMatrix> matrix = ReadSmiMatrix(text, file, problems);
  if (!matrix) return std::nullopt;
  const NvLinks links = NvLinksOf(*matrix);
  const auto gpus =
      static_cast<std::size_t>(std::ranges::count(matrix->devices, true, &SmiDevice::is_gpu));
  const bool switched = IsSwitched(links, gpus, gpu);

  NodeTopology node;
  node.gpu = ChooseGpu(gpu, links, switched);
  const CatalogGpu& kind = *node.gpu.value;
  NodeDraft draft;
  const std::vector<std::size_t> kept = KeptColumns(*matrix, file, problems);
  std::vector<std::size_t> devices;
  for (const std::size_t column : kept) {
    const SmiDevice& device = matrix->devices[column];
    std::string note = Plain(device.name);
    if (!device.legend.empty()) note += ", " + Plain(device.legend);
    devices.push_back(device.is_gpu ? draft.AddGpu(std::move(note))
                                    : draft.AddNic(std::move(note)));
  }
  const PcieRates rates{PcieNcclRate(kind.transfer_rate, kLanes),
                        BytesPerSecond::GigabytesPerSecond(kSocketRate)};
  const PcieTreeFacts tree = AddPcieTree(devices, PathsOf(*matrix, kept), rates, &draft);
  const std::string pcie = fmt::format("{}, {:g} GB/s as NCCL takes it, is the default of {}",
                                       PcieName(kind.transfer_rate, kLanes),
                                       rates.link.gigabytes_per_second(), kind.name);
  node.pcie_bandwidth = {rates.link, "not in the file: PCIe; " + pcie};
  node.defaults.push_back("the rates of PCIe; " + pcie);
  if (tree.cpus > 1) {
    node.defaults.push_back(
        fmt::format("the CPUs; {:g} GB/s between NUMA nodes is NCCL's for Intel Skylake (AMD 16, "
                    "Sapphire Rapids 22, Emerald Rapids 40)",
                    kSocketRate));
  }
  if (links.most > 0) AddNvLinks(*matrix, kept, devices, switched, links, &draft, &node);
  if (switched) {
    node.form =
        NamedForm{"nvswitch", links.of_pair, fmt::format("NV{} between all GPUs", links.of_pair)};
  }
  if (const auto shared = GpusPerHostLink(tree, gpus)) {
    node.gpus_per_host_link = Sourced<int>{*shared, "PIX and PXB"};
  }
  draft.Finish({}, &node);
  return node;
}

}  // namespace zerosim
