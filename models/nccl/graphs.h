// What NCCL's search of the topology ends with: channels, and the bandwidth of each.
//
// NCCL tries bandwidths from a table, highest first, and packs as many rings (trees, ...) of that
// bandwidth as links allow (src/graph/search.cc, read at 2.20, 2.28.3 and 2.30). On nodes whose
// GPUs are all alike and all connected alike the outcome follows from counting; this does the
// counting. On others (NVLink meshes such as the V100's, PCIe trees with shared uplinks) it is what
// the search would find if every GPU had its links to itself.
#pragma once

#include "models/core/units.h"
#include "models/nccl/topology.h"

namespace zerosim {

// In the units of the search, which are below what data sheets promise: 20.6 GB/s of 25 an NVLink
// of an H100, 12 of 12.5 each 100 Gbps of a NIC.
struct NcclGraph {
  int channels = 0;              // 0: the algorithm cannot be used
  BytesPerSecond in_node;        // of one channel
  BytesPerSecond between_nodes;  // of one channel
};

struct NcclGraphs {
  NcclGraph ring;
  NcclGraph tree;
  NcclGraph nvls;  // channels: GPUs that lead one each
  NcclGraph collnet;
  int channels = 1;       // that rings and trees run on: the search's, doubled
  int nvls_channels = 0;  // that NVLS runs on
};

// NICs that a communicator with `group.gpus_per_node` of the node's GPUs drives: those next to
// them.
int NicsInUse(const NcclTopology& topology, const NcclGroup& group);

// Throws std::invalid_argument if a node has fewer GPUs than the group asks for, or no NIC where
// the group spans nodes.
NcclGraphs SearchGraphs(const NcclTopology& topology, const NcclGroup& group);

// Rates as the search sees them: of all NVLinks of a GPU (or its PCIe slot), and of a NIC.
BytesPerSecond SearchedGpuLink(const NcclTopology& topology);
BytesPerSecond SearchedNic(const NcclTopology& topology);

}  // namespace zerosim
