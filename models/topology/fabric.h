// Networks between nodes: their links, and which of them a message passes.
//
// A fabric numbers its links without listing them, by classes: links of one capacity and one place
// in the network. Each is one direction, and class 0 and 1 are what NICs send and receive. Regular
// kinds compute routes from numbers in time proportional to the hops; a graph keeps tables.
//
// Loads are counted in units of one flow's bytes: a load of 2 on a link means that it carries twice
// what one flow of weight 1 sends.
//
// Not modelled: congestion of buffers, priorities, failed links, detours that adaptive routing
// takes over longer paths.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "models/core/units.h"
#include "models/topology/fabric_layout.h"

namespace zerosim {

// A NIC of a node.
struct Endpoint {
  int node = 0;
  int nic = 0;
  friend bool operator==(Endpoint, Endpoint) = default;
};

// Bytes from a NIC to a NIC of another node. Whoever wants PXN (traffic changes rails over NVLink
// and leaves by the NIC of the number where it arrives) gives the same `nic` at both ends.
struct NicFlow {
  Endpoint from;
  Endpoint to;
  double weight = 1;  // in units of the caller
};

struct FabricLinkClass {
  std::string name;         // "nic out", "level 1 up", "global"
  BytesPerSecond capacity;  // of each
  Seconds latency;          // of passing one
  std::int64_t first = 0;   // link number
  std::int64_t count = 0;
  // Links that are alternatives for all that passes them lie in bundles of so many, one bundle
  // after the other from `first` on.
  std::int64_t bundle = 1;
};

// A part of a route: `share` of the flow, evenly over links `link` to `link + width - 1`, which are
// one link or one whole bundle.
struct Hop {
  std::int64_t link = 0;
  std::int64_t width = 1;
  double share = 1;
};

// An all-to-all: every NIC of `nics` of every node sends `weight` to each other node, to the NIC of
// its own number, or to all of `nics` evenly.
struct NodeExchange {
  std::span<const int> nodes;  // distinct
  std::span<const int> nics;   // distinct
  bool same_nic = true;
  double weight = 1;
};

class LoadCounter;

class Fabric {
 public:
  virtual ~Fabric() = default;

  const std::vector<FabricLinkClass>& classes() const { return classes_; }
  std::int64_t num_links() const { return classes_.back().first + classes_.back().count; }
  int nodes() const { return layout_.nodes; }
  int nics_per_node() const { return layout_.nics_per_node; }
  Routing routing() const { return layout_.routing; }
  std::uint64_t seed() const { return layout_.seed; }

  // The class of a link, and its name: "node3.nic1 out".
  int ClassOf(std::int64_t link) const;
  std::string LinkName(std::int64_t link) const;

  // Whether there is a path; only rails that are networks of their own lack some.
  virtual bool Connects(Endpoint from, Endpoint to) const;

  // Appends to `*route` what a flow passes, in any order where it splits. Requires ends in
  // different nodes that are connected.
  void AddRoute(const NicFlow& flow, std::vector<Hop>* route) const;

  // Adds the loads of a flow of `weight` from one node to another on each of `nics`, to the NIC of
  // its own number. `route` is room to work in.
  void AddFlows(int from, int to, std::span<const int> nics, double weight, std::vector<Hop>* route,
                LoadCounter* loads) const;

  // Adds the loads of an exchange, as adding all its flows would (ECMP: their mean over all seeds),
  // without going through all pairs.
  void AddExchange(const NodeExchange& exchange, LoadCounter* loads) const;

 protected:
  explicit Fabric(const FabricLayout& layout);

  // Appends a class after the last one and returns its number.
  int AddClass(std::string name, BytesPerSecond capacity, Seconds latency, std::int64_t count,
               std::int64_t bundle = 1);

  std::int64_t EndpointNumber(Endpoint at) const {
    return static_cast<std::int64_t>(at.node) * layout_.nics_per_node + at.nic;
  }
  // The hash that ECMP picks a path of `flow` by.
  std::uint64_t HashOf(const NicFlow& flow) const;

  const FabricLayout& layout() const { return layout_; }

 private:
  // Whether all NICs of a node are at one place, so that but for ECMP they share their routes.
  virtual bool NicsAreTogether() const = 0;
  // As the public ones, without the links of the NICs.
  virtual void AddInnerRoute(const NicFlow& flow, std::vector<Hop>* route) const = 0;
  virtual void AddInnerExchange(const NodeExchange& exchange, LoadCounter* loads) const = 0;
  // Of the `index`-th link of a class beyond the NICs'.
  virtual std::string InnerName(int link_class, std::int64_t index) const = 0;

  FabricLayout layout_;
  std::vector<FabricLinkClass> classes_;
};

// The fabric of a layout that CheckFabric accepts; otherwise throws std::invalid_argument with what
// it says.
std::unique_ptr<const Fabric> MakeFabric(const FabricLayout& layout);

// Sums up what links carry.
class LoadCounter {
 public:
  explicit LoadCounter(const Fabric& fabric) : fabric_(fabric), single_(fabric.num_links(), 0) {}

  void Add(std::int64_t link, double load) { single_[link] += load; }
  // Evenly over a bundle, given by its first link.
  void AddBundle(std::int64_t first, double load) {
    if (spread_.empty()) spread_.resize(single_.size(), 0);
    spread_[first] += load;
  }
  void Add(const Hop& hop, double weight) {
    if (hop.width == 1) {
      Add(hop.link, weight * hop.share);
    } else {
      AddBundle(hop.link, weight * hop.share);
    }
  }

  // By link. Ends the counting: networks have millions of links, which are not copied.
  std::vector<double> Loads() &&;

 private:
  const Fabric& fabric_;
  std::vector<double> single_;
  std::vector<double> spread_;  // at the first link of each bundle; empty if there are none
};

// A well mixed function of its argument (S. Vigna's splitmix64), for hashes that are the same on
// every machine.
std::uint64_t Mixed(std::uint64_t value);

}  // namespace zerosim
