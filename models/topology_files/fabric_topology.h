// What a file of another tool says about the network between nodes, and what it leaves out. The
// importers of this folder make it; fabric_yaml.h writes it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "models/core/units.h"
#include "models/topology_files/node_topology.h"

namespace zerosim {

// One switch, or a backbone, between all nodes.
struct SwitchShape {
  std::optional<Sourced<double>> oversubscription;
};

// A level of a fat tree: so many nodes, or switches of the level below, under each switch.
struct FatTreeTier {
  std::int64_t children = 0;
  std::optional<Sourced<double>> oversubscription;
  std::string note;
};
struct FatTreeShape {
  std::vector<FatTreeTier> levels;  // from the leaves up
};

struct TorusShape {
  std::vector<std::int64_t> dimensions;
};

struct DragonflyShape {
  std::int64_t groups = 0;
  std::int64_t routers_per_group = 0;
  std::int64_t nodes_per_router = 0;
  std::int64_t global_links = 0;  // between each pair of groups
  BytesPerSecond local_bandwidth;
  BytesPerSecond global_bandwidth;
};

// Any switches and links. An end of a link is a switch or nodes: "leaf0", "node3", "node[0-15]",
// of which each has a link of its own.
struct GraphCable {
  std::string from;
  std::string to;
  std::optional<BytesPerSecond> bandwidth = {};
  std::int64_t nodes_below = 1;  // of a link without bandwidth: how many it is to serve
  std::optional<Seconds> latency = {};
  std::string note = {};
};
struct GraphShape {
  std::vector<std::pair<std::string, std::string>> switches;  // name, what the file calls it
  std::vector<GraphCable> links;
};

struct FabricTopology {
  std::int64_t nodes = 0;
  std::vector<std::string> node_notes;  // which nodes of the file are which
  std::variant<SwitchShape, FatTreeShape, TorusShape, DragonflyShape, GraphShape> kind;
  std::optional<Sourced<BytesPerSecond>> node_bandwidth;  // of a node's link, a direction
  std::optional<Sourced<Seconds>> latency;                // between two nodes by one switch
  std::optional<Sourced<Seconds>> hop_latency;            // of each further switch
};

}  // namespace zerosim
