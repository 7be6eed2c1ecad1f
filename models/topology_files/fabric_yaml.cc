#include "models/topology_files/fabric_yaml.h"

#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/core/units_text.h"
#include "models/topology_files/yaml_lines.h"

namespace zerosim {
namespace {

// Defaults of the keys of cluster.fabric.
const BytesPerSecond kNicBandwidth = BytesPerSecond::GigabitsPerSecond(100);
const Seconds kLatency = Seconds::Micros(2);
const Seconds kHopLatency = Seconds::Micros(0.3);

constexpr const char* kNoOversubscription = "not in the file: oversubscription";

struct KindWriter {
  const FabricTopology& fabric;
  YamlLines* out;

  BytesPerSecond NodeBandwidth() const {
    return fabric.node_bandwidth ? fabric.node_bandwidth->value : kNicBandwidth;
  }

  void operator()(const SwitchShape& kind) const {
    out->Add(4, "kind: switch");
    WriteOversubscription(4, "oversubscription: {}", kind.oversubscription);
  }

  void operator()(const FatTreeShape& kind) const {
    out->Add(4, "kind: fat_tree");
    out->Add(4, "levels:");
    for (const FatTreeTier& level : kind.levels) {
      if (!level.note.empty()) out->Add(6, "# " + level.note);
      const auto& given = level.oversubscription;
      out->Add(6,
               fmt::format("- {{children: {}, oversubscription: {}}}", level.children,
                           FormatNumber(given ? given->value : 1)),
               given ? std::string_view(given->source) : kNoOversubscription);
    }
  }

  void operator()(const TorusShape& kind) const {
    out->Add(4, "kind: torus");
    out->Add(4, fmt::format("dimensions: [{}]", fmt::join(kind.dimensions, ", ")));
    out->Add(4, "link_bandwidth: " + RateText(NodeBandwidth()),
             fabric.node_bandwidth ? fabric.node_bandwidth->source
                                   : "not in the file: the rate of a link");
  }

  void operator()(const DragonflyShape& kind) const {
    out->Add(4, "kind: dragonfly");
    out->Add(4, fmt::format("groups: {}", kind.groups));
    out->Add(4, fmt::format("routers_per_group: {}", kind.routers_per_group));
    out->Add(4, fmt::format("nodes_per_router: {}", kind.nodes_per_router));
    out->Add(4, "local_bandwidth: " + RateText(kind.local_bandwidth));
    out->Add(4, "global_bandwidth: " + RateText(kind.global_bandwidth));
    out->Add(4, fmt::format("global_links: {}", kind.global_links));
  }

  void operator()(const GraphShape& kind) const {
    out->Add(4, "kind: graph");
    out->Add(4, "switches:");
    for (const auto& [name, note] : kind.switches) out->Add(6, "- " + name, note);
    bool all_known = true;
    for (const GraphCable& link : kind.links) all_known = all_known && link.bandwidth;
    if (!all_known) {
      out->Add(4, fmt::format("# not in the file: the rates of links; the default is {} for each "
                              "node below",
                              LineRateText(NodeBandwidth())));
    }
    out->Add(4, "links:");
    for (const GraphCable& link : kind.links) {
      const std::string latency =
          link.latency ? ", latency: " + DurationText(*link.latency) : std::string();
      out->Add(
          6,
          fmt::format("- {{from: {}, to: {}, bandwidth: {}{}}}", link.from, link.to,
                      LineRateText(link.bandwidth.value_or(link.nodes_below * NodeBandwidth())),
                      latency),
          link.note);
    }
  }

  void WriteOversubscription(int indent, std::string_view format,
                             const std::optional<Sourced<double>>& given) const {
    out->Add(indent, fmt::format(fmt::runtime(format), FormatNumber(given ? given->value : 1)),
             given ? std::string_view(given->source) : kNoOversubscription);
  }
};

void WriteDuration(std::string_view key, const std::optional<Sourced<Seconds>>& given,
                   Seconds fallback, std::string_view what, YamlLines* out) {
  out->Add(4, fmt::format("{}: {}", key, DurationText(given ? given->value : fallback)),
           given ? std::string_view(given->source) : what);
}

}  // namespace

std::string FabricYaml(const FabricTopology& fabric) {
  YamlLines out;
  out.Add(0, "cluster:");
  out.Add(2, fmt::format("nodes: {}", fabric.nodes));
  for (const std::string& note : fabric.node_notes) out.Add(2, "# " + note);
  out.Add(2, "node: dgx_a100_80gb", "not in the file: the node");
  out.Add(2, "fabric:");
  std::visit(KindWriter{fabric, &out}, fabric.kind);
  out.Add(4, "nics_per_node: 1", "not in the file: the NICs of a node");
  const auto& rate = fabric.node_bandwidth;
  out.Add(4, "nic_bandwidth: " + LineRateText(rate ? rate->value : kNicBandwidth),
          rate ? std::string_view(rate->source) : "not in the file: the NICs' line rate");
  WriteDuration("latency", fabric.latency, kLatency, "not in the file: latency of a step", &out);
  const bool one_switch = std::holds_alternative<SwitchShape>(fabric.kind);
  if (!one_switch) {
    WriteDuration("hop_latency", fabric.hop_latency, kHopLatency,
                  "not in the file: latency of a switch", &out);
  }
  return out.Take();
}

}  // namespace zerosim
