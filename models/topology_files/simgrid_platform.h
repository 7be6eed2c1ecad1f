// A SimGrid platform (XML, DTD 3 and 4) as a fabric whose nodes are the platform's hosts.
//
// Read are <cluster> (a switch, FAT_TREE, TORUS or DRAGONFLY) and one <zone> or <AS> of hosts,
// routers, links and routes. Each route of one link is a cable; of several links from one host they
// are chained, the slowest counts and latencies add up. A route of the routing Full whose links are
// a private one of each end and at most one of all (a backbone) is a switch.
//
// Refused: zones in zones, a link in routes of different ends other than that backbone, wifi links,
// traces of changing rates. Not read: speeds and cores of hosts, disks, properties, trunks
// of SPLITDUPLEX (each direction has the rate that is given, as here).
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
