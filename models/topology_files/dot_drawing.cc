#include "models/topology_files/dot_drawing.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "models/core/units_text.h"
#include "models/network/spec_network.h"
#include "models/topology/tree_fabric.h"
#include "models/topology_files/dot_graph.h"

namespace zerosim {
namespace {

constexpr const char* kOval = "ellipse";

std::string Counted(std::int64_t count, const char* one, const char* many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

std::string LinkText(NodeLinkKind kind) {
  switch (kind) {
    case NodeLinkKind::kNvLink:
      return "NVLink";
    case NodeLinkKind::kPcie:
      return "PCIe";
    case NodeLinkKind::kInterSocket:
      return "inter-socket";
  }
  return "";
}

class FabricDrawing {
 public:
  FabricDrawing(const FabricLayout& layout, DotGraph* graph) : layout_(layout), graph_(*graph) {}

  void operator()(const SwitchLayout& kind) {
    const std::string share =
        kind.oversubscription > 1
            ? fmt::format("\n1 of {} of the rate", FormatNumber(kind.oversubscription))
            : "";
    graph_.Vertex("switch", {{"label", "switch" + share}, {"shape", kOval}});
    LinkNics("switch", layout_.nic_bandwidth);
  }

  void operator()(const FatTreeLayout& /*kind*/) { DrawTree(); }
  void operator()(const RailLayout& /*kind*/) { DrawTree(); }

  void operator()(const DragonflyLayout& kind) {
    graph_.Vertex(
        "router",
        {{"label", fmt::format("router\n{} in each of {}\n{} a router", kind.routers_per_group,
                               Counted(kind.groups, "group", "groups"),
                               Counted(kind.nodes_per_router, "node", "nodes"))},
         {"shape", kOval}});
    LinkNics("router", layout_.nic_bandwidth);
    if (kind.routers_per_group > 1) {
      graph_.Vertex("group", {{"label", "other routers of the group"}, {"shape", kOval}});
      graph_.Edge("router", "group",
                  {{"label", FormatRate(kind.local_bandwidth)},
                   {"taillabel", fmt::format("{}", kind.routers_per_group - 1)}});
    }
    if (kind.groups > 1) {
      graph_.Vertex("groups", {{"label", "routers of other groups"}, {"shape", kOval}});
      graph_.Edge(
          "router", "groups",
          {{"label", fmt::format("{}\n{} from group to group", FormatRate(kind.global_bandwidth),
                                 Counted(kind.global_links, "link", "links"))}});
    }
  }

  void operator()(const TorusLayout& kind) {
    graph_.Vertex("router", {{"label", "router, one a node"}, {"shape", kOval}});
    LinkNics("router", layout_.nic_bandwidth);
    for (std::size_t d = 0; d < kind.dimensions.size(); ++d) {
      const std::string name = fmt::format("dimension {}", d);
      graph_.Vertex(
          name, {{"label", fmt::format("neighbours in {}\na ring of {}", name, kind.dimensions[d])},
                 {"shape", kOval}});
      graph_.Edge("router", name, {{"label", FormatRate(kind.link_bandwidth)}, {"taillabel", "2"}});
    }
  }

  void operator()(const GraphLayout& kind) {
    Collect(kind);
    if (std::cmp_less_equal(names_.size(), kMostDrawn)) {
      for (std::size_t v = 0; v < names_.size(); ++v) DrawVertex(static_cast<int>(v), names_[v]);
      for (const LabelledEdge& edge : edges_) {
        graph_.Edge(IdOf(edge.from), IdOf(edge.to), {{"label", edge.label}});
      }
      return;
    }
    DrawClasses();
  }

 private:
  void LinkNics(const std::string& to, BytesPerSecond rate) {
    for (int nic = 0; nic < layout_.nics_per_node; ++nic) {
      graph_.Edge(fmt::format("nic{}", nic), to, {{"label", FormatRate(rate)}});
    }
  }

  // Unlike all names inside of a node.
  std::string IdOf(int vertex) const { return "fabric " + names_[vertex]; }

  void DrawVertex(int vertex, const std::string& label) {
    graph_.Vertex(IdOf(vertex), {{"label", label}, {"shape", is_switch_[vertex] ? kOval : "box"}});
  }

  // Level by level; the switches of a subtree above the leaves are one oval.
  void DrawTree() {
    const TreeShape shape = TreeShapeOf(layout_);
    const auto name = [&](std::size_t level) {
      return level == shape.levels.size() ? std::string("roots") : fmt::format("level {}", level);
    };
    for (std::size_t i = 0; i < shape.levels.size(); ++i) {
      const TreeLevel& level = shape.levels[i];
      const char* const part = i == 0 ? "leaf" : "subtree";
      graph_.Vertex(
          name(i),
          {{"label",
            fmt::format("{}\n{} of {} NICs", name(i),
                        Counted(level.subtrees, part, i == 0 ? "leaves" : "subtrees"), level.size)},
           {"shape", kOval}});
    }
    graph_.Vertex(name(shape.levels.size()), {{"shape", kOval}});
    LinkNics(name(0), layout_.nic_bandwidth);
    for (std::size_t i = 0; i < shape.levels.size(); ++i) {
      const TreeLevel& level = shape.levels[i];
      graph_.Edge(
          name(i), name(i + 1),
          {{"label", FormatRate(level.capacity)}, {"taillabel", fmt::format("{}", level.uplinks)}});
    }
  }

  int VertexOf(const std::string& name) {
    const auto [at, added] = places_.emplace(name, static_cast<int>(names_.size()));
    if (added) {
      names_.push_back(name);
      is_switch_.push_back(false);
    }
    return at->second;
  }

  void Collect(const GraphLayout& kind) {
    for (const std::string& name : kind.switches) is_switch_[VertexOf(name)] = true;
    for (const FabricLink& link : kind.links) {
      const int from = VertexOf(link.from);
      const int to = VertexOf(link.to);
      edges_.push_back({from, to, FormatRate(link.bandwidth)});
    }
  }

  // One vertex a class, and the links of its first member for all.
  void DrawClasses() {
    std::vector<int> kinds(is_switch_.begin(), is_switch_.end());
    const std::vector<int> classes = AlikeVertices(kinds, edges_);
    std::vector<std::vector<int>> members;
    for (std::size_t v = 0; v < classes.size(); ++v) {
      if (std::cmp_equal(classes[v], members.size())) members.emplace_back();
      members[classes[v]].push_back(static_cast<int>(v));
    }
    for (const std::vector<int>& of : members) {
      const std::string& first = names_[of.front()];
      const std::string label =
          of.size() == 1 ? first
                         : fmt::format("{} ... {}\n{} alike", first, names_[of.back()], of.size());
      DrawVertex(of.front(), label);
    }
    // Links of a class's first member by class and rate.
    std::map<std::pair<int, int>, std::map<std::string, int>> links;
    for (const LabelledEdge& edge : edges_) {
      const int from = classes[edge.from];
      const int to = classes[edge.to];
      if (edge.from == members[from].front()) ++links[{from, to}][edge.label];
      if (edge.to == members[to].front()) ++links[{to, from}][edge.label];
    }
    for (const auto& [ends, by_rate] : links) {
      const auto& [from, to] = ends;
      if (from > to) continue;
      for (const auto& [rate, count] : by_rate) {
        graph_.Edge(IdOf(members[from].front()), IdOf(members[to].front()),
                    {{"label", rate},
                     {"taillabel", fmt::format("{}", count)},
                     {"headlabel", fmt::format("{}", links[{to, from}][rate])}});
      }
    }
  }

  const FabricLayout& layout_;
  DotGraph& graph_;
  std::map<std::string, int> places_;  // of a graph's switches and nodes
  std::vector<std::string> names_;
  std::vector<bool> is_switch_;
  std::vector<LabelledEdge> edges_;
};

void DrawNode(const ClusterSpec& cluster, DotGraph* graph) {
  const NodeGraph node = NodeGraphOf(cluster);
  graph->BeginFrame(cluster.nodes == 1 ? "node" : fmt::format("node, {} alike", cluster.nodes));
  for (const Vertex& vertex : node.vertices) {
    graph->Vertex(vertex.name, {{"shape", vertex.kind == VertexKind::kSwitch ? kOval : "box"}});
  }
  for (const NodeLink& link : node.links) {
    graph->Edge(node.vertices[link.from].name, node.vertices[link.to].name,
                {{"label", FormatRate(link.bandwidth)}, {"tooltip", LinkText(link.kind)}});
  }
  graph->EndFrame();
}

}  // namespace

std::string DrawCluster(const std::string& name, const ClusterSpec& cluster) {
  if (const TopologyProblems problems = CheckTopology(cluster); !problems.empty()) {
    throw std::invalid_argument(TextOf(problems));
  }
  DotGraph graph(fmt::format("{}\n{} of {}", name, Counted(cluster.nodes, "node", "nodes"),
                             Counted(cluster.node.gpus, "GPU", "GPUs")));
  DrawNode(cluster, &graph);
  if (cluster.nodes > 1) {
    const FabricLayout layout = FabricLayoutOf(cluster);
    std::visit(FabricDrawing(layout, &graph), layout.kind);
  }
  return std::move(graph).Take();
}

}  // namespace zerosim
