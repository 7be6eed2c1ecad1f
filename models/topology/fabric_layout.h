// The network between nodes, as a user describes it.
//
// Every node has `nics_per_node` NICs, numbered as the GPUs that they are nearest to. What a kind
// says about rates holds for each direction. Two sites over a WAN are a fat tree whose last level
// is slow and far, or a graph; racks of NVL72 are a fat tree whose leaf is the rack.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "models/core/units.h"
#include "models/topology/problem.h"

namespace zerosim {

// Which of several equally short paths a message takes.
enum class Routing : std::uint8_t {
  // By the number of the destination: in fat trees d-mod-k (E. Zahavi, "D-Mod-K routing providing
  // non-blocking traffic for shift permutations on real life fat trees", 2010), in tori dimension
  // by
  // dimension, in dragonflies the global link of the destination's residue.
  kStatic,
  // By a hash of source, destination and channel; flows collide (RFC 2992). Depends on the seed.
  kEcmp,
  // Evenly over all: what adaptive routing comes to when it works. In tori over which dimension is
  // first. No path but the shortest (no Valiant, no UGAL).
  kAdaptive,
};

// All nodes on one switch, which gives each of them 1/oversubscription of its NICs' rate.
struct SwitchLayout {
  double oversubscription = 1;
  int ports = 0;  // that NICs may use; 0: enough
};

// One level of switches. A switch has `children` links down to each a switch of the level below
// (level 0: to the NICs of `children` nodes) and links up whose rates add up to those down over
// `oversubscription`.
struct FatTreeLevel {
  int children = 1;
  double oversubscription = 1;
  int uplinks = 0;             // of one switch; 0: those down over oversubscription, rounded
  Seconds extra_latency = {};  // of each link up or down above this level, beside hop_latency
};

// Levels from the leaves up, and above the last one the roots, which join all subtrees: as many as
// a subtree has links up. (An XGFT: S. Ohring et al., "On generalized fat trees", IPPS 1995.)
struct FatTreeLayout {
  std::vector<FatTreeLevel> levels;
  int ports = 0;  // of each switch; 0: enough
};

// A fat tree whose leaves hold the NICs of equal number of `levels[0].children` nodes (a pod), so
// that traffic within a rail and a pod passes one switch. Leaves count pod by pod, rail by rail.
// Above, `levels` as in a fat tree; with one level the roots join all leaves.
struct RailLayout {
  std::vector<FatTreeLevel> levels;
  int ports = 0;
  // Rails are networks of their own; traffic from rail to rail has no path (W. Wang et al.,
  // "Rail-only: A low-cost high-performance network for training LLMs with trillion parameters",
  // 2023). It changes rails over NVLink before it leaves (PXN).
  bool only = false;
};

// Groups of routers, each joined to each other of its group, and `global_links` between each two
// groups (J. Kim et al., "Technology-driven, highly-scalable dragonfly topology", ISCA 2008).
// Global links are dealt to the routers of a group in order.
struct DragonflyLayout {
  int groups = 1;
  int routers_per_group = 1;
  int nodes_per_router = 1;
  int global_links = 1;
  BytesPerSecond local_bandwidth;
  BytesPerSecond global_bandwidth;
  Seconds global_latency = {};  // of a global link, beside hop_latency
  int ports = 0;                // of each router; 0: enough
};

// One router a node, joined to two neighbours in each dimension. A dimension of 2 has both its
// links between the same two routers.
struct TorusLayout {
  std::vector<int> dimensions;  // the first one fastest in the numbers of nodes
  BytesPerSecond link_bandwidth;
};

// A link of a graph, between switches, or a switch and "node3" (which all its NICs share) or
// "node3.nic1".
struct FabricLink {
  std::string from;
  std::string to;
  BytesPerSecond bandwidth;
  Seconds latency;
};

struct GraphLayout {
  std::vector<std::string> switches;
  std::vector<FabricLink> links;
  int ports = 0;  // links of each switch at most; 0: any number
};

using FabricKind = std::variant<SwitchLayout, FatTreeLayout, RailLayout, DragonflyLayout,
                                TorusLayout, GraphLayout>;

struct FabricLayout {
  int nodes = 1;
  int nics_per_node = 1;
  BytesPerSecond nic_bandwidth;
  Seconds latency;      // of a step between nodes through one switch
  Seconds hop_latency;  // of each further switch
  FabricKind kind;
  Routing routing = Routing::kStatic;
  std::uint64_t seed = 1;  // of ECMP's hash
};

// Most links that any fabric may have, and vertices times destinations of a graph (its tables of
// routes).
constexpr std::int64_t kMaxFabricLinks = 16'000'000;
constexpr std::int64_t kMaxGraphRoutes = 64'000'000;

// Everything that keeps a layout from being a network: empty if there is nothing. Paths are fields
// of FabricLayout or of its kind ("levels[1].children").
TopologyProblems CheckFabric(const FabricLayout& layout);

// "node[0-2]" as node0, node1, node2; "node[0-1].nic[0-1]" as all four. Text without brackets is
// itself. Empty if the brackets hold no range of numbers or the names are more than a million.
std::vector<std::string> ExpandNames(const std::string& text);

}  // namespace zerosim
