#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

#include <fmt/format.h>

#include "models/topology/fabric_graph.h"
#include "models/topology/fabric_layout.h"
#include "models/topology/tree_fabric.h"

namespace zerosim {
namespace {

// A product that stays at the most an integer holds.
std::int64_t Times(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) return std::numeric_limits<std::int64_t>::max();
  return product;
}

class Checker {
 public:
  explicit Checker(const FabricLayout& layout) : layout_(layout) {}

  TopologyProblems Check() {
    Positive("nodes", layout_.nodes);
    Positive("nics_per_node", layout_.nics_per_node);
    Rate("nic_bandwidth", layout_.nic_bandwidth);
    Latency("latency", layout_.latency);
    Latency("hop_latency", layout_.hop_latency);
    std::visit([this](const auto& kind) { CheckKind(kind); }, layout_.kind);
    if (problems_.empty()) {
      NumLinks(Times(2, Endpoints()));
    }
    return std::move(problems_);
  }

 private:
  void Report(std::string path, std::string what) {
    problems_.push_back({std::move(path), std::move(what)});
  }
  void Positive(const std::string& path, int value) {
    if (value < 1) Report(path, fmt::format("expected 1 or more, got {}", value));
  }
  void Rate(const std::string& path, BytesPerSecond rate) {
    const double value = rate.bytes_per_second();
    if (value > 0 && std::isfinite(value)) return;
    Report(path, "expected a rate above 0; leave out a link that carries nothing");
  }
  void Latency(const std::string& path, Seconds latency) {
    const double value = latency.seconds();
    if (value >= 0 && std::isfinite(value)) return;
    Report(path, "expected a latency of 0 or more");
  }
  void Oversubscription(const std::string& path, double value) {
    // Below 1 the links up are faster than those down, which is allowed and of no use.
    if (value > 0 && std::isfinite(value)) return;
    Report(path, fmt::format("expected a ratio above 0, got {}", value));
  }
  std::int64_t Endpoints() const { return Times(layout_.nodes, layout_.nics_per_node); }

  void NumLinks(std::int64_t links) {
    if (links <= kMaxFabricLinks) return;
    Report("nodes", fmt::format("the network has {} links; at most {} can be counted", links,
                                kMaxFabricLinks));
  }

  void CheckKind(const SwitchLayout& one) {
    Oversubscription("oversubscription", one.oversubscription);
    if (one.ports > 0 && Endpoints() > one.ports) {
      Report("ports", fmt::format("{} nodes with {} NICs need {} ports, the switch has {}; take "
                                  "fewer nodes or a fat tree",
                                  layout_.nodes, layout_.nics_per_node, Endpoints(), one.ports));
    }
  }

  void CheckKind(const FatTreeLayout& tree) {
    CheckTree(tree.levels, tree.ports, layout_.nics_per_node);
  }
  void CheckKind(const RailLayout& rails) { CheckTree(rails.levels, rails.ports, 1); }

  void CheckTree(const std::vector<FatTreeLevel>& levels, int ports, std::int64_t nics_down) {
    if (levels.empty()) Report("levels", "expected at least one level of switches, got none");
    std::int64_t size = layout_.nics_per_node;
    for (std::size_t i = 0; i < levels.size(); ++i) {
      const std::string path = fmt::format("levels[{}]", i);
      Positive(path + ".children", levels[i].children);
      Oversubscription(path + ".oversubscription", levels[i].oversubscription);
      if (levels[i].uplinks < 0) {
        Report(path + ".uplinks", fmt::format("expected 0 (as many as its rate needs) or more, "
                                              "got {}",
                                              levels[i].uplinks));
      }
      Latency(path + ".extra_latency", levels[i].extra_latency);
      size = Times(size, levels[i].children);
    }
    if (!problems_.empty()) return;
    // Links up of a subtree of the last level.
    double uplinks = 1;
    for (std::size_t i = 0; i < levels.size(); ++i) {
      const auto down = static_cast<double>(levels[i].children * (i == 0 ? nics_down : 1));
      uplinks *= levels[i].uplinks > 0 ? levels[i].uplinks
                                       : std::max(1.0, down / levels[i].oversubscription);
    }
    if (static_cast<double>(size) > 1000.0 * kMaxFabricLinks || uplinks > 1.0 * kMaxFabricLinks) {
      Report("levels", fmt::format("a subtree of the last level holds {} NICs and has {:.3g} links "
                                   "up; leave out levels above the one that holds all nodes",
                                   size, uplinks));
      return;
    }
    const TreeShape shape = TreeShapeOf(layout_);
    std::int64_t links = 0;
    std::int64_t uplinks_below = 1;
    for (std::size_t i = 0; i < levels.size(); ++i) {
      const TreeLevel& level = shape.levels[i];
      links += Times(2, Times(level.subtrees, level.uplinks));
      const std::int64_t down = i == 0 ? levels[0].children * nics_down : levels[i].children;
      const std::int64_t up = level.subtrees > 1 ? level.uplinks / uplinks_below : 0;
      Ports(fmt::format("levels[{}]", i), down, up, ports);
      uplinks_below = level.uplinks;
    }
    NumLinks(links);
    std::int64_t joined = shape.levels.back().subtrees;
    if (shape.order == NicOrder::kByRail) joined /= layout_.nics_per_node;
    if (ports > 0 && joined > ports) {
      Report("ports", fmt::format("each root joins {} subtrees of the last level and has {} ports; "
                                  "add a level, or take fewer nodes",
                                  joined, ports));
    }
  }

