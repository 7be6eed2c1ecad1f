// What a stage of a collective puts on every link of a cluster.
//
// All groups of a form run at once, in all nodes. A load is in parts of one group's whole vector:
// with a load of 0.5, a stage of 1 GB moves 0.5 GB over the link. So loads depend on no size, and
// one count serves every call of a group.
//
// Counting goes once through the nodes and what they send to others; exchanges, where all ranks are
// peers, are counted by the fabric (models/topology/loads.h): exact where each NIC serves as many
// GPUs of a group as the next, otherwise as if NICs with as many met their likes alone.
#pragma once

#include <cstdint>
#include <vector>

#include "models/collectives/schedule.h"
#include "models/network/cluster_network.h"
#include "models/parallel/groups.h"

namespace zerosim {

// By which NIC a message arrives in another node.
enum class NicRule : std::uint8_t {
  kNearest,  // that of the receiving GPU
  // That of the same number as it left by: what a rail-optimised network wants; NCCL then passes it
  // on over NVLink (PXN, NCCL 2.12). Of rings and trees, whose channels keep to a NIC, always.
  kSameNumber,
};

struct StageLoads {
  std::vector<double> arcs;   // by arc of a node, in the node where it carries most
  std::vector<double> links;  // by link of the fabric; empty for one node
  double out_of_node = 0;     // that the busiest node sends to others
  friend bool operator==(const StageLoads&, const StageLoads&) = default;
};

// Of a stage among the members of every group of the form `group`, which must be regular in nodes
// of that size (models/parallel/groups.h); otherwise throws std::invalid_argument. A switch that
// reduces is in the node or, if a group spans nodes, in the fabric: what goes to it is charged to
// the links of GPUs and NICs alone.
StageLoads LoadsOf(const ClusterNetwork& network, const Stage& stage, const ProcessGroup& group,
                   NicRule rule = NicRule::kNearest);

// Nodes and local members of a group, which must be regular.
GroupShape ShapeOf(const ClusterNetwork& network, const ProcessGroup& group);

}  // namespace zerosim
