#include "models/topology_files/simgrid_platform.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "models/topology_files/simgrid_cluster.h"
#include "models/topology_files/source_lines.h"
#include "models/topology_files/xml_document.h"

namespace zerosim {
namespace {

struct PlatformLink {
  BytesPerSecond bandwidth;
  Seconds latency;
  std::set<std::pair<std::string, std::string>> ends;  // of the routes that have it, in order
};

struct PlatformRoute {
  const XmlElement* element = nullptr;
  std::string from;
  std::string to;
  std::vector<std::string> links;
};

bool IsZone(const XmlElement& element) {
  return element.name == "zone" || element.name == "AS";
}

class ZoneReader {
 public:
  ZoneReader(const XmlElement& zone, Problems* problems) : zone_(zone), problems_(problems) {}

  std::optional<FabricTopology> Read() {
    for (const XmlElement& element : zone_.children) ReadElement(element);
    if (!problems_->has_errors() && hosts_.size() < 2) {
      problems_->Add(zone_.where, fmt::format("<{}>: expected at least two hosts, got {}",
                                              zone_.name, hosts_.size()));
    }
    if (!problems_->has_errors() && routes_.empty()) {
      problems_->Add(zone_.where, fmt::format("<{}>: expected routes, got none", zone_.name));
    }
    for (const PlatformRoute& route : routes_) CheckRoute(route);
    if (problems_->has_errors()) return std::nullopt;
    FabricTopology fabric;
    fabric.nodes = static_cast<std::int64_t>(hosts_.size());
    for (const std::string& host : hosts_) {
      if (fabric.node_notes.size() == kMostNotes) break;
      fabric.node_notes.push_back(fmt::format("{}: {}", names_.at(host), Plain(host)));
    }
    if (!MakeGraph(&fabric) && !MakeSwitch(&fabric)) return std::nullopt;
    return fabric;
  }

 private:
  static constexpr std::size_t kMostNotes = 1024;

  void ReadElement(const XmlElement& element) {
    const std::string id(element.Find("id").value_or(""));
    if (element.name == "host") {
      AddName(element, id, fmt::format("node{}", hosts_.size()));
      hosts_.push_back(id);
    } else if (element.name == "router") {
      AddName(element, id, fmt::format("switch{}", routers_.size()));
      routers_.push_back(id);
    } else if (element.name == "link") {
      const auto bandwidth = SimgridRate(element, "bandwidth", problems_);
      const auto latency = SimgridDuration(element, "latency", problems_);
      if (!bandwidth && element.Find("bandwidth") == std::nullopt) {
        problems_->Add(element.where, fmt::format("<link>: {} has no bandwidth", Plain(id)));
      }
      links_[id] = {bandwidth.value_or(BytesPerSecond{}), latency.value_or(Seconds{}), {}};
    } else if (element.name == "route") {
      PlatformRoute route{&element,
                          std::string(element.Find("src").value_or("")),
                          std::string(element.Find("dst").value_or("")),
                          {}};
      for (const XmlElement& child : element.children) {
        if (child.name == "link_ctn") route.links.emplace_back(child.Find("id").value_or(""));
      }
      if (route.from != route.to) routes_.push_back(std::move(route));  // no loopbacks
    } else if (element.name != "prop") {
      problems_->Add(element.where,
                     fmt::format("<{}>: cannot be imported; expected <host>, <router>, <link> or "
                                 "<route>",
                                 Plain(element.name)));
    }
  }

  void AddName(const XmlElement& element, const std::string& id, std::string ours) {
    if (names_.emplace(id, std::move(ours)).second) return;
    problems_->Add(element.where, fmt::format("<{}>: {} is given twice", element.name, Plain(id)));
  }

  void CheckRoute(const PlatformRoute& route) {
    for (const std::string& end : {route.from, route.to}) {
      if (names_.contains(end)) continue;
      problems_->Add(route.element->where,
                     fmt::format("<route>: {} is no host or router of the zone", Plain(end)));
      return;
    }
    for (const std::string& link : route.links) {
      const auto found = links_.find(link);
      if (found == links_.end()) {
        problems_->Add(route.element->where,
                       fmt::format("<route>: {} is no link of the zone", Plain(link)));
        return;
      }
      found->second.ends.insert(std::minmax(route.from, route.to));
    }
  }

