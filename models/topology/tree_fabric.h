// Switch, fat tree, rail-optimised and rail-only networks: all are trees of subtrees, whose links
// up are in bundles.
//
// NICs have positions in a row, which a subtree of level l cuts into parts of equal size. A subtree
// has U_l links up, and U_l divides U_(l+1): a switch of level l + 1 has U_(l+1) / U_l links up.
// The path of a flow whose ends part above level k is one number x in [0, U_k), a root of the
// subtree that holds both: it takes link x mod U_l up from its subtree of each level l <= k, and
// the link of the same number down at the other end. So routes need no tables (the digits of an
// XGFT's routes: Ohring et al., IPPS 1995; Zahavi 2010 for x = destination).
//
// An exchange among n NICs of which a are in a subtree sends a (n - a) flows up from it and as many
// down.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/topology/fabric.h"

namespace zerosim {

// How NICs lie in a row.
enum class NicOrder : std::uint8_t {
  kByNode,        // the NICs of a node together
  kByPodAndRail,  // pod by pod, in it rail by rail
  kByRail,        // rail by rail
};

struct TreeLevel {
  std::int64_t size = 1;  // positions of a subtree
  std::int64_t subtrees = 1;
  std::int64_t uplinks = 1;  // of a subtree
  BytesPerSecond capacity;   // of one of them
  Seconds latency;           // of passing one
};

struct TreeShape {
  NicOrder order = NicOrder::kByNode;
  std::int64_t pod_nodes = 1;     // of kByPodAndRail
  std::int64_t rail_size = 1;     // positions of a rail, of kByRail
  std::vector<TreeLevel> levels;  // the roots are above the last
};

// Requires a layout of one of the three kinds with positive numbers.
TreeShape TreeShapeOf(const FabricLayout& layout);

class TreeFabric : public Fabric {
 public:
  explicit TreeFabric(const FabricLayout& layout);
  bool Connects(Endpoint from, Endpoint to) const override;

 private:
  bool NicsAreTogether() const override { return false; }
  void AddInnerRoute(const NicFlow& flow, std::vector<Hop>* route) const override;
  void AddInnerExchange(const NodeExchange& exchange, LoadCounter* loads) const override;
  std::string InnerName(int link_class, std::int64_t index) const override;

  std::int64_t PositionOf(Endpoint at) const;
  std::int64_t FirstUp(std::size_t level) const { return classes()[2 + 2 * level].first; }
  std::int64_t FirstDown(std::size_t level) const { return classes()[3 + 2 * level].first; }
  // Each position sends `weight` to each other. `positions` ascend.
  void AddAmong(const std::vector<std::int64_t>& positions, double weight,
                LoadCounter* loads) const;

  TreeShape shape_;
};

}  // namespace zerosim
