#include "models/topology_files/simgrid_xml.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/core/units_text.h"
#include "models/network/spec_network.h"

namespace zerosim {
namespace {

constexpr int kMostParallel = 64;  // links that one link of a fat tree is cut into

std::string Rate(BytesPerSecond rate) {
  return fmt::format("{:.9g}GBps", rate.gigabytes_per_second());
}
std::string Duration(Seconds time) {
  return fmt::format("{:.9g}us", time.microseconds());
}

// Text between tags, and in a comment.
std::string Escaped(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '&') {
      escaped += "&amp;";
    } else if (c == '<') {
      escaped += "&lt;";
    } else if (c == '"') {
      escaped += "&quot;";
    } else {
      escaped += c == '-' && escaped.ends_with('-') ? ' ' : c;
    }
  }
  return escaped;
}

// The number if it is whole.
std::optional<std::int64_t> Whole(double number) {
  const double rounded = std::round(number);
  if (rounded < 1 || std::abs(number - rounded) > 1e-9 * rounded) return std::nullopt;
  return static_cast<std::int64_t>(rounded);
}

class PlatformWriter {
 public:
  PlatformWriter(const std::string& name, const ClusterSpec& cluster)
      : cluster_(cluster),
        node_rate_(static_cast<double>(cluster.fabric.nics_per_node) *
                   cluster.fabric.nic_bandwidth) {
    result_.xml = fmt::format(
        "<?xml version=\"1.0\"?>\n"
        "<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
        "<!-- {}: hosts are its {} nodes -->\n"
        "<platform version=\"4.1\">\n",
        Escaped(name), cluster.nodes);
  }

  SimgridExport Write() {
    if (cluster_.nodes == 1) {
      throw std::invalid_argument(
          "cluster.nodes: one node has no network between nodes, and SimGrid no inside of a node; "
          "expected at least 2");
    }
    result_.left_out.push_back("cluster.node: SimGrid has no inside of a node");
    if (cluster_.fabric.nics_per_node > 1) {
      result_.left_out.push_back(
          fmt::format("cluster.fabric.nics_per_node: the {} NICs of a node are one link of {}",
                      cluster_.fabric.nics_per_node, FormatRate(node_rate_)));
    }
    if (cluster_.fabric.routing != Routing::kStatic) {
      result_.left_out.push_back("cluster.fabric.routing: SimGrid routes by destination");
    }
    std::visit(*this, cluster_.fabric.kind);
    result_.xml += "</platform>\n";
    return std::move(result_);
  }

  void operator()(const SwitchLayout& kind) {
    std::string backbone;
    if (kind.oversubscription > 1) {
      // Together: nodes' shares of the switch are one link there.
      backbone = fmt::format(
          " bb_bw=\"{}\" bb_lat=\"0us\"",
          Rate(static_cast<double>(cluster_.nodes) / kind.oversubscription * node_rate_));
    }
    AddCluster(node_rate_, backbone);
  }

  void operator()(const FatTreeLayout& tree) {
    std::vector<int> children;
    std::vector<double> ratios;
    std::int64_t below = 1;
    for (const FatTreeLevel& level : tree.levels) {
      children.push_back(level.children);
      ratios.push_back(level.oversubscription);
      below *= level.children;
      if (level.extra_latency > Seconds()) {
        LeaveOut("levels.extra_latency: links of a <cluster> are alike");
      }
    }
    if (cluster_.nodes % below != 0) {
      throw std::invalid_argument(fmt::format(
          "cluster.nodes: {} nodes do not fill subtrees of {}, as a <cluster> does; expected a "
          "multiple",
          cluster_.nodes, below));
    }
    // The roots are its top level.
    if (const std::int64_t subtrees = cluster_.nodes / below; subtrees > 1) {
      children.push_back(static_cast<int>(subtrees));
    }
    ratios.resize(children.size() - 1);
    AddFatTree(children, ratios);
  }

  void operator()(const RailLayout& /*rails*/) {
    throw std::invalid_argument(
        "cluster.fabric.kind: in a rail network the NICs of a node are at several leaves, and a "
        "host of SimGrid at one; expected another kind, such as fat_tree");
  }

  void operator()(const DragonflyLayout& dragonfly) {
    if (dragonfly.groups > dragonfly.routers_per_group) {
      throw std::invalid_argument(fmt::format(
          "cluster.fabric.groups: SimGrid's groups have a router for each group; expected at most "
          "routers_per_group, {}, got {}",
          dragonfly.routers_per_group, dragonfly.groups));
    }
    const auto links = [&](const char* key, BytesPerSecond rate) {
      const auto count = Whole(Ratio(rate, node_rate_));
      if (count) return *count;
      throw std::invalid_argument(fmt::format(
          "cluster.fabric.{}: links of a <cluster> are as fast as a node's, {}; expected a "
          "multiple, got {}",
          key, FormatRate(node_rate_), FormatRate(rate)));
    };
    const BytesPerSecond global =
        static_cast<double>(dragonfly.global_links) * dragonfly.global_bandwidth;
    if (dragonfly.global_links > 1) {
      LeaveOut("global_links: those of two groups are one link, at one router");
    }
    if (dragonfly.global_latency > Seconds()) {
      LeaveOut("global_latency: links of a <cluster> are alike");
    }
    const std::int64_t local = links("local_bandwidth", dragonfly.local_bandwidth);
    AddCluster(node_rate_,
               fmt::format(" topology=\"DRAGONFLY\" topo_parameters=\"{},{};1,{};{},{};{}\"",
                           dragonfly.groups, links("global_bandwidth", global), local,
                           dragonfly.routers_per_group, local, dragonfly.nodes_per_router));
  }

