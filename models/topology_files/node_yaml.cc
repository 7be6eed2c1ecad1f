#include "models/topology_files/node_yaml.h"

#include <algorithm>
#include <cstddef>
#include <string_view>

#include <fmt/format.h>

#include "models/core/units_text.h"
#include "models/topology_files/gpu_kinds.h"
#include "models/topology_files/yaml_lines.h"

namespace zerosim {
namespace {

// NCCL's, src/graph/tuning.cc (2.28): hwLat of a ring's step with the protocol Simple.
constexpr const char* kNvLinkLatency = "3.4 us";
constexpr const char* kPcieLatency = "5.7 us";

std::string_view TextOf(CableKind kind) {
  switch (kind) {
    case CableKind::kPcie:
      return "pcie";
    case CableKind::kNvLink:
      return "nvlink";
    case CableKind::kInterSocket:
      return "inter_socket";
  }
  return "";
}

void WriteForm(const NodeTopology& node, const NamedForm& form, YamlLines* out) {
  const CatalogGpu& kind = *node.gpu.value;
  // A GPU without links of its own has NVLinks in the file all the same: those of an A100.
  const CatalogGpu& linked = kind.links > 0 ? kind : *GpuNamed("a100_sxm4_80gb");
  out->Add(4, "in_node: " + form.in_node, form.source);
  out->Add(4,
           "gpu_bandwidth: " +
               RateText(BytesPerSecond::GigabytesPerSecond(linked.line_rate * form.links)),
           fmt::format("{} links; not in the file: their {:g} GB/s, line rate of {}", form.links,
                       linked.line_rate, linked.name));
  out->Add(4,
           fmt::format("gpu_bandwidth_fraction: {}",
                       FormatNumber(linked.nccl_rate / linked.line_rate, 3)),
           fmt::format("not in the file: {:g} of {:g} GB/s, as NCCL takes a link", linked.nccl_rate,
                       linked.line_rate));
}

void WriteLatency(bool nvlink, YamlLines* out) {
  out->Add(
      4, fmt::format("gpu_latency: {}", nvlink ? kNvLinkLatency : kPcieLatency),
      fmt::format("not in the file: NCCL's ring step over {}, Simple", nvlink ? "NVLink" : "PCIe"));
}

// What one GPU has to its peers: its NVLinks, or its PCIe link.
BytesPerSecond GpuBandwidth(const NodeTopology& node) {
  const auto gpu = std::ranges::find(node.devices, DeviceKind::kGpu, &Device::kind);
  const auto first = static_cast<std::size_t>(gpu - node.devices.begin());
  BytesPerSecond nvlink;
  BytesPerSecond other;
  for (const Cable& link : node.links) {
    if (link.from != first && link.to != first) continue;
    (link.kind == CableKind::kNvLink ? nvlink : other) += link.bandwidth;
  }
  return nvlink > BytesPerSecond() ? nvlink : other;
}

void WriteGraph(const NodeTopology& node, YamlLines* out) {
  out->Add(4, "in_node: graph");
  out->Add(4, "gpu_bandwidth: " + RateText(GpuBandwidth(node)), "the sum of one GPU's links below");
  for (const Device& device : node.devices) {
    if (device.kind == DeviceKind::kSwitch) continue;
    out->Add(4, fmt::format("# {}: {}", device.name, device.note));
  }
  out->Add(4, "switches:");
  for (const Device& device : node.devices) {
    if (device.kind == DeviceKind::kSwitch) out->Add(6, "- " + device.name, device.note);
  }
  for (const std::string& what : node.defaults) out->Add(4, "# not in the file: " + what);
  out->Add(4, "links:");
  for (const Cable& link : node.links) {
    out->Add(
        6,
        fmt::format("- {{from: {}, to: {}, bandwidth: {}, kind: {}}}", node.devices[link.from].name,
                    node.devices[link.to].name, RateText(link.bandwidth), TextOf(link.kind)),
        link.note);
  }
}

}  // namespace

std::string NodeYaml(const NodeTopology& node, NodeForm form) {
  YamlLines out;
  out.Add(0, "cluster:");
  out.Add(2, "nodes: 1", "not in the file");
  out.Add(2, "node:");
  out.Add(4, fmt::format("gpu: {}", node.gpu.value->name), node.gpu.source);
  out.Add(4, fmt::format("gpus: {}", node.Count(DeviceKind::kGpu)));
  if (node.form && form == NodeForm::kNamedIfPossible) {
    WriteForm(node, *node.form, &out);
  } else {
    WriteGraph(node, &out);
  }
  const bool has_nvlinks = std::ranges::any_of(
      node.links, [](const Cable& link) { return link.kind == CableKind::kNvLink; });
  WriteLatency(node.form || has_nvlinks, &out);
  out.Add(4, "pcie_bandwidth: " + RateText(node.pcie_bandwidth.value), node.pcie_bandwidth.source);
  if (const auto& shared = node.gpus_per_host_link) {
    out.Add(4, fmt::format("gpus_per_host_link: {}", shared->value), shared->source);
  }
  const int nics = node.Count(DeviceKind::kNic);
  out.Add(4, fmt::format("nics: {}", nics));
  if (nics > 0) {
    const auto rate = node.nic_bandwidth.value_or(Sourced<BytesPerSecond>{
        BytesPerSecond::GigabitsPerSecond(100), "not in the file: the NICs' line rate"});
    out.Add(4, "nic_bandwidth: " + LineRateText(rate.value), rate.source);
  }
  return out.Take();
}

}  // namespace zerosim
