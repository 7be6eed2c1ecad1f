// A torus of any number of dimensions: a router a node, routes along one dimension after the other.
//
// In a dimension of k routers a flow goes the shorter way round; if both are k/2 long, a static
// route goes up from routers of even coordinate and down from odd ones, others are halved (ECMP:
// one of both). Static routes take the dimensions in order (dimension-order routing, W. Dally and
// C. Seitz, 1987), ECMP starts with any dimension and goes on from there in a circle, adaptive
// routing is split over these orders evenly.
//
// The loads of an exchange come apart: when dimension d's turn is, a flow has the destination's
// coordinates in the dimensions before and its source's in those to come, so on each line of
// routers along d the flows from s to t are (sources that may be at s) times (destinations that may
// be at t).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/topology/fabric.h"

namespace zerosim {

class TorusFabric : public Fabric {
 public:
  explicit TorusFabric(const FabricLayout& layout);

 private:
  bool NicsAreTogether() const override { return true; }
  void AddInnerRoute(const NicFlow& flow, std::vector<Hop>* route) const override;
  void AddInnerExchange(const NodeExchange& exchange, LoadCounter* loads) const override;
  std::string InnerName(int link_class, std::int64_t index) const override;

  int num_dimensions() const { return static_cast<int>(sizes_.size()); }
  int Coordinate(int node, int dimension) const {
    return node / strides_[dimension] % sizes_[dimension];
  }
  // The link of a node's router up (direction 0) or down (1) a dimension.
  std::int64_t LinkOf(int node, int dimension, int direction) const {
    return classes()[2 + dimension].first + 2 * static_cast<std::int64_t>(node) + direction;
  }
  // Shares of a flow from coordinate `from` to `to` that go up and down.
  struct Ways {
    double up = 0;
    double down = 0;
  };
  Ways WaysOf(int dimension, int from, int to) const;

  // The route that starts with dimension `first`. Where both ways are as long, one by a bit of
  // `hash`, or without a hash as WaysOf says.
  void AddRouteInOrder(const NicFlow& flow, int first, double share,
                       std::optional<std::uint64_t> hash, std::vector<Hop>* route) const;
  // The loads of an exchange whose routes start so; members[node] is 1 or 0.
  void AddExchangeInOrder(const std::vector<double>& members, int first, double weight,
                          LoadCounter* loads) const;

  std::vector<int> sizes_;
  std::vector<int> strides_;
};

}  // namespace zerosim
