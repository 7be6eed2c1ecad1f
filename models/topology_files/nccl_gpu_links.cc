#include "models/topology_files/nccl_gpu_links.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <map>
#include <string>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "models/core/units_text.h"
#include "models/topology_files/gpu_kinds.h"
#include "models/topology_files/source_lines.h"

namespace zerosim {
namespace {

constexpr int kMostLinks = 1024;         // of one target
constexpr int kMostMegabytes = 1 << 24;  // a second, of a C2C link

class GpuLinks {
 public:
  GpuLinks(const std::vector<NcclGpu>& gpus, NodeDraft* draft, NodeTopology* node,
           Problems* problems)
      : gpus_(gpus), draft_(draft), node_(node), problems_(problems), to_switch_(gpus.size()) {}

  void Add() {
    bool described = false;  // some GPU has a <gpu>
    for (std::size_t i = 0; i < gpus_.size(); ++i) {
      if (gpus_[i].element == nullptr) continue;
      described = true;
      for (const XmlElement& link : gpus_[i].element->children) ReadLink(i, link);
    }
    AddPairs();
    AddSwitch();
    if (!described) AssumeUsualLinks();
  }

 private:
  void ReadLink(std::size_t gpu, const XmlElement& link) {
    if (link.name == "c2c") {
      ReadChipToChip(gpu, link);
      return;
    }
    if (link.name != "nvlink" && link.name != "xgmi") return;
    const auto count = IntegerAttribute(link, "count", 1, kMostLinks, problems_);
    if (!count) {
      if (link.Find("count").value_or("").empty()) {
        problems_->Add(link.where, fmt::format("<{}>: has no count", link.name));
      }
      return;
    }
    const std::string_view target_class = link.Find("tclass").value_or("");
    const std::string_view target = link.Find("target").value_or("");
    if (target_class.starts_with("0x068000")) {
      to_switch_[gpu] += *count;
    } else if (target_class.starts_with("0x068001")) {
      draft_->AddLink(gpus_[gpu].device, gpus_[gpu].cpu, CableKind::kNvLink,
                      RateOf(link.name, *count), Count(link.name, *count));
    } else {
      ReadPeer(gpu, link, target, *count);
    }
  }

  void ReadPeer(std::size_t gpu, const XmlElement& link, std::string_view target, int count) {
    const auto bus = ParseBusId(target);
    const auto peer =
        std::ranges::find_if(gpus_, [&](const NcclGpu& other) { return bus && other.bus == *bus; });
    if (peer == gpus_.end()) {
      problems_->Warn(link.where, fmt::format("<{}>: left out: its target {} is no GPU of the file",
                                              link.name, Plain(target)));
      return;
    }
    const auto other = static_cast<std::size_t>(peer - gpus_.begin());
    if (other == gpu) {
      problems_->Warn(link.where, fmt::format("<{}>: left out: its target {} is the GPU itself",
                                              link.name, Plain(target)));
      return;
    }
    Pair& pair = pairs_[std::minmax(gpu, other)];
    (gpu < other ? pair.forth : pair.back) += count;
    pair.element = &link;
  }

  void ReadChipToChip(std::size_t gpu, const XmlElement& link) {
    const int count = IntegerAttribute(link, "count", 1, kMostLinks, problems_).value_or(1);
    const auto bandwidth = IntegerAttribute(link, "bw", 1, kMostMegabytes, problems_);
    if (!bandwidth) {
      problems_->Add(link.where, "<c2c>: expected bw, its rate in MB/s");
      return;
    }
    draft_->AddLink(gpus_[gpu].device, gpus_[gpu].cpu, CableKind::kNvLink,
                    BytesPerSecond::GigabytesPerSecond(1e-3 * *bandwidth * count), "NVLink-C2C");
  }

  void AddPairs() {
    for (const auto& [ends, pair] : pairs_) {
      if (pair.forth != pair.back) {
        problems_->Warn(pair.element->where,
                        fmt::format("<{}>: {} links one way, {} the other; the smaller is taken",
                                    pair.element->name, pair.forth, pair.back));
      }
      const int count = pair.forth == 0 || pair.back == 0 ? std::max(pair.forth, pair.back)
                                                          : std::min(pair.forth, pair.back);
      draft_->AddLink(gpus_[ends.first].device, gpus_[ends.second].device, CableKind::kNvLink,
                      RateOf(pair.element->name, count), Count(pair.element->name, count));
      // Two GPUs reach each other at all of their links, as behind a switch.
      if (gpus_.size() == 2) {
        node_->form =
            NamedForm{"nvswitch", count,
                      fmt::format("{} to the other GPU", Count(pair.element->name, count))};
      }
    }
  }

  void AddSwitch() {
    const auto [least, most] = std::ranges::minmax(to_switch_);
    if (most == 0) return;
    const std::size_t device = draft_->AddSwitch("nvswitch", "all of them");
    for (std::size_t i = 0; i < gpus_.size(); ++i) {
      if (to_switch_[i] == 0) continue;
      draft_->AddLink(gpus_[i].device, device, CableKind::kNvLink, RateOf("nvlink", to_switch_[i]),
                      Count("nvlink", to_switch_[i]));
    }
    if (least == most && pairs_.empty()) {
      node_->form =
          NamedForm{"nvswitch", most, fmt::format("{} to NVSwitches", Count("nvlink", most))};
    }
  }