  void Ports(const std::string& path, std::int64_t down, std::int64_t up, int ports) {
    if (ports == 0 || down + up <= ports) return;
    Report(path, fmt::format("a switch needs {} ports down and {} up, and has {}; take fewer "
                             "children or more oversubscription",
                             down, up, ports));
  }

  void CheckKind(const DragonflyLayout& dragonfly) {
    Positive("groups", dragonfly.groups);
    Positive("routers_per_group", dragonfly.routers_per_group);
    Positive("nodes_per_router", dragonfly.nodes_per_router);
    Positive("global_links", dragonfly.global_links);
    Rate("local_bandwidth", dragonfly.local_bandwidth);
    Rate("global_bandwidth", dragonfly.global_bandwidth);
    Latency("global_latency", dragonfly.global_latency);
    if (!problems_.empty()) return;
    const std::int64_t routers = Times(dragonfly.groups, dragonfly.routers_per_group);
    const std::int64_t places = Times(routers, dragonfly.nodes_per_router);
    if (places < layout_.nodes) {
      Report("groups", fmt::format("{} groups of {} routers of {} nodes hold {} nodes, not {}; add "
                                   "groups",
                                   dragonfly.groups, dragonfly.routers_per_group,
                                   dragonfly.nodes_per_router, places, layout_.nodes));
    }
    const std::int64_t global = Times(dragonfly.groups - 1, dragonfly.global_links);
    NumLinks(Times(routers, dragonfly.routers_per_group - 1));
    NumLinks(Times(dragonfly.groups, global));
    if (Times(routers, dragonfly.global_links) > kMaxFabricLinks) {
      Report("global_links",
             fmt::format("{} routers times {} links are too many to count; at most {}", routers,
                         dragonfly.global_links, kMaxFabricLinks));
    }
    const std::int64_t ports = Times(dragonfly.nodes_per_router, layout_.nics_per_node) +
                               dragonfly.routers_per_group - 1 +
                               CeilDiv(global, dragonfly.routers_per_group);
    if (dragonfly.ports > 0 && ports > dragonfly.ports) {
      Report("ports", fmt::format("a router needs {} ports ({} NICs, {} routers, {} global links), "
                                  "and has {}; take fewer nodes a router",
                                  ports, dragonfly.nodes_per_router * layout_.nics_per_node,
                                  dragonfly.routers_per_group - 1,
                                  CeilDiv(global, dragonfly.routers_per_group), dragonfly.ports));
    }
  }

  void CheckKind(const TorusLayout& torus) {
    Rate("link_bandwidth", torus.link_bandwidth);
    if (torus.dimensions.empty()) Report("dimensions", "expected at least one, got none");
    std::int64_t nodes = 1;
    std::string product;
    for (std::size_t i = 0; i < torus.dimensions.size(); ++i) {
      Positive(fmt::format("dimensions[{}]", i), torus.dimensions[i]);
      nodes = Times(nodes, torus.dimensions[i]);
      product += fmt::format("{}{}", i == 0 ? "" : " x ", torus.dimensions[i]);
    }
    if (!problems_.empty()) return;
    if (nodes != layout_.nodes) {
      Report("dimensions", fmt::format("{} is {} nodes, but there are {}; make the product the "
                                       "number of nodes",
                                       product, nodes, layout_.nodes));
    }
    NumLinks(Times(2 * static_cast<std::int64_t>(torus.dimensions.size()), nodes));
  }

  void CheckKind(const GraphLayout& graph) {
    if (graph.ports < 0) Report("ports", fmt::format("expected 0 or more, got {}", graph.ports));
    for (std::size_t i = 0; i < graph.links.size(); ++i) {
      Rate(fmt::format("links[{}].bandwidth", i), graph.links[i].bandwidth);
      Latency(fmt::format("links[{}].latency", i), graph.links[i].latency);
    }
    if (layout_.nodes < 1 || layout_.nics_per_node < 1) return;
    const auto size = static_cast<std::int64_t>(graph.links.size() + graph.switches.size());
    const std::int64_t routes = Times(Endpoints(), Endpoints() + 2 * size);
    if (routes > kMaxGraphRoutes) {
      Report("nodes", fmt::format("{} NICs, {} switches and {} links need {} entries of routes; at "
                                  "most {} are possible: describe a regular network by its kind",
                                  Endpoints(), graph.switches.size(), graph.links.size(), routes,
                                  kMaxGraphRoutes));
      return;
    }
    for (TopologyProblem& problem : BuildFabricGraph(layout_).problems) {
      problems_.push_back(std::move(problem));
    }
  }

  const FabricLayout& layout_;
  TopologyProblems problems_;
};

}  // namespace

TopologyProblems CheckFabric(const FabricLayout& layout) {
  return Checker(layout).Check();
}

}  // namespace zerosim
