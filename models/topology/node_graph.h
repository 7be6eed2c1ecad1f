// What is inside of one node: GPUs, NICs and switches, and the links between them.
//
// GPUs and NICs end paths, they forward nothing; switches (PCIe switches, NVSwitches, and the CPUs
// as roots of PCIe) only forward. A link has the stated rate in each direction at the same time
// (full duplex), and all traffic of one direction shares it.
//
// Not modelled: forwarding by GPUs (NCCL's NVB paths), limits of a switch's inside, peer-to-peer
// traffic that a CPU's root complex slows down.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/core/units.h"
#include "models/topology/problem.h"

namespace zerosim {

enum class VertexKind : std::uint8_t { kGpu, kNic, kSwitch };
enum class NodeLinkKind : std::uint8_t { kNvLink, kPcie, kInterSocket };

struct Vertex {
  VertexKind kind = VertexKind::kSwitch;
  std::string name;  // unique in the node: "gpu0", "nic1", "cpu0"
};

// Between two vertices, named by their places in NodeGraph::vertices. Several links may join the
// same two.
struct NodeLink {
  int from = 0;
  int to = 0;
  BytesPerSecond bandwidth;  // of each direction
  Seconds latency;
  NodeLinkKind kind = NodeLinkKind::kPcie;
};

// Vertices in any order; GPU k is the k-th vertex of that kind, and so are NICs.
struct NodeGraph {
  std::vector<Vertex> vertices;
  std::vector<NodeLink> links;

  // Places of the vertices of a kind.
  std::vector<int> Places(VertexKind kind) const;
  int num_gpus() const { return static_cast<int>(Places(VertexKind::kGpu).size()); }
  int num_nics() const { return static_cast<int>(Places(VertexKind::kNic).size()); }

  // One direction of a link is an arc: arc 2 i leads from links[i].from to links[i].to, arc 2 i + 1
  // back.
  int num_arcs() const { return 2 * static_cast<int>(links.size()); }
  int ArcFrom(int arc) const { return arc % 2 == 0 ? links[arc / 2].from : links[arc / 2].to; }
  int ArcTo(int arc) const { return arc % 2 == 0 ? links[arc / 2].to : links[arc / 2].from; }
  // "gpu0 to pcie1"; of parallel links the same.
  std::string ArcName(int arc) const;
};

// A link as text names it.
struct NamedNodeLink {
  std::string from;
  std::string to;
  BytesPerSecond bandwidth;
  Seconds latency;
  NodeLinkKind kind = NodeLinkKind::kPcie;
};

// What a user writes: numbers of GPUs ("gpu0", "gpu1", ...) and NICs ("nic0", ...), the names of
// switches, and links.
struct NodeGraphText {
  int gpus = 0;
  int nics = 0;
  std::vector<std::string> switches;
  std::vector<NamedNodeLink> links;
};

// The graph of such a text. Links whose ends no vertex has are left out and reported; so is all
// that CheckNodeGraph finds. Paths are "switches[0]", "links[3].from", or of the graph as a whole
// "links".
struct NodeGraphResult {
  NodeGraph graph;
  TopologyProblems problems;
};
NodeGraphResult BuildNodeGraph(const NodeGraphText& text);

// Unique names, positive finite rates, no link from a vertex to itself, and a path from each GPU to
// each GPU and NIC that only switches forward.
TopologyProblems CheckNodeGraph(const NodeGraph& graph);

}  // namespace zerosim
