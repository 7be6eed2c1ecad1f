// A dragonfly with minimal routes: to the router of the group that has a link to the other group,
// over that link, to the router of the destination: at most local, global, local.
//
// Of group i's global links, link c to group j has place q = (j, less 1 if j > i) L + c, and is on
// router q / ceil((g - 1) L / a) (consecutive links to one router, as in Kim et al., ISCA 2008).
// Which of the L links a flow takes: static by destination node modulo L.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/topology/fabric.h"

namespace zerosim {

class DragonflyFabric : public Fabric {
 public:
  explicit DragonflyFabric(const FabricLayout& layout);

 private:
  bool NicsAreTogether() const override { return true; }
  void AddInnerRoute(const NicFlow& flow, std::vector<Hop>* route) const override;
  void AddInnerExchange(const NodeExchange& exchange, LoadCounter* loads) const override;
  std::string InnerName(int link_class, std::int64_t index) const override;

  // Routers count through all groups.
  std::int64_t RouterOf(int node) const { return node / nodes_per_router_; }
  std::int64_t GroupOf(std::int64_t router) const { return router / routers_; }
  // The router of group `from` with the c-th link to group `to`.
  std::int64_t Gateway(std::int64_t from, std::int64_t to, std::int64_t c) const;
  std::int64_t GlobalLink(std::int64_t from, std::int64_t to, std::int64_t c) const;
  // Between two routers of a group.
  std::int64_t LocalLink(std::int64_t from, std::int64_t to) const;
  void AddGlobalHops(std::int64_t from, std::int64_t to, std::int64_t c, double share,
                     std::vector<Hop>* route) const;

  std::int64_t groups_;
  std::int64_t routers_;  // of a group
  std::int64_t nodes_per_router_;
  std::int64_t global_links_;  // between two groups
};

}  // namespace zerosim
