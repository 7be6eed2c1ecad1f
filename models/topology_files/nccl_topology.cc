#include "models/topology_files/nccl_topology.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "models/core/units_text.h"
#include "models/topology_files/gpu_kinds.h"
#include "models/topology_files/nccl_gpu_links.h"
#include "models/topology_files/node_draft.h"
#include "models/topology_files/pcie_rates.h"
#include "models/topology_files/source_lines.h"
#include "models/topology_files/xml_document.h"

namespace zerosim {
namespace {

// NCCL's own, where a file has no speed or width: kvDictPciGen, ncclTopoAddPci.
constexpr double kUnknownTransferRate = 8;
constexpr int kUnknownLanes = 16;
constexpr int kMostLanes = 64;
constexpr int kMostModel = 1 << 20;
// No NIC has more; a driver that counts in Kb/s reports it (Cray's cxi: 200,000,000).
constexpr int kMostMegabits = 10'000'000;
constexpr double kUnknownSocketRate = 10;
constexpr std::size_t kMostCpus = 64;  // each pair of them has a link
constexpr std::size_t kMostGpus = 1024;

const XmlElement* Child(const XmlElement& element, std::string_view name) {
  const auto found = std::ranges::find(element.children, name, &XmlElement::name);
  return found == element.children.end() ? nullptr : &*found;
}

std::string BusOf(const XmlElement& pci) {
  return Plain(pci.Find("busid").value_or(""));
}

struct Cpu {
  std::size_t device = 0;
  const XmlElement* element = nullptr;
};

struct Net {
  std::size_t device = 0;
  const XmlElement* element = nullptr;
  std::string name;
  int megabits = 0;  // 0: not in the file
};

class NcclReader {
 public:
  NcclReader(const XmlElement& system, Problems* problems) : system_(system), problems_(problems) {}

  std::optional<NodeTopology> Read(const CatalogGpu* given) {
    has_nets_ = HasDescendant(system_, "net");
    for (const XmlElement& child : system_.children) {
      if (child.name == "cpu") AddCpu(child);
    }
    if (gpus_.empty() && !problems_->has_errors()) {
      problems_->Add(system_.where,
                     unknown_ == nullptr
                         ? "expected a GPU, a <pci> of class 0x03 or with a <gpu>, got none"
                         : fmt::format("expected a GPU, a <pci> of class 0x03 or with a <gpu>; the "
                                       "file has PCI devices without class, such as {}",
                                       BusOf(*unknown_)));
    }
    if (gpus_.size() > kMostGpus || cpus_.size() > kMostCpus) {
      problems_->Add(system_.where, fmt::format("{} GPUs and {} CPUs; expected at most {} and {}",
                                                gpus_.size(), cpus_.size(), kMostGpus, kMostCpus));
    }
    if (problems_->has_errors()) return std::nullopt;
    NodeTopology node;
    ChooseGpu(given, &node);
    KeepFastestNets(&node);
    AddGpuLinks(gpus_, &draft_, &node, problems_);
    LinkSockets(&node);
    DescribePcie(&node);
    std::map<std::size_t, int> rank;
    for (const NcclGpu& gpu : gpus_) rank[gpu.device] = gpu.rank;
    draft_.Finish(rank, &node);
    if (problems_->has_errors()) return std::nullopt;
    return node;
  }

 private:
  static bool HasDescendant(const XmlElement& element, std::string_view name) {
    return std::ranges::any_of(element.children, [&](const XmlElement& child) {
      return child.name == name || HasDescendant(child, name);
    });
  }

  void AddCpu(const XmlElement& cpu) {
    std::string note = fmt::format("NUMA node {}", Plain(cpu.Find("numaid").value_or("?")));
    if (const auto vendor = cpu.Find("vendor")) note += ", " + Plain(*vendor);
    const std::size_t device = draft_.AddSwitch("cpu", std::move(note));
    cpus_.push_back({device, &cpu});
    for (const XmlElement& child : cpu.children) {
      if (child.name == "pci") {
        host_link_ = host_links_++;
        AddPci(child, device);
      }
      // Nets of no PCI device, as a VM's.
      if (child.name == "nic") AddNets(child, device, PcieNcclRate(kUnknownTransferRate, 16), "");
    }
  }

