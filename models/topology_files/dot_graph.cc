#include "models/topology_files/dot_graph.h"

#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include <fmt/format.h>

#include "models/topology/fabric.h"

namespace zerosim {
namespace {

// In double quotes; a line break is one in the drawing.
std::string Quoted(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '\n') {
      quoted += "\\n";
    } else if (static_cast<unsigned char>(c) < 0x20) {
      quoted += ' ';
    } else {
      if (c == '"' || c == '\\') quoted += '\\';
      quoted += c;
    }
  }
  return quoted + "\"";
}

std::string Text(const DotAttributes& attributes) {
  std::string text;
  for (const auto& [name, value] : attributes) {
    text += fmt::format("{}{}={}", text.empty() ? " [" : ", ", name, Quoted(value));
  }
  return text.empty() ? text : text + "]";
}

// Numbers equal items by their first occurrence.
template <typename Item>
std::vector<int> Numbered(const std::vector<Item>& items) {
  std::unordered_map<Item, int> numbers;
  std::vector<int> numbered;
  numbered.reserve(items.size());
  for (const Item& item : items) {
    numbered.push_back(numbers.emplace(item, static_cast<int>(numbers.size())).first->second);
  }
  return numbered;
}

}  // namespace

DotGraph::DotGraph(const std::string& title) {
  text_ = fmt::format(
      "graph {} {{\n"
      "  graph [label={}, labelloc=\"t\", fontname=\"sans\"]\n"
      "  node [shape=\"box\", fontname=\"sans\"]\n"
      "  edge [fontname=\"sans\", fontsize=\"10\"]\n",
      Quoted(title), Quoted(title));
}

void DotGraph::Line(const std::string& text) {
  text_ += std::string(2 * static_cast<std::size_t>(depth_), ' ') + text + '\n';
}

void DotGraph::Vertex(const std::string& name, const DotAttributes& attributes) {
  Line(Quoted(name) + Text(attributes));
}

void DotGraph::Edge(const std::string& from, const std::string& to,
                    const DotAttributes& attributes) {
  Line(Quoted(from) + " -- " + Quoted(to) + Text(attributes));
}

void DotGraph::BeginFrame(const std::string& label) {
  Line(fmt::format("subgraph {} {{", Quoted("cluster " + label)));
  ++depth_;
  Line("label=" + Quoted(label));
}

void DotGraph::EndFrame() {
  --depth_;
  Line("}");
}

std::string DotGraph::Take() && {
  return std::move(text_) + "}\n";
}

std::vector<int> AlikeVertices(const std::vector<int>& kinds,
                               const std::vector<LabelledEdge>& edges) {
  std::vector<std::string> labels;
  labels.reserve(edges.size());
  for (const LabelledEdge& edge : edges) labels.push_back(edge.label);
  const std::vector<int> label_of = Numbered(labels);
  std::vector<int> classes = Numbered(kinds);
  while (true) {
    // What a vertex sees, in any order: a sum of hashes.
    std::vector<std::uint64_t> seen(kinds.size());
    for (std::size_t v = 0; v < kinds.size(); ++v) seen[v] = Mixed(classes[v]);
    for (std::size_t i = 0; i < edges.size(); ++i) {
      const auto& [from, to, label] = edges[i];
      const std::uint64_t rate = Mixed(~static_cast<std::uint64_t>(label_of[i]));
      seen[from] += Mixed(rate + static_cast<std::uint64_t>(classes[to]));
      seen[to] += Mixed(rate + static_cast<std::uint64_t>(classes[from]));
    }
    std::vector<int> finer = Numbered(seen);
    // Classes only split: where none did, they are final.
    if (finer == classes) return classes;
    classes = std::move(finer);
  }
}

}  // namespace zerosim
