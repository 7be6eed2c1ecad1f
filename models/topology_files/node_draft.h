// A node while an importer finds its devices: in any order, and some of them dropped again.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "models/topology_files/node_topology.h"

namespace zerosim {

class NodeDraft {
 public:
  // Adds a GPU, a NIC or a switch and returns its index. Switches are named at once, after `prefix`
  // and their number of it; GPUs and NICs by Finish.
  std::size_t AddGpu(std::string note);
  std::size_t AddNic(std::string note);
  std::size_t AddSwitch(const std::string& prefix, std::string note);
  void AddLink(std::size_t from, std::size_t to, CableKind kind, BytesPerSecond bandwidth,
               std::string note);

  // Takes a device away, with its links.
  void Drop(std::size_t device);
  bool HasLinks(std::size_t device) const;
  bool HasChildren(std::size_t device) const;  // links that lead to it

  // The devices that are left and their links, in the order of NodeTopology. `rank[device]`, where
  // it is given, orders GPUs; the others stay as they were added.
  void Finish(const std::map<std::size_t, int>& rank, NodeTopology* node) const;

 private:
  std::size_t Add(DeviceKind kind, std::string name, std::string note);

  std::vector<Device> devices_;
  std::vector<bool> dropped_;
  std::vector<Cable> links_;
  std::map<std::string, int> switches_;  // by prefix
};

}  // namespace zerosim
