// The sums that counting a stage ends with: what messages put on the links of nodes and fabric.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "models/network/cluster_network.h"
#include "models/network/stage_loads.h"
#include "models/topology/fabric.h"
#include "models/topology/node_routes.h"

namespace zerosim {

class LoadTally {
 public:
  // `alike`: every node sends and receives alike, so that one, node 0, is counted for all.
  LoadTally(const ClusterNetwork& network, bool alike);

  bool alike() const { return alike_; }
  // Whether flows out of node 0 are enough: those of the others are the same on a switch.
  bool OneNodeIsEnough() const { return alike_ && network_.one_switch; }

  // On the links of every node, along a path.
  void PassInEach(const NodePath& path, double load);
  // On the links of `node` beside those.
  void Pass(int node, const NodePath& path, double load);
  // That `node` sends to others.
  void SendOut(int node, double load) { out_[alike_ ? 0 : node] += load; }
  // On the fabric, without the links of nodes. Throws std::invalid_argument if it has no path.
  void Flow(const NicFlow& flow);
  // From each of `nics`, which are distinct, to the NIC of its number.
  void Flows(int from, int to, std::span<const int> nics, double load);
  // `scale` times loads by link, of all nodes.
  void OnLinks(const std::vector<double>& loads, double scale);
  void OnLink(std::int64_t link, double load);

  // Ends the counting.
  StageLoads Result() &&;

 private:
  // What the flows of one node put on the links of a switch, all nodes put there alike.
  void SpreadOverNodes(std::vector<double>* links) const;

  const ClusterNetwork& network_;
  bool alike_;
  int arcs_per_node_;
  std::vector<double> arcs_;            // by node and arc, or of any node where all are alike
  std::vector<double> each_;            // by arc, the same in all nodes
  std::vector<double> out_;             // by node, or of any
  std::optional<LoadCounter> counter_;  // of flows
  std::vector<Hop> route_;              // room to work in
  std::vector<double> on_links_;        // by link
};

}  // namespace zerosim
