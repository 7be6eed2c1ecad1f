// What a pattern puts on the links of a fabric.
//
// Time of a stage on a class is (load of its busiest link) x (bytes of a flow) / (its capacity).
// All cost at most as much as links and flows together; an all-to-all as said in fabric.h, so that
// 131,072 NICs take milliseconds.
#pragma once

#include <string>
#include <vector>

#include "models/core/units.h"
#include "models/topology/fabric.h"
#include "models/topology/patterns.h"

namespace zerosim {

// By link, in units of a flow's bytes. Throws std::invalid_argument for a flow whose ends are not
// in the fabric, in one node, or not connected.
std::vector<double> FlowLoads(const Fabric& fabric, const std::vector<NicFlow>& flows);

// Adds one flow. Throws as FlowLoads. `route` is room to work in.
void AddFlow(const Fabric& fabric, const NicFlow& flow, std::vector<Hop>* route,
             LoadCounter* loads);

// The same of a pattern. Throws std::invalid_argument if its nodes or NICs are not in the fabric.
std::vector<double> PatternLoads(const Fabric& fabric, const TrafficPattern& pattern);

// An all-to-all in each group at once: every NIC of `nics` of every node sends weight 1 to each
// other node of its group, to the NIC of its own number (a group of ranks of equal local place, or
// PXN) or to all of `nics` evenly (all ranks, without PXN).
//
// Under ECMP up to kMaxHashedFlows flows are hashed each on its own. Beyond, each bundle of links
// gets its true sum, dealt to its links with the spread that independent hashes have (multinomial,
// by its normal approximation); the collisions differ then from those that AddRoute would give, and
// links that are not in bundles carry their mean.
//
// Throws std::invalid_argument as above.
enum class ExchangeNics : std::uint8_t { kSame, kAll };
std::vector<double> ExchangeLoads(const Fabric& fabric, const NodeGroups& groups,
                                  const std::vector<int>& nics, ExchangeNics to);
constexpr double kMaxHashedFlows = 100'000;

// Of one class of links.
struct ClassLoad {
  double busiest = 0;
  double total = 0;
};
std::vector<ClassLoad> ClassLoads(const Fabric& fabric, const std::vector<double>& loads);

// What a class needs for flows of `bytes`, and the largest of it over all.
Seconds BusiestTime(const Fabric& fabric, const std::vector<ClassLoad>& loads, Bytes bytes);

// The mean latency of a message over its path, by weight; 0 if nothing was sent.
Seconds MeanLatency(const Fabric& fabric, const std::vector<ClassLoad>& loads);

// The latency of one flow; of paths that split, the mean.
Seconds LatencyOf(const Fabric& fabric, const NicFlow& flow);

// One link of a network that is small enough to be written out.
struct ExpandedLink {
  std::string name;
  int link_class = 0;  // place in Fabric::classes()
  BytesPerSecond capacity;
  Seconds latency;
};

// All links, by number, for a simulation of every message; a flow's are those of its route
// (ExpandedRoute). Throws std::invalid_argument if there are more than kMaxExpandedLinks.
constexpr std::int64_t kMaxExpandedLinks = 200'000;
std::vector<ExpandedLink> Expand(const Fabric& fabric);

// Each link of a flow's route once, bundles written out: {link, 1, share}, by link.
std::vector<Hop> ExpandedRoute(const Fabric& fabric, const NicFlow& flow);

}  // namespace zerosim