  void operator()(const TorusLayout& torus) {
    // SimGrid's limiter_link would slow what passes a node's router too.
    if (node_rate_ != torus.link_bandwidth) {
      LeaveOut("nic_bandwidth: a host of a torus has the rate of its links");
    }
    AddCluster(torus.link_bandwidth, fmt::format(" topology=\"TORUS\" topo_parameters=\"{}\"",
                                                 fmt::join(torus.dimensions, ",")));
  }

  void operator()(const GraphLayout& /*graph*/) {
    const GraphLayout graph = std::get<GraphLayout>(FabricLayoutOf(cluster_).kind);
    result_.xml += "  <zone id=\"cluster\" routing=\"Dijkstra\">\n";
    for (int node = 0; node < cluster_.nodes; ++node) {
      result_.xml += fmt::format("    <host id=\"node{}\" speed=\"{}\"/>\n", node, Speed());
    }
    for (const std::string& name : graph.switches) {
      result_.xml += fmt::format("    <router id=\"{}\"/>\n", Escaped(name));
    }
    struct Cable {
      BytesPerSecond bandwidth;
      Seconds latency;
    };
    std::map<std::pair<std::string, std::string>, std::size_t> places;
    std::vector<std::pair<std::pair<std::string, std::string>, Cable>> cables;
    for (const FabricLink& link : graph.links) {
      const std::pair<std::string, std::string> ends(HostOf(link.from), HostOf(link.to));
      const auto [place, added] =
          places.emplace(std::minmax(ends.first, ends.second), cables.size());
      if (added) {
        cables.push_back({ends, {link.bandwidth, link.latency}});
      } else {
        cables[place->second].second.bandwidth += link.bandwidth;
        LeaveOut("links: parallel ones are one of their sum");
      }
    }
    std::string routes;
    for (std::size_t i = 0; i < cables.size(); ++i) {
      const auto& [ends, cable] = cables[i];
      result_.xml += fmt::format(
          "    <link id=\"link{}\" bandwidth=\"{}\" latency=\"{}\" "
          "sharing_policy=\"SPLITDUPLEX\"/>\n",
          i, Rate(cable.bandwidth), Duration(cable.latency));
      routes += fmt::format(
          "    <route src=\"{}\" dst=\"{}\"><link_ctn id=\"link{}\" direction=\"UP\"/></route>\n",
          Escaped(ends.first), Escaped(ends.second), i);
    }
    result_.xml += routes + "  </zone>\n";
    LeaveOut("nic_bandwidth and latency: a host has those of its links");
  }

 private:
  void LeaveOut(const std::string& what) {
    const std::string line = "cluster.fabric." + what;
    if (result_.left_out.back() != line) result_.left_out.push_back(line);
  }

  std::string Speed() const {
    return fmt::format("{:.9g}Gf",
                       cluster_.node.gpus * cluster_.node.gpu.peak.teraflops_per_second() * 1e3);
  }

  void AddCluster(BytesPerSecond rate, const std::string& more) {
    result_.xml += fmt::format(
        "  <cluster id=\"cluster\" prefix=\"node\" suffix=\"\" radical=\"0-{}\" speed=\"{}\" "
        "bw=\"{}\" lat=\"{}\" sharing_policy=\"SPLITDUPLEX\"{}/>\n",
        cluster_.nodes - 1, Speed(), Rate(rate), Duration(0.5 * cluster_.fabric.latency), more);
    if (!cluster_.fabric.is_switch()) {
      LeaveOut("hop_latency: links of a <cluster> are alike, half of latency each");
    }
  }

  // All links have one rate: of a node's over `parallel`. A switch of level i has
  // children x links[i] down, and over ratios[i] as many up.
  void AddFatTree(const std::vector<int>& children, const std::vector<double>& ratios) {
    for (int parallel = 1; parallel <= kMostParallel; ++parallel) {
      std::vector<std::int64_t> links = {parallel};
      for (std::size_t i = 0; i < ratios.size(); ++i) {
        const auto up = Whole(static_cast<double>(children[i] * links[i]) / ratios[i]);
        if (!up) break;
        links.push_back(*up);
      }
      if (links.size() != children.size()) continue;
      const std::vector<int> parents(children.size(), 1);
      AddCluster(
          1.0 / parallel * node_rate_,
          fmt::format(" topology=\"FAT_TREE\" topo_parameters=\"{};{};{};{}\"", children.size(),
                      fmt::join(children, ","), fmt::join(parents, ","), fmt::join(links, ",")));
      return;
    }
    throw std::invalid_argument(
        fmt::format("cluster.fabric.levels: no whole number of links has the ratios {}; expected "
                    "oversubscriptions such as 2 or 1.5",
                    fmt::join(ratios, ", ")));
  }

  // The node of "node3" or "node3.nic0"; a switch as it is.
  std::string HostOf(const std::string& end) const {
    const std::size_t dot = end.find('.');
    if (dot == std::string::npos || !end.starts_with("node")) return end;
    if (cluster_.fabric.nics_per_node > 1) {
      throw std::invalid_argument(fmt::format(
          "cluster.fabric.links: {} is one NIC of several, and a host of SimGrid has one place; "
          "expected links of whole nodes",
          end));
    }
    return end.substr(0, dot);
  }

  const ClusterSpec& cluster_;
  BytesPerSecond node_rate_;
  SimgridExport result_;
};

}  // namespace

SimgridExport ExportSimgrid(const std::string& name, const ClusterSpec& cluster) {
  return PlatformWriter(name, cluster).Write();
}

}  // namespace zerosim
