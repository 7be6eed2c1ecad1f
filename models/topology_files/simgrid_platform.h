// A SimGrid platform (XML, DTD 3 and 4) as a fabric whose nodes are the platform's hosts.
//
// Read are one <cluster> (a switch, FAT_TREE, TORUS or DRAGONFLY: simgrid_cluster.h) or one <zone>
// or <AS> of hosts, routers, links and routes. There a route whose links no other route has is a
// cable: of several links the slowest counts and latencies add up, and the NICs of nodes are as
// fast as the cables of the fastest host. Routes that lead over a link of each end, all with the
// same rate, and at most one link between them are a switch.
//
// Refused: several zones, other routes that share links, <peer>, <cabinet>, <include>, bypasses and
// traces of changing rates. Not read: speeds, cores and disks of hosts, properties.
#pragma once

#include <optional>
#include <string>

#include "models/scenario/document.h"
#include "models/topology_files/fabric_topology.h"

namespace zerosim {

// Reads `text`, reported at `file`. Returns nothing after reporting why.
std::optional<FabricTopology> ReadSimgridPlatform(const std::string& text, const std::string& file,
                                                  Problems* problems);

}  // namespace zerosim
