#include "models/topology_files/node_yaml.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "models/core/units_text.h"
#include "models/topology_files/gpu_kinds.h"

namespace zerosim {
namespace {

constexpr std::size_t kCommentColumn = 33;

// NCCL's, src/graph/tuning.cc (2.28): hwLat of a ring's step with the protocol Simple.
constexpr const char* kNvLinkLatency = "3.4 us";
constexpr const char* kPcieLatency = "5.7 us";

class Writer {
 public:
  void Line(int indent, const std::string& text, std::string_view comment = "") {
    std::string line = fmt::format("{:{}}{}", "", indent, text);
    if (!comment.empty()) line = fmt::format("{:<{}}  # {}", line, kCommentColumn, comment);
    out_ += line + '\n';
  }
  std::string Take() { return std::move(out_); }

 private:
  std::string out_;
};

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

std::string GigabytesText(double gigabytes) {
  return FormatNumber(gigabytes, 6) + " GB/s";
}

void WriteForm(const NodeTopology& node, const NamedForm& form, Writer* out) {
  const GpuKind& kind = *node.gpu.value;
  // A GPU without links of its own has NVLinks in the file all the same: those of an A100.
  const GpuKind& linked = kind.links > 0 ? kind : *GpuNamed("a100_sxm4_80gb");
  out->Line(4, "in_node: " + form.in_node, form.source);
  out->Line(4, "gpu_bandwidth: " + GigabytesText(linked.line_rate * form.links),
            fmt::format("{} links; not in the file: their {:g} GB/s, line rate of {}", form.links,
                        linked.line_rate, linked.name));
  out->Line(4,
            fmt::format("gpu_bandwidth_fraction: {}",
                        FormatNumber(linked.nccl_rate / linked.line_rate, 3)),
            fmt::format("not in the file: {:g} of {:g} GB/s, as NCCL takes a link",
                        linked.nccl_rate, linked.line_rate));
}

void WriteLatency(bool nvlink, Writer* out) {
  out->Line(
      4, fmt::format("gpu_latency: {}", nvlink ? kNvLinkLatency : kPcieLatency),
      fmt::format("not in the file: NCCL's ring step over {}, Simple", nvlink ? "NVLink" : "PCIe"));
}

void WriteGraph(const NodeTopology& node, Writer* out) {
  out->Line(4, "in_node: graph");
  for (const Device& device : node.devices) {
    if (device.kind == DeviceKind::kSwitch) continue;
    out->Line(4, fmt::format("# {}: {}", device.name, device.note));
  }
  out->Line(4, "switches:");
  for (const Device& device : node.devices) {
    if (device.kind == DeviceKind::kSwitch) out->Line(6, "- " + device.name, device.note);
  }
  for (const std::string& what : node.defaults) out->Line(4, "# not in the file: " + what);
  out->Line(4, "links:");
  for (const Cable& link : node.links) {
    out->Line(6,
              fmt::format("- {{from: {}, to: {}, bandwidth: {}, kind: {}}}",
                          node.devices[link.from].name, node.devices[link.to].name,
                          GigabytesText(link.bandwidth.gigabytes_per_second()), TextOf(link.kind)),
              link.note);
  }
}

}  // namespace

std::string NodeYaml(const NodeTopology& node, NodeForm form) {
  Writer out;
  out.Line(0, "cluster:");
  out.Line(2, "nodes: 1", "not in the file");
  out.Line(2, "node:");
  out.Line(4, fmt::format("gpu: {}", node.gpu.value->name), node.gpu.source);
  out.Line(4, fmt::format("gpus: {}", node.Count(DeviceKind::kGpu)));
  if (node.form && form == NodeForm::kNamedIfPossible) {
    WriteForm(node, *node.form, &out);
  } else {
    WriteGraph(node, &out);
  }
  const bool has_nvlinks = std::ranges::any_of(
      node.links, [](const Cable& link) { return link.kind == CableKind::kNvLink; });
  WriteLatency(node.form || has_nvlinks, &out);
  out.Line(4, "pcie_bandwidth: " + GigabytesText(node.pcie_bandwidth.value.gigabytes_per_second()),
           node.pcie_bandwidth.source);
  if (const auto& shared = node.gpus_per_host_link) {
    out.Line(4, fmt::format("gpus_per_host_link: {}", shared->value), shared->source);
  }
  const int nics = node.Count(DeviceKind::kNic);
  out.Line(4, fmt::format("nics: {}", nics));
  if (nics > 0) {
    const auto rate = node.nic_bandwidth.value_or(Sourced<BytesPerSecond>{
        BytesPerSecond::GigabitsPerSecond(100), "not in the file: the NICs' line rate"});
    out.Line(4,
             fmt::format("nic_bandwidth: {} Gbps",
                         FormatNumber(rate.value.gigabytes_per_second() * 8, 6)),
             rate.source);
  }
  return out.Take();
}

}  // namespace zerosim
