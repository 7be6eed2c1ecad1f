#include "models/topology/fabric_graph.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "models/core/diagnostics.h"

namespace zerosim {
namespace {

// The number after `prefix`, which is then cut off with it.
std::optional<int> TakeNumber(std::string_view prefix, std::string_view* text) {
  if (!text->starts_with(prefix)) return {};
  const char* begin = text->data() + prefix.size();
  int value = 0;
  const auto [end, error] = std::from_chars(begin, text->data() + text->size(), value);
  if (error != std::errc() || end == begin || value < 0) return {};
  text->remove_prefix(static_cast<std::size_t>(end - text->data()));
  return value;
}

struct Terminal {
  int node = 0;
  int nic = -1;  // -1: all that have no links of their own
};

// "node3" or "node3.nic1".
std::optional<Terminal> TerminalOf(std::string_view text) {
  Terminal terminal;
  const std::optional<int> node = TakeNumber("node", &text);
  if (!node) return {};
  terminal.node = *node;
  if (text.empty()) return terminal;
  const std::optional<int> nic = TakeNumber(".nic", &text);
  if (!nic || !text.empty()) return {};
  terminal.nic = *nic;
  return terminal;
}

class Builder {
 public:
  explicit Builder(const FabricLayout& layout)
      : layout_(layout), graph_layout_(std::get<GraphLayout>(layout.kind)) {}

  FabricGraphResult Build() {
    AddSwitches();
    AddArcs();
    FindHomes();
    FindComponents();
    if (result_.problems.empty()) CheckJoined();
    return std::move(result_);
  }

 private:
  void Report(std::string path, std::string what) {
    result_.problems.push_back({std::move(path), std::move(what)});
  }

  void AddSwitches() {
    FabricGraph& graph = result_.graph;
    for (std::size_t i = 0; i < graph_layout_.switches.size(); ++i) {
      const std::string& name = graph_layout_.switches[i];
      const std::string path = fmt::format("switches[{}]", i);
      if (TerminalOf(name)) {
        Report(path, fmt::format("{} is the name of a node or NIC; give the switch another",
                                 Quoted(name)));
      } else if (!places_.emplace(name, static_cast<int>(i)).second) {
        Report(path,
               fmt::format("{} is there twice; give each switch a name of its own", Quoted(name)));
      }
    }
    graph.num_switches = static_cast<int>(graph_layout_.switches.size());
    graph.num_vertices = graph.num_switches;
  }

  std::optional<int> VertexOf(const std::string& name, const std::string& path) {
    const auto known = places_.find(name);
    if (known != places_.end()) return known->second;
    const std::optional<Terminal> terminal = TerminalOf(name);
    if (!terminal) {
      Report(path, fmt::format("no switch is called {}; expected one of the switches, or a node "
                               "such as \"node0\" or \"node0.nic0\"",
                               Quoted(name)));
      return {};
    }
    if (terminal->node >= layout_.nodes || terminal->nic >= layout_.nics_per_node) {
      Report(path, fmt::format("there is no {}; expected node0 to node{}, NICs nic0 to nic{}",
                               Quoted(name), layout_.nodes - 1, layout_.nics_per_node - 1));
      return {};
    }
    const int vertex = result_.graph.num_vertices++;
    places_.emplace(name, vertex);
    return vertex;
  }

