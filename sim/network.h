// The links that engines share out, as classes of equal links that carry equal loads.
//
// On a two-level cluster of equal nodes every collective of a ZeRO step loads all GPUs alike and
// all NICs alike, and each direction of a link as much as the other. Links of one capacity that
// carry the same bytes in every collective get the same share of time under max-min fairness, so
// each class is simulated as one link, whatever the number of nodes. This is exact, not an
// approximation; tests compare it with a platform that has every link. Where the NICs do not divide
// the GPUs of a node, a class stands for its busiest link, and all-to-alls come out up to 8 % fast.
//
// Not modelled: switches inside of the fabric beyond one oversubscription ratio, adaptive routing,
// congestion of a receiver (incast). Nor PCIe between the GPUs of a node: there what a GPU sends to
// its peers and to a NIC would share one slot, and slots the links above them.
#pragma once

#include <string>
#include <vector>

#include "models/core/ids.h"
#include "models/core/units.h"
#include "models/hardware/hardware.h"

namespace zerosim {

struct LinkClass {
  std::string name;         // "gpu link", "nic", "fabric"
  BytesPerSecond capacity;  // achieved, a direction
  std::int64_t count = 0;   // links of the class in the cluster, a direction each
};

// Classes in a fixed order, so that their places can be named.
struct NetworkModel {
  static constexpr LinkId kGpuLink{0};  // one GPU to the others of its node
  static constexpr LinkId kNic{1};      // one NIC
  static constexpr LinkId kFabric{2};   // one node's share of the switch between the nodes

  std::vector<LinkClass> links;
  Seconds gpu_latency;             // of a step that stays in the node
  Seconds nic_latency;             // of a step that leaves it
  Seconds launch;                  // of a collective call
  double all_to_all_fraction = 1;  // of the NIC rate that an all-to-all achieves
  double collective_share = 0;     // of a GPU's rate that a running collective takes from kernels
  int nodes = 1;
  int gpus_per_node = 1;
  int nics_per_node = 1;
};

// Capacities with the calibration applied; a NIC is no faster than its PCIe slot.
NetworkModel NetworkOf(const ClusterSpec& cluster);

}  // namespace zerosim
