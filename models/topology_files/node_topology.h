// What a file of another tool says about the devices of one node and the links between them, and
// what it leaves out. The importers of this folder make it; node_yaml.h writes it.
//
// Rates are those that collectives achieve, as NCCL's search of a topology takes them
// (src/graph/topo.h, 2.28), not line rates: gpu_kinds.h and pcie_rates.h give both. A link is the
// same in both directions, and its rate is of one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/core/units.h"

namespace zerosim {

struct CatalogGpu;

enum class DeviceKind : std::uint8_t { kGpu, kNic, kSwitch };  // a switch only forwards
// kNvLink is xGMI and NVLink-C2C too.
enum class CableKind : std::uint8_t { kPcie, kNvLink, kInterSocket };

struct Device {
  DeviceKind kind = DeviceKind::kSwitch;
  std::string name;  // "gpu0", "nic0", "pcie0", "cpu0", "nvswitch0"
  std::string note;  // what the file calls it
};

struct Cable {
  std::size_t from = 0;  // index into devices
  std::size_t to = 0;
  CableKind kind = CableKind::kPcie;
  BytesPerSecond bandwidth;
  std::string note;  // of what in the file the rate comes; empty if it is a default
};

// A value and what it rests on, which is written beside it.
template <typename T>
struct Sourced {
  T value{};
  std::string source;
};

// GPUs that are linked in a way that has a name, so that a node needs no graph.
struct NamedForm {
  std::string in_node;  // nvswitch, hybrid_cube_mesh, full_mesh
  int links = 0;        // of each GPU
  std::string source;
};

struct NodeTopology {
  std::vector<Device> devices;  // GPUs, then NICs, then switches, each by number
  std::vector<Cable> links;

  Sourced<const CatalogGpu*> gpu;          // never null
  std::optional<NamedForm> form;           // nothing: only the graph says it
  Sourced<BytesPerSecond> pcie_bandwidth;  // of the slowest GPU to its switch or CPU
  std::optional<Sourced<int>> gpus_per_host_link;
  std::optional<Sourced<BytesPerSecond>> nic_bandwidth;  // line rate; nothing: not in the file
  std::vector<std::string> defaults;  // what of the links is not in the file, a sentence each

  int Count(DeviceKind kind) const;
};

}  // namespace zerosim