  void AddPci(const XmlElement& pci, std::size_t parent) {
    const std::string_view type = pci.Find("class").value_or("");
    const XmlElement* gpu = Child(pci, "gpu");
    const auto [rate, note] = RateOf(pci);
    if (gpu != nullptr || type.starts_with("0x03") || type.starts_with("0x12")) {
      AddGpu(pci, gpu, parent, rate, note);
    } else if (Child(pci, "nic") != nullptr || type.starts_with("0x02")) {
      AddNic(pci, parent, rate, note);
    } else if (Child(pci, "pci") != nullptr) {
      const std::size_t device = draft_.AddSwitch("pcie", BusOf(pci));
      draft_.AddLink(device, parent, CableKind::kPcie, rate, note);
      for (const XmlElement& child : pci.children) {
        if (child.name == "pci") AddPci(child, device);
      }
      if (!draft_.HasChildren(device)) draft_.Drop(device);
    } else if (type.empty()) {
      if (unknown_ == nullptr) unknown_ = &pci;
      problems_->Note(pci.where, fmt::format("{}: left out: has no class", BusOf(pci)));
    } else {
      problems_->Note(pci.where, fmt::format("{}: left out: class {} is neither a GPU, a NIC nor a "
                                             "bridge to one",
                                             BusOf(pci), Plain(type)));
    }
  }

  // The rate of the link above `pci` and what the file says of it.
  std::pair<BytesPerSecond, std::string> RateOf(const XmlElement& pci) {
    const std::string_view text = pci.Find("link_speed").value_or("");
    // Linux has "Unknown" or "Unknown speed" where the device does not tell.
    const bool known = !text.empty() && !text.starts_with("Unknown");
    const std::optional<double> speed = known ? ParseTransferRate(text) : kUnknownTransferRate;
    if (!speed) {
      problems_->Add(pci.where,
                     fmt::format("<pci>: link_speed: expected a rate such as \"16 GT/s\" "
                                 "or \"32.0 GT/s PCIe\", got {}",
                                 Quoted(text)));
      return {BytesPerSecond{}, ""};
    }
    int lanes = IntegerAttribute(pci, "link_width", 0, kMostLanes, problems_).value_or(0);
    if (!known || lanes == 0) unknown_pcie_ = true;
    if (lanes == 0) lanes = kUnknownLanes;
    slowest_transfer_ = slowest_transfer_ == 0 ? *speed : std::min(slowest_transfer_, *speed);
    return {PcieNcclRate(*speed, lanes), known ? PcieName(*speed, lanes) : ""};
  }

  void AddGpu(const XmlElement& pci, const XmlElement* gpu, std::size_t parent, BytesPerSecond rate,
              const std::string& note) {
    const auto bus = ParseBusId(pci.Find("busid").value_or(""));
    if (!bus) {
      problems_->Add(pci.where, fmt::format("<pci>: busid: expected one such as \"0000:1a:00.0\", "
                                            "got {}",
                                            Quoted(pci.Find("busid").value_or(""))));
      return;
    }
    NcclGpu found;
    found.bus = *bus;
    found.pci = &pci;
    found.element = gpu;
    found.cpu = cpus_.back().device;
    found.host_link = host_link_;
    found.pcie = {rate, note};
    found.rank = static_cast<int>(gpus_.size());
    std::string name = BusOf(pci);
    if (gpu != nullptr) {
      const auto dev = IntegerAttribute(*gpu, "dev", -1, kMostRank, problems_);
      found.rank = IntegerAttribute(*gpu, "rank", -1, kMostRank, problems_)
                       .value_or(dev.value_or(found.rank));
      if (dev) name = fmt::format("dev {}, {}", *dev, name);
    }
    for (const NcclGpu& other : gpus_) {
      if (other.bus != found.bus) continue;
      problems_->Add(pci.where,
                     fmt::format("{}: a second GPU of this busid; the first is in line {}",
                                 BusOf(pci), other.pci->where.line));
      return;
    }
    found.device = draft_.AddGpu(name);
    draft_.AddLink(found.device, parent, CableKind::kPcie, rate, note);
    gpus_.push_back(std::move(found));
  }

  void AddNic(const XmlElement& pci, std::size_t parent, BytesPerSecond rate,
              const std::string& note) {
    if (!has_nets_) {  // a file of PCI devices alone
      const std::size_t device = draft_.AddNic(BusOf(pci));
      draft_.AddLink(device, parent, CableKind::kPcie, rate, note);
      nets_.push_back({device, &pci, BusOf(pci), 0});
      return;
    }
    std::size_t ports = 0;
    for (const XmlElement& child : pci.children) {
      if (child.name == "nic")
        ports += std::ranges::count(child.children, "net", &XmlElement::name);
    }
    if (ports == 0) {
      problems_->Note(pci.where, fmt::format("{}: left out: no <net>, so that NCCL does not use it",
                                             BusOf(pci)));
      return;
    }
    std::size_t adapter = parent;
    if (ports > 1) {  // they share the slot
      adapter = draft_.AddSwitch("adapter", BusOf(pci));
      draft_.AddLink(adapter, parent, CableKind::kPcie, rate, note);
    }
    for (const XmlElement& child : pci.children) {
      if (child.name == "nic") AddNets(child, adapter, rate, note);
    }
  }

