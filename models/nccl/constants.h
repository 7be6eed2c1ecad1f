// The numbers of NCCL's cost model, by version.
//
// Read in NVIDIA/nccl, src/graph/tuning.cc: at 2.8 (commit 01afd20), 2.20 (b647562), between 2.23
// and 2.27, at 2.28.3 and at 2.30. A version between two of those has the older one's numbers,
// except where a release is known to have changed one: NVLS 25 us from 2.21, Tree Simple from 2.23,
// NVLSTree 20.9 us from 2.28.4. Restated; no code is copied.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "models/core/units.h"
#include "models/nccl/nccl.h"

namespace zerosim {

enum class GpuGeneration : std::uint8_t { kVolta, kAmpere, kHopper, kBlackwell };
constexpr std::size_t kGpuGenerations = 4;

GpuGeneration GenerationOf(int compute_capability);

using ByNodes = std::array<BytesPerSecond, 3>;  // on one node, two, more
using ByGeneration = std::array<ByNodes, kGpuGenerations>;

struct TunerConstants {
  // Latency of a collective, and of one step over NVLink, PCIe and the network.
  ByAlgorithm<Seconds> base;
  ByAlgorithm<Seconds> nvlink;
  ByAlgorithm<Seconds> pcie;
  ByAlgorithm<Seconds> network;
  double ll_in_node_factor = 1;    // of an LL step in the node where there are several nodes
  bool rings_cross_once = false;   // 2 (N - 1) steps of an all-reduce are between nodes, not 2 N
  bool one_gpu_pays_tree = false;  // a ring with one GPU a node pays the tree's network step
  double plateau = 1.4;            // of the latency of Ring Simple between nodes, sm80 and later

  // Bus bandwidth.
  double ring_ll_reducing = 0.5;  // share of the ring's: between nodes, or with a reduction
  double ring_ll_copying = 0.5;   // the rest
  double ring_ll128 = 0.92;
  double ring_ll128_one_gpu = 0.92;  // with one GPU a node
  double tree = 0.92;
  double tree_ll128_between_nodes = 0.9375;
  // Caps of the whole, then of a channel.
  ByGeneration ll;  // between nodes the row is the processor's: Ampere's for AMD, Volta's else
  ByGeneration tree_bus;
  ByGeneration tree_ll128_bus;
  ByGeneration ring_ll128_channel;
  std::array<BytesPerSecond, kNcclTunedCollectives> ring_ll128_collective_channel;
  ByGeneration tree_channel;
  ByGeneration tree_ll128_channel;
  ByGeneration nvls_tree_channel;
  // From 2.28: an NVLS channel carries that share of its search's bandwidth. 0: 5/6 of the graph's.
  std::array<double, kGpuGenerations> nvls_efficiency{};

  // Factors of the tree's bandwidth for 64 B, 128 B, ...; 1 beyond.
  ByProtocol<std::array<double, 24>> tree_correction;
};

TunerConstants ConstantsOf(const NcclVersion& version);

}  // namespace zerosim
