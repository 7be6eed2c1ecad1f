#include "models/topology_files/nccl_devices.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "models/core/units_text.h"
#include "models/topology_files/pcie_rates.h"
#include "models/topology_files/source_lines.h"

namespace zerosim {
namespace {

// NCCL's own, where a file has no speed or width: kvDictPciGen, ncclTopoAddPci.
constexpr double kUnknownTransferRate = 8;
constexpr int kUnknownLanes = 16;
constexpr int kMostLanes = 64;
// No NIC has more; a driver that counts in Kb/s reports it (Cray's cxi: 200,000,000).
constexpr int kMostMegabits = 10'000'000;

const XmlElement* Child(const XmlElement& element, std::string_view name) {
  const auto found = std::ranges::find(element.children, name, &XmlElement::name);
  return found == element.children.end() ? nullptr : &*found;
}

class DeviceReader {
 public:
  DeviceReader(const XmlElement& system, Problems* problems)
      : system_(system), problems_(problems) {}

  NcclDevices Read() {
    has_nets_ = HasDescendant(system_, "net");
    for (const XmlElement& child : system_.children) {
      if (child.name == "cpu") AddCpu(child);
    }
    return std::move(found_);
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
    const std::size_t device = found_.draft.AddSwitch("cpu", std::move(note));
    found_.cpus.push_back({device, &cpu});
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
      const std::size_t device = found_.draft.AddSwitch("pcie", BusOf(pci));
      found_.draft.AddLink(device, parent, CableKind::kPcie, rate, note);
      for (const XmlElement& child : pci.children) {
        if (child.name == "pci") AddPci(child, device);
      }
      if (!found_.draft.HasChildren(device)) found_.draft.Drop(device);
    } else if (type.empty()) {
      if (found_.unknown == nullptr) found_.unknown = &pci;
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
    if (!known || lanes == 0) found_.unknown_pcie = true;
    if (lanes == 0) lanes = kUnknownLanes;
    found_.slowest_transfer =
        found_.slowest_transfer == 0 ? *speed : std::min(found_.slowest_transfer, *speed);
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
    found.cpu = found_.cpus.back().device;
    found.host_link = host_link_;
    found.pcie = {rate, note};
    found.rank = static_cast<int>(found_.gpus.size());
    std::string name = BusOf(pci);
    if (gpu != nullptr) {
      const auto dev = IntegerAttribute(*gpu, "dev", -1, kMostRank, problems_);
      found.rank = IntegerAttribute(*gpu, "rank", -1, kMostRank, problems_)
                       .value_or(dev.value_or(found.rank));
      if (dev) name = fmt::format("dev {}, {}", *dev, name);
    }
    for (const NcclGpu& other : found_.gpus) {
      if (other.bus != found.bus) continue;
      problems_->Add(pci.where,
                     fmt::format("{}: a second GPU of this busid; the first is in line {}",
                                 BusOf(pci), other.pci->where.line));
      return;
    }
    found.device = found_.draft.AddGpu(name);
    found_.draft.AddLink(found.device, parent, CableKind::kPcie, rate, note);
    found_.gpus.push_back(std::move(found));
  }

  void AddNic(const XmlElement& pci, std::size_t parent, BytesPerSecond rate,
              const std::string& note) {
    if (!has_nets_) {  // a file of PCI devices alone
      const std::size_t device = found_.draft.AddNic(BusOf(pci));
      found_.draft.AddLink(device, parent, CableKind::kPcie, rate, note);
      found_.nets.push_back({device, &pci, BusOf(pci), 0});
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
      adapter = found_.draft.AddSwitch("adapter", BusOf(pci));
      found_.draft.AddLink(adapter, parent, CableKind::kPcie, rate, note);
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
          found_.draft.AddNic(port ? fmt::format("{}, port {}", name, *port) : name);
      found_.draft.AddLink(device, parent, CableKind::kPcie, rate, note);
      found_.nets.push_back({device, &element, name, megabits});
    }
  }

  const XmlElement& system_;
  Problems* const problems_;
  NcclDevices found_;
  bool has_nets_ = false;
  int host_links_ = 0;  // of all CPUs
  int host_link_ = 0;   // that is being read
};

}  // namespace

NcclDevices ReadNcclDevices(const XmlElement& system, Problems* problems) {
  return DeviceReader(system, problems).Read();
}

std::string BusOf(const XmlElement& pci) {
  return Plain(pci.Find("busid").value_or(""));
}

}  // namespace zerosim
