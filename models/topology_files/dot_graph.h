// Text of a Graphviz graph.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace zerosim {

// Attributes of a vertex or edge, in order; values are text, which is quoted.
using DotAttributes = std::vector<std::pair<std::string, std::string>>;

// An undirected graph that grows line by line. Names and values may be any text.
class DotGraph {
 public:
  explicit DotGraph(const std::string& title);

  void Vertex(const std::string& name, const DotAttributes& attributes);
  void Edge(const std::string& from, const std::string& to, const DotAttributes& attributes);
  // What follows until EndFrame() is inside of a frame with that label.
  void BeginFrame(const std::string& label);
  void EndFrame();

  std::string Take() &&;

 private:
  void Line(const std::string& text);

  std::string text_;
  int depth_ = 1;
};

// Vertices of a graph, such that any two of a class have as many links of each rate to each class
// (an equitable partition, by refining colours: B. Weisfeiler and A. Leman, 1968).
struct LabelledEdge {
  int from = 0;
  int to = 0;
  std::string label;  // edges are alike where labels are equal
};

// The class of each vertex, numbered by their first vertices. `kinds` tells vertices apart to begin
// with. Vertices are compared by 64-bit hashes of what they are linked to, in at most as many
// rounds as a shortest path has links.
std::vector<int> AlikeVertices(const std::vector<int>& kinds,
                               const std::vector<LabelledEdge>& edges);

}  // namespace zerosim
