// The links that engines share out, as classes of equal links that carry equal loads.
//
// On a two-level cluster of equal nodes every collective of a ZeRO step loads all GPUs alike and
// all NICs alike, and each direction of a link as much as the other. Links of one capacity that
// carry the same bytes in every collective get the same share of time under max-min fairness, so
// each class is simulated as one link, whatever the number of nodes. This is exact, not an
// approximation; tests compare it with a platform that has every link. Where the NICs do not divide
// the GPUs of a node, a class stands for its busiest link, and all-to-alls come out up to 8 % fast.
//
// Stages that share a node have the NICs of their GPUs, for rings too. What they send on a NIC at
// the same time gets equal shares a collective or send in the fluid engine, and a message in the
// message engine, where the GPUs on a NIC send one each and a ring one: in 1500 random pipelines
// the step differs by up to 1.5 % for that (tests/sim/properties_test.cc).
//
// Clusters of other forms bring their own links (topology_lowering.h).
//
// Not modelled: congestion of a receiver (incast). Nor that a GPU's copies to the host pass the
// PCIe switch that its NIC's transfers pass too, or that copies of both directions share the host's
// memory. Nor PCIe between the GPUs of a node: there what a GPU sends to its peers and to a NIC
// would share one slot, and slots the links above them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "models/core/ids.h"
#include "models/core/units.h"
#include "models/hardware/hardware.h"
#include "models/network/cluster_network.h"
#include "models/parallel/groups.h"

namespace zerosim {

struct LinkClass {
  std::string name;         // "gpu link", "nic", "fabric", "pcie to host", "pcie from host"
  BytesPerSecond capacity;  // achieved, a direction
  std::int64_t count = 0;   // links of the class in the cluster, a direction each
  int stage = 0;            // of a pipeline, whose ranks they belong to
};

enum class Direction : std::uint8_t { kOut, kIn };

// Classes in a fixed order, so that their places can be named. The stages of a pipeline do
// different things, and what one sends another receives: then each stage's GPUs, the NICs that
// serve the same stages and the nodes that hold the same have classes of their own, and each
// direction too.
struct NetworkModel {
  // Kinds of links. Without a pipeline each is one class, at that place.
  static constexpr LinkId kGpuLink{0};  // one GPU to the others of its node
  static constexpr LinkId kNic{1};      // one NIC
  static constexpr LinkId kFabric{2};   // one node's share of the switch between the nodes
  // One GPU's part of its PCIe link to the host's memory, a direction.
  static constexpr LinkId kToHost{3};
  static constexpr LinkId kFromHost{4};
  static constexpr int kNumKinds = 5;

  std::vector<LinkClass> links;
  Seconds gpu_latency;             // of a step that stays in the node
  Seconds nic_latency;             // of a step that leaves it
  Seconds launch;                  // of a collective call
  Seconds copy_launch;             // of a copy to or from the host
  double all_to_all_fraction = 1;  // of the NIC rate that an all-to-all achieves
  double collective_share = 0;     // of a GPU's rate that a running collective takes from kernels
  int nodes = 1;
  int gpus_per_node = 1;
  int nics_per_node = 1;
  ProcessGroup pipeline;  // its stages, and how far apart their ranks are

  // Nodes that are not as the others, and the slowest of each stage's, at whose speed the classes
  // of links are (node_speeds.h).
  std::map<int, NodeSpeeds> exceptions;
  std::vector<NodeSpeeds> slowest;

  NodeSpeeds SpeedsOf(int node) const {
    const auto found = exceptions.find(node);
    return found == exceptions.end() ? NodeSpeeds() : found->second;
  }

  // Of a cluster with more than equal nodes on one switch (topology_lowering.h): its links stand
  // after the classes of the kinds, at places whose remainder is their kind, with nothing between.
  std::shared_ptr<const ClusterNetwork> topology;
  std::vector<LinkId> arcs;          // by arc of a node
  std::vector<LinkId> fabric_links;  // by class of the fabric

  static LinkId KindOf(LinkId link) { return LinkId{link.value % kNumKinds}; }
  bool has_pipeline() const { return pipeline.size > 1; }

  // The class of a stage's links. Without a pipeline both directions are one.
  LinkId LinkOf(LinkId kind, int stage, Direction direction) const;

  // What links of that class are called when stages are not told apart.
  std::string KindName(LinkId link) const;

  // The stage that a rank belongs to.
  int stage_of(int rank) const;

  // Stages that share a node, and the place of a stage among those that do not.
  int stages_per_node() const;
  int node_class(int stage) const { return stage / stages_per_node(); }

  // The same of NICs, which serve equal parts of a node's GPUs; and how many NICs of a node serve
  // the GPUs of one stage. Where the NICs do not divide the GPUs, all stages share them.
  int stages_per_nic() const;
  int nic_class(int stage) const { return stage / stages_per_nic(); }
  int nics_per_stage() const { return nics_per_node * stages_per_nic() / stages_per_node(); }
};

// Capacities with the calibration applied; a NIC is no faster than its PCIe slot.
NetworkModel NetworkOf(const ClusterSpec& cluster, const ProcessGroup& pipeline = {});

// The fraction of a NIC's line rate that its PCIe slot lets pass; infinite if the slot is unknown.
double PcieFraction(const ClusterSpec& cluster);

}  // namespace zerosim
