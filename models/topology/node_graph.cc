#include "models/topology/node_graph.h"

#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>

#include "models/core/diagnostics.h"

namespace zerosim {
namespace {

// Vertices that a path from `start` may end at.
std::vector<bool> Reached(const NodeGraph& graph, int start) {
  std::vector<std::vector<int>> next(graph.vertices.size());
  for (const NodeLink& link : graph.links) {
    next[link.from].push_back(link.to);
    next[link.to].push_back(link.from);
  }
  std::vector<bool> reached(graph.vertices.size(), false);
  std::vector<int> open = {start};
  reached[start] = true;
  while (!open.empty()) {
    const int at = open.back();
    open.pop_back();
    if (at != start && graph.vertices[at].kind != VertexKind::kSwitch) continue;
    for (const int to : next[at]) {
      if (reached[to]) continue;
      reached[to] = true;
      open.push_back(to);
    }
  }
  return reached;
}

void CheckPaths(const NodeGraph& graph, TopologyProblems* problems) {
  const std::vector<int> gpus = graph.Places(VertexKind::kGpu);
  if (gpus.empty()) {
    problems->push_back({"gpus", "expected at least one GPU, got none"});
    return;
  }
  for (const int gpu : gpus) {
    const std::vector<bool> reached = Reached(graph, gpu);
    for (int place = 0; place < static_cast<int>(graph.vertices.size()); ++place) {
      const Vertex& vertex = graph.vertices[place];
      if (vertex.kind == VertexKind::kSwitch || reached[place]) continue;
      problems->push_back(
          {"links", fmt::format("no path from {} to {}; GPUs and NICs do not forward, so join them "
                                "by a link or through switches",
                                Quoted(graph.vertices[gpu].name), Quoted(vertex.name))});
      return;  // the others follow from it as a rule
    }
  }
}

}  // namespace

std::vector<int> NodeGraph::Places(VertexKind kind) const {
  std::vector<int> places;
  for (int place = 0; place < static_cast<int>(vertices.size()); ++place) {
    if (vertices[place].kind == kind) places.push_back(place);
  }
  return places;
}

std::string NodeGraph::ArcName(int arc) const {
  return vertices[ArcFrom(arc)].name + " to " + vertices[ArcTo(arc)].name;
}

TopologyProblems CheckNodeGraph(const NodeGraph& graph) {
  TopologyProblems problems;
  std::set<std::string> names;
  for (std::size_t i = 0; i < graph.vertices.size(); ++i) {
    const std::string& name = graph.vertices[i].name;
    if (!names.insert(name).second) {
      problems.push_back(
          {fmt::format("vertices[{}]", i),
           fmt::format("{} is there twice; give each vertex a name of its own", Quoted(name))});
    }
  }
  const int num_vertices = static_cast<int>(graph.vertices.size());
  bool ends_exist = true;
  for (std::size_t i = 0; i < graph.links.size(); ++i) {
    const NodeLink& link = graph.links[i];
    const double rate = link.bandwidth.bytes_per_second();
    if (!(rate > 0) || !std::isfinite(rate)) {
      problems.push_back({fmt::format("links[{}].bandwidth", i),
                          "expected a rate above 0; leave out a link that carries nothing"});
    }
    if (!(link.latency.seconds() >= 0) || !std::isfinite(link.latency.seconds())) {
      problems.push_back({fmt::format("links[{}].latency", i), "expected a latency of 0 or more"});
    }
    if (link.from < 0 || link.from >= num_vertices || link.to < 0 || link.to >= num_vertices) {
      problems.push_back(
          {fmt::format("links[{}]", i),
           fmt::format("joins vertices {} and {} of {}", link.from, link.to, num_vertices)});
      ends_exist = false;
    } else if (link.from == link.to) {
      problems.push_back({fmt::format("links[{}].to", i),
                          fmt::format("joins {} to itself; expected another vertex",
                                      Quoted(graph.vertices[link.from].name))});
    }
  }
  if (ends_exist) CheckPaths(graph, &problems);
  return problems;
}

NodeGraphResult BuildNodeGraph(const NodeGraphText& text) {
  NodeGraphResult result;
  std::map<std::string, int> places;
  const auto add = [&](VertexKind kind, const std::string& name) {
    const int place = static_cast<int>(result.graph.vertices.size());
    if (!places.emplace(name, place).second) return false;
    result.graph.vertices.push_back({kind, name});
    return true;
  };
  for (int i = 0; i < text.gpus; ++i) add(VertexKind::kGpu, fmt::format("gpu{}", i));
  for (int i = 0; i < text.nics; ++i) add(VertexKind::kNic, fmt::format("nic{}", i));
  for (std::size_t i = 0; i < text.switches.size(); ++i) {
    if (!add(VertexKind::kSwitch, text.switches[i])) {
      result.problems.push_back(
          {fmt::format("switches[{}]", i),
           fmt::format("{} is there twice; give each switch a name of its own, not that of a GPU "
                       "or NIC",
                       Quoted(text.switches[i]))});
    }
  }
  for (std::size_t i = 0; i < text.links.size(); ++i) {
    const NamedNodeLink& link = text.links[i];
    const auto from = places.find(link.from);
    const auto to = places.find(link.to);
    const auto report = [&](const char* end, const std::string& name) {
      result.problems.push_back(
          {fmt::format("links[{}].{}", i, end),
           fmt::format("no vertex is called {}; expected gpu0 to gpu{}, a NIC (of {}) or one of "
                       "the switches",
                       Quoted(name), text.gpus - 1, text.nics)});
    };
    if (from == places.end()) report("from", link.from);
    if (to == places.end()) report("to", link.to);
    if (from == places.end() || to == places.end()) continue;
    result.graph.links.push_back(
        {from->second, to->second, link.bandwidth, link.latency, link.kind});
  }
  // Paths of links count as written only if none was left out.
  const TopologyProblems more = CheckNodeGraph(result.graph);
  if (result.problems.empty()) result.problems = more;
  return result;
}

}  // namespace zerosim