  // What the machines have that are built with this GPU: the file has its PCI devices alone.
  void AssumeUsualLinks() {
    const CatalogGpu& kind = *node_->gpu.value;
    const auto form = [&](std::string in_node) {
      node_->form = NamedForm{
          std::move(in_node), kind.links,
          fmt::format("not in the file: NVLinks; these are the default of {}", kind.name)};
    };
    switch (kind.usual_node) {
      case UsualNode::kNvSwitch:
        to_switch_.assign(gpus_.size(), kind.links);
        AddSwitch();
        form("nvswitch");
        break;
      case UsualNode::kHybridCubeMesh:
        if (gpus_.size() == 8) form("hybrid_cube_mesh");
        break;
      case UsualNode::kMesh:
        form("full_mesh");
        break;
      case UsualNode::kPcie:
        break;
    }
    if (!node_->form) node_->defaults.emplace_back("NVLinks; there are none in the graph");
  }

  BytesPerSecond RateOf(std::string_view element, int count) {
    const bool first = rate_ == 0;
    const CatalogGpu& kind = *node_->gpu.value;
    if (element == "xgmi") {
      const std::string_view gfx = GfxOf();
      rate_ = XgmiRate(gfx);
      if (first) {
        node_->defaults.push_back(fmt::format(
            "the rate of an xGMI link; {:g} GB/s is RCCL's for gfx {}", rate_, Plain(gfx)));
      }
    } else {
      const CatalogGpu& linked = kind.links > 0 ? kind : *GpuNamed("a100_sxm4_80gb");
      rate_ = linked.nccl_rate;
      if (first) {
        node_->defaults.push_back(
            fmt::format("the rate of an NVLink; {:g} GB/s is NCCL's for {}, of a line rate of {:g}",
                        rate_, linked.name, linked.line_rate));
      }
    }
    return BytesPerSecond::GigabytesPerSecond(rate_ * count);
  }

  std::string_view GfxOf() const {
    for (const NcclGpu& gpu : gpus_) {
      if (gpu.element == nullptr) continue;
      if (const auto gfx = gpu.element->Find("gcn")) return *gfx;
    }
    return "";
  }

  static std::string Count(std::string_view element, int count) {
    return fmt::format("{} {}{}", count, element == "xgmi" ? "xGMI link" : "NVLink",
                       count == 1 ? "" : "s");
  }

  struct Pair {
    int forth = 0;
    int back = 0;
    const XmlElement* element = nullptr;
  };

  const std::vector<NcclGpu>& gpus_;
  NodeDraft* const draft_;
  NodeTopology* const node_;
  Problems* const problems_;
  std::vector<int> to_switch_;  // links of each GPU
  std::map<std::pair<std::size_t, std::size_t>, Pair> pairs_;
  double rate_ = 0;  // of one link, GB/s; 0: none yet
};

// "10de:2330" of a device whose vendor is "0x10de"; empty if the file does not say it.
std::string PciDeviceOf(const XmlElement& pci) {
  const std::string_view vendor = pci.Find("vendor").value_or("");
  const std::string_view device = pci.Find("device").value_or("");
  if (!vendor.starts_with("0x") || !device.starts_with("0x")) return "";
  return fmt::format("{}:{}", vendor.substr(2), device.substr(2));
}

}  // namespace

std::optional<std::uint64_t> ParseBusId(std::string_view text) {
  std::string digits;
  std::ranges::copy_if(text, std::back_inserter(digits),
                       [](char c) { return c != ':' && c != '.'; });
  std::uint64_t number = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), number, 16);
  const bool whole = error == std::errc{} && end == digits.data() + digits.size();
  return whole && text.find(':') != std::string_view::npos ? std::optional(number) : std::nullopt;
}

Sourced<const CatalogGpu*> GpuOf(const NcclGpu& gpu, const CatalogGpu* given,
                                 double transfer_rate) {
  if (given != nullptr) return {given, "--gpu"};
  const std::string device = PciDeviceOf(*gpu.pci);
  if (const CatalogGpu* kind = GpuOfPciDevice(device)) return {kind, "PCI device " + device};
  const auto attribute = [&](std::string_view name) {
    return gpu.element == nullptr ? std::string_view() : gpu.element->Find(name).value_or("");
  };
  // RCCL writes compute units as sm.
  if (const std::string_view gfx = attribute("gcn"); !gfx.empty()) {
    const CatalogGpu* kind = GpuOfGfx(gfx);
    return {kind != nullptr ? kind : GpuNamed("mi250x_gcd"),
            fmt::format("not in the file: the GPU, of gfx {}; --gpu says it", Plain(gfx))};
  }
  const auto capability = ParseInteger(attribute("sm"));
  const CatalogGpu* kind = capability && *capability > 0 && *capability < 1000
                               ? GpuOfComputeCapability(static_cast<int>(*capability))
                               : nullptr;
  if (kind != nullptr) {
    return {kind,
            fmt::format("not in the file: the GPU, of compute capability {}.{}; --gpu says it",
                        *capability / 10, *capability % 10)};
  }
  kind = GpuOfTransferRate(transfer_rate);
  return {kind != nullptr ? kind : GpuNamed("a100_pcie_80gb"),
          "not in the file: the GPU, taken by the PCIe generation; --gpu says it"};
}

void AddGpuLinks(const std::vector<NcclGpu>& gpus, NodeDraft* draft, NodeTopology* node,
                 Problems* problems) {
  GpuLinks(gpus, draft, node, problems).Add();
}

}  // namespace zerosim
