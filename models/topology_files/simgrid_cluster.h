// SimGrid's <cluster>, and the rates and durations of its platforms.
#pragma once

#include <optional>
#include <string_view>

#include "models/core/units.h"
#include "models/scenario/document.h"
#include "models/topology_files/fabric_topology.h"
#include "models/topology_files/xml_document.h"

namespace zerosim {

// The attribute as a rate ("125MBps", "10Gbps", or a number of bytes a second) or a duration
// ("50us", or a number of seconds). Reports another one; nothing if the element lacks it.
std::optional<BytesPerSecond> SimgridRate(const XmlElement& element, std::string_view attribute,
                                          Problems* problems);
std::optional<Seconds> SimgridDuration(const XmlElement& element, std::string_view attribute,
                                       Problems* problems);

// A <cluster>. Its shapes are as SimGrid's manual has them (Platform examples): FAT_TREE of
// "levels;children...;parents...;links...", TORUS of "x,y,z", DRAGONFLY of "groups,links;chassis,
// links;routers,links;nodes". A group of a dragonfly has its chassis and routers in a grid there
// and all-to-all here. Returns nothing after reporting why.
std::optional<FabricTopology> ReadSimgridCluster(const XmlElement& cluster, Problems* problems);

}  // namespace zerosim