  void AddArcs() {
    std::vector<FabricGraph::Arc>& arcs = result_.graph.arcs;
    for (std::size_t i = 0; i < graph_layout_.links.size(); ++i) {
      const FabricLink& link = graph_layout_.links[i];
      const std::optional<int> from = VertexOf(link.from, fmt::format("links[{}].from", i));
      const std::optional<int> to = VertexOf(link.to, fmt::format("links[{}].to", i));
      if (!from || !to) continue;
      if (*from == *to) {
        Report(fmt::format("links[{}].to", i),
               fmt::format("joins {} to itself; expected another vertex", Quoted(link.from)));
        continue;
      }
      arcs.push_back({*from, *to, static_cast<int>(i)});
      arcs.push_back({*to, *from, static_cast<int>(i)});
    }
    result_.graph.arcs_from.resize(result_.graph.num_vertices);
    for (std::size_t arc = 0; arc < arcs.size(); ++arc) {
      result_.graph.arcs_from[arcs[arc].from].push_back(static_cast<int>(arc));
    }
    if (graph_layout_.ports == 0) return;
    for (int i = 0; i < result_.graph.num_switches; ++i) {
      const std::size_t used = result_.graph.arcs_from[i].size();
      if (used <= static_cast<std::size_t>(graph_layout_.ports)) continue;
      Report(fmt::format("switches[{}]", i),
             fmt::format("{} has {} links, but a switch has {} ports; add switches or ports",
                         Quoted(graph_layout_.switches[i]), used, graph_layout_.ports));
    }
  }

  void FindHomes() {
    for (int node = 0; node < layout_.nodes; ++node) {
      for (int nic = 0; nic < layout_.nics_per_node; ++nic) {
        auto found = places_.find(fmt::format("node{}.nic{}", node, nic));
        if (found == places_.end()) found = places_.find(fmt::format("node{}", node));
        const bool lost = found == places_.end();
        result_.graph.home.push_back(lost ? -1 : found->second);
        if (!lost || reported_lost_) continue;
        reported_lost_ = true;  // the first says it all
        Report("links", fmt::format("node{}.nic{} has no link; join \"node{}\" or the NIC to a "
                                    "switch",
                                    node, nic, node));
      }
    }
  }

  void FindComponents() {
    FabricGraph& graph = result_.graph;
    graph.component.assign(graph.num_switches, -1);
    for (int start = 0; start < graph.num_switches; ++start) {
      if (graph.component[start] >= 0) continue;
      std::vector<int> open = {start};
      graph.component[start] = start;
      while (!open.empty()) {
        const int at = open.back();
        open.pop_back();
        for (const int arc : graph.arcs_from[at]) {
          const int to = graph.arcs[arc].to;
          if (!graph.IsSwitch(to) || graph.component[to] >= 0) continue;
          graph.component[to] = start;
          open.push_back(to);
        }
      }
    }
  }

  void CheckJoined() {
    const FabricGraph& graph = result_.graph;
    for (int nic = 0; nic < layout_.nics_per_node; ++nic) {
      for (int node = 1; node < layout_.nodes; ++node) {
        for (int other = 0; other < node; ++other) {
          const int from = graph.home[other * layout_.nics_per_node + nic];
          const int to = graph.home[node * layout_.nics_per_node + nic];
          if (graph.Joins(from, to)) {
            if (OneComponent(from) && OneComponent(to)) break;  // and so to all before
            continue;
          }
          Report("links", fmt::format("no path from node{}.nic{} to node{}.nic{}; nodes do not "
                                      "forward, so join their switches",
                                      other, nic, node, nic));
          return;
        }
      }
    }
  }

  // Whether all links of a terminal lead to one component of switches.
  bool OneComponent(int terminal) const {
    const FabricGraph& graph = result_.graph;
    const std::vector<int>& arcs = graph.arcs_from[terminal];
    return std::ranges::all_of(arcs, [&](int arc) {
      const int to = graph.arcs[arc].to;
      return graph.IsSwitch(to) && graph.component[to] == graph.component[graph.arcs[arcs[0]].to];
    });
  }

  const FabricLayout& layout_;
  const GraphLayout& graph_layout_;
  std::map<std::string, int> places_;
  FabricGraphResult result_;
  bool reported_lost_ = false;
};

}  // namespace

bool FabricGraph::Joins(int from, int to) const {
  if (from == to) return true;
  for (const int out : arcs_from[from]) {
    const int a = arcs[out].to;
    if (a == to) return true;
    for (const int in : arcs_from[to]) {
      const int b = arcs[in].to;
      if (IsSwitch(a) && IsSwitch(b) && component[a] == component[b]) return true;
    }
  }
  return false;
}

FabricGraphResult BuildFabricGraph(const FabricLayout& layout) {
  return Builder(layout).Build();
}

}  // namespace zerosim