  void AddNets(const XmlElement& nic, std::size_t parent, BytesPerSecond rate,
               const std::string& note) {
    for (const XmlElement& element : nic.children) {
      if (element.name != "net") continue;
      const std::string name = Plain(element.Find("name").value_or("?"));
      const int most = 2'000'000'000;
      int megabits = IntegerAttribute(element, "speed", 0, most, problems_).value_or(0);
      if (megabits >= kMostMegabits) {
        problems_->Warn(element.where,
                        fmt::format("{}: speed {} is in Mb/s and above that of any NIC; taken as "
                                    "Kb/s",
                                    name, megabits));
        megabits /= 1000;
      }
      const auto port = IntegerAttribute(element, "port", 0, kMostRank, problems_);
      const std::size_t device =
          draft_.AddNic(port ? fmt::format("{}, port {}", name, *port) : name);
      draft_.AddLink(device, parent, CableKind::kPcie, rate, note);
      nets_.push_back({device, &element, name, megabits});
    }
  }

  void ChooseGpu(const CatalogGpu* given, NodeTopology* node) {
    node->gpu = GpuOf(gpus_.front(), given, slowest_transfer_);
    for (const NcclGpu& gpu : gpus_) {
      const CatalogGpu* other = GpuOf(gpu, given, slowest_transfer_).value;
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
    for (const Net& net : nets_) fastest = std::max(fastest, net.megabits);
    for (const Net& net : nets_) {
      if (net.megabits == fastest) continue;
      problems_->Note(net.element->where,
                      fmt::format("{}: left out: slower than the fastest", net.name));
      draft_.Drop(net.device);
    }
    if (fastest == 0) return;
    node->nic_bandwidth = {BytesPerSecond::GigabitsPerSecond(fastest / 1e3),
                           fmt::format("speed {} Mb/s", fastest)};
  }

  // As NCCL, which links each NUMA node with each other.
  void LinkSockets(NodeTopology* node) {
    std::vector<Cpu> used;
    for (const Cpu& cpu : cpus_) {
      if (draft_.HasLinks(cpu.device)) {
        used.push_back(cpu);
      } else {
        draft_.Drop(cpu.device);
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
        draft_.AddLink(used[i].device, used[j].device, CableKind::kInterSocket,
                       BytesPerSecond::GigabytesPerSecond(gigabytes), "");
      }
    }
  }

  void DescribePcie(NodeTopology* node) {
    const auto slowest =
        std::ranges::min_element(gpus_, {}, [](const NcclGpu& gpu) { return gpu.pcie.value; });
    node->pcie_bandwidth = slowest->pcie;
    if (slowest->pcie.source.empty()) {
      node->pcie_bandwidth.source = "not in the file: PCIe; NCCL's default, PCIe 3.0 x16";
    }
    if (unknown_pcie_) {
      node->defaults.insert(
          node->defaults.begin(),
          "the speed or width of some PCIe links; 12 GB/s is NCCL's default, PCIe "
          "3.0 x16");
    }
    std::map<int, int> gpus_of;  // by the link to the host
    for (const NcclGpu& gpu : gpus_) ++gpus_of[gpu.host_link];
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
  NodeDraft draft_;
  std::vector<Cpu> cpus_;
  std::vector<NcclGpu> gpus_;
  std::vector<Net> nets_;
  const XmlElement* unknown_ = nullptr;  // a device that could be anything
  bool has_nets_ = false;
  bool unknown_pcie_ = false;
  double slowest_transfer_ = 0;  // GT/s; 0: no device yet
  int host_links_ = 0;           // of all CPUs
  int host_link_ = 0;            // that is being read
};

}  // namespace

std::optional<NodeTopology> ReadNcclTopology(const std::string& text, const std::string& file,
                                             const CatalogGpu* gpu, Problems* problems) {
  const std::optional<XmlElement> system = ParseXml(text, file, "system", problems);
  if (!system) return std::nullopt;
  return NcclReader(*system, problems).Read(gpu);
}

}  // namespace zerosim