  // Cables between the ends of routes that share no link with others.
  bool MakeGraph(FabricTopology* fabric) const {
    GraphShape graph;
    std::set<std::pair<std::string, std::string>> seen;
    std::map<std::string, BytesPerSecond> cables_of;  // all together, of each end
    for (const std::string& router : routers_) {
      graph.switches.emplace_back(names_.at(router), Plain(router));
    }
    for (const PlatformRoute& route : routes_) {
      GraphCable cable{.from = names_.at(route.from), .to = names_.at(route.to)};
      Seconds latency;
      for (const std::string& name : route.links) {
        const PlatformLink& link = links_.at(name);
        if (link.ends.size() > 1) return false;
        cable.bandwidth = std::min(cable.bandwidth.value_or(link.bandwidth), link.bandwidth);
        latency += link.latency;
      }
      if (!cable.bandwidth) continue;
      if (!seen.insert(std::minmax(route.from, route.to)).second) continue;
      for (const std::string& end : {route.from, route.to}) cables_of[end] += *cable.bandwidth;
      cable.latency = latency;
      graph.links.push_back(std::move(cable));
    }
    fabric->kind = std::move(graph);
    fabric->node_bandwidth = FastestHost(cables_of);
    return true;
  }

  // A host has no NIC but its cables, and in a scenario all have the same.
  std::optional<Sourced<BytesPerSecond>> FastestHost(
      const std::map<std::string, BytesPerSecond>& cables_of) const {
    BytesPerSecond fastest;
    for (const std::string& host : hosts_) {
      const auto cables = cables_of.find(host);
      if (cables != cables_of.end()) fastest = std::max(fastest, cables->second);
    }
    if (fastest == BytesPerSecond()) return std::nullopt;
    return Sourced<BytesPerSecond>{fastest, "the cables of the fastest host"};
  }

  // Routes of host to host over a link of each, and at most one between.
  bool MakeSwitch(FabricTopology* fabric) const {
    std::map<std::string, std::string> link_of;  // of each host
    std::optional<std::string> backbone;
    bool has_backbone = false;
    const PlatformLink* first = nullptr;
    for (const PlatformRoute& route : routes_) {
      const std::size_t count = route.links.size();
      bool fits = count == 2 || count == 3;
      if (fits && !backbone) {
        has_backbone = count == 3;
        backbone = has_backbone ? route.links[1] : "";
      }
      fits = fits && has_backbone == (count == 3) && (count == 2 || route.links[1] == *backbone);
      fits = fits &&
             link_of.emplace(route.from, route.links.front()).first->second == route.links.front();
      fits =
          fits && link_of.emplace(route.to, route.links.back()).first->second == route.links.back();
      if (fits && first == nullptr) first = &links_.at(route.links.front());
      fits = fits && links_.at(route.links.front()).bandwidth == first->bandwidth &&
             links_.at(route.links.back()).bandwidth == first->bandwidth;
      if (fits) continue;
      problems_->Add(route.element->where,
                     "<route>: shares links with other routes in another way than over one switch "
                     "between hosts of one rate, which a graph of cables does not express");
      return false;
    }
    SwitchShape kind;
    Seconds latency = 2 * first->latency;
    if (has_backbone) {
      const PlatformLink& link = links_.at(*backbone);
      latency += link.latency;
      kind.oversubscription =
          Sourced<double>{std::max(1.0, Ratio(fabric->nodes * first->bandwidth, link.bandwidth)),
                          fmt::format("all hosts' links over {}", Plain(*backbone))};
    }
    fabric->kind = kind;
    fabric->latency = {latency, "the links of a route"};
    fabric->node_bandwidth = {first->bandwidth, "a host's link"};
    return true;
  }

  const XmlElement& zone_;
  Problems* const problems_;
  std::vector<std::string> hosts_;
  std::vector<std::string> routers_;
  std::map<std::string, std::string> names_;  // of ours, by the file's
  std::map<std::string, PlatformLink> links_;
  std::vector<PlatformRoute> routes_;
};

// The one zone or cluster that holds all; null after reporting that there are several or none.
const XmlElement* OnlyZone(const XmlElement& platform, Problems* problems) {
  const XmlElement* here = &platform;
  while (true) {
    std::vector<const XmlElement*> inner;
    for (const XmlElement& child : here->children) {
      if (IsZone(child) || child.name == "cluster") inner.push_back(&child);
    }
    const bool has_hosts = std::ranges::count(here->children, "host", &XmlElement::name) > 0;
    if (IsZone(*here) && inner.empty()) return here;
    if (inner.size() != 1 || has_hosts) {
      problems->Add(inner.size() > 1 ? inner[1]->where : here->where,
                    fmt::format("<{}>: expected one <zone> or <cluster> that holds all hosts, got "
                                "{}",
                                here->name, inner.size() + (has_hosts ? 1 : 0)));
      return nullptr;
    }
    here = inner.front();
    if (here->name == "cluster") return here;
  }
}

}  // namespace

std::optional<FabricTopology> ReadSimgridPlatform(const std::string& text, const std::string& file,
                                                  Problems* problems) {
  const std::optional<XmlElement> platform = ParseXml(text, file, "platform", problems);
  if (!platform) return std::nullopt;
  const XmlElement* zone = OnlyZone(*platform, problems);
  if (zone == nullptr) return std::nullopt;
  if (zone->name == "cluster") return ReadSimgridCluster(*zone, problems);
  return ZoneReader(*zone, problems).Read();
}

}  // namespace zerosim
