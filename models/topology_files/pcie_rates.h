// Rates of PCIe links and between the sockets of a node.
//
// A PCIe lane moves `transfer rate` bits a second, of which the line code leaves 8 of 10 (to 5
// GT/s), 128 of 130 (to 32 GT/s) or, in flits, 242 of 256 bytes (64 GT/s). NCCL takes 0.6 of the
// transfer rate to 5 GT/s and 0.75 above (kvDictPciGen in src/graph/topo.cc): 12 GB/s for PCIe 3.0
// x16.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "models/core/units.h"

namespace zerosim {

// The transfer rate in GT/s of "16 GT/s", "16.0 GT/s PCIe" or "8"; nothing if it is none of PCIe's.
std::optional<double> ParseTransferRate(std::string_view text);

// Of `lanes` lanes, a direction.
BytesPerSecond PcieLineRate(double transfer_rate, int lanes);
BytesPerSecond PcieNcclRate(double transfer_rate, int lanes);

// "PCIe 4.0 x16".
std::string PcieName(double transfer_rate, int lanes);

struct SocketRate {
  double gigabytes_per_second = 0;
  std::string_view of;  // "Intel Sapphire Rapids"

  bool operator==(const SocketRate&) const = default;
};

// What NCCL takes between two NUMA nodes (src/graph/topo.h: QPI_BW, SKL_QPI_BW and so on), by
// `arch`, `vendor`, and `model` of the topology file; nothing for CPUs that it does not know.
std::optional<SocketRate> NcclSocketRate(std::string_view arch, std::string_view vendor, int model);

}  // namespace zerosim
