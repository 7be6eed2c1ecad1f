#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "models/scenario/read_sections.h"

namespace zerosim {
namespace {

// In the order of the key's choices.
enum class FabricName : std::uint8_t {
  kSwitch,
  kFatTree,
  kRailOptimized,
  kRailOnly,
  kDragonfly,
  kTorus,
  kGraph
};

std::vector<FatTreeLevel> ReadLevels(SectionReader* section) {
  std::vector<FatTreeLevel> levels;
  for (SectionReader& item : section->List("levels")) {
    FatTreeLevel level;
    item.Read("children", &level.children);
    item.Read("oversubscription", &level.oversubscription);
    item.Read("uplinks", &level.uplinks);
    item.Read("extra_latency", &level.extra_latency);
    item.Finish();
    levels.push_back(level);
  }
  return levels;
}

// Every key is asked for, whatever the kind, so that one that another kind has is not unknown.
FabricKind ReadFabricKind(FabricName name, double oversubscription, SectionReader* section) {
  int ports = 0;
  section->Read("ports", &ports);
  std::vector<FatTreeLevel> levels = ReadLevels(section);
  TorusLayout torus;
  section->Read("dimensions", &torus.dimensions);
  section->Read("link_bandwidth", &torus.link_bandwidth);
  DragonflyLayout dragonfly;
  section->Read("groups", &dragonfly.groups);
  section->Read("routers_per_group", &dragonfly.routers_per_group);
  section->Read("nodes_per_router", &dragonfly.nodes_per_router);
  section->Read("global_links", &dragonfly.global_links);
  section->Read("local_bandwidth", &dragonfly.local_bandwidth);
  section->Read("global_bandwidth", &dragonfly.global_bandwidth);
  section->Read("global_latency", &dragonfly.global_latency);
  dragonfly.ports = ports;
  GraphLayout graph;
  graph.ports = ports;
  section->Read("switches", &graph.switches);
  for (SectionReader& item : section->List("links")) {
    FabricLink link;
    item.Read("from", &link.from);
    item.Read("to", &link.to);
    item.Read("bandwidth", &link.bandwidth);
    item.Read("latency", &link.latency);
    item.Finish();
    graph.links.push_back(std::move(link));
  }
  switch (name) {
    case FabricName::kSwitch:
      return SwitchLayout{oversubscription, ports};
    case FabricName::kFatTree:
      return FatTreeLayout{std::move(levels), ports};
    case FabricName::kRailOptimized:
    case FabricName::kRailOnly:
      return RailLayout{std::move(levels), ports, name == FabricName::kRailOnly};
    case FabricName::kDragonfly:
      return dragonfly;
    case FabricName::kTorus:
      return torus;
    case FabricName::kGraph:
      return graph;
  }
  return SwitchLayout{};
}

}  // namespace

FabricSpec ReadFabric(SectionReader section, const NodeSpec& node) {
  FabricName name = FabricName::kSwitch;
  FabricSpec fabric;
  fabric.nic_bandwidth = BytesPerSecond::GigabitsPerSecond(100);
  if (node.nic_bandwidth > BytesPerSecond()) {
    fabric.nic_bandwidth = node.nic_bandwidth;
    fabric.nics_per_node = std::max(1, node.nics);
  }
  section.ReadChoice("kind", &name);
  section.Read("nics_per_node", &fabric.nics_per_node);
  section.Read("nic_bandwidth", &fabric.nic_bandwidth);
  section.Read("latency", &fabric.latency);
  section.Read("hop_latency", &fabric.hop_latency);
  section.Read("oversubscription", &fabric.oversubscription);
  section.Read("in_network_reduction", &fabric.in_network_reduction);
  section.Read("ll128", &fabric.ll128);
  section.ReadChoice("routing", &fabric.routing);
  section.Read("seed", &fabric.seed);
  fabric.kind = ReadFabricKind(name, fabric.oversubscription, &section);
  section.Finish();
  return fabric;
}

}  // namespace zerosim
