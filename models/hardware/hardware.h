// What a cluster is made of, and what of it has been measured.
//
// A specification holds what a data sheet or a benchmark of the part says, each field in the unit
// of its type. Where a rate is "achieved" it is what software gets out of the part, with its source
// in the YAML file beside the number (scenarios/hardware/). A calibration holds what was measured
// on one machine as a whole, with source and range.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "models/core/units.h"
#include "models/hardware/exceptions.h"
#include "models/hardware/jitter.h"
#include "models/nccl/topology.h"
#include "models/topology/fabric_layout.h"
#include "models/topology/node_graph.h"

namespace zerosim {

// Time of a matrix multiplication of M rows, N columns and reduction K:
//   t = launch + 2MNK * slowdown / (fraction * peak) * (1 + a/M + b/N + c/K)
// M is the number of rows of the output (tokens). Formula and constants: models/compute/README.md.
struct GemmSpec {
  double peak_fraction = 1;       // asymptote of short benchmarks over the peak, in (0, 1]
  double sustained_slowdown = 1;  // short benchmarks over sustained training, >= 1
  Seconds launch;                 // t0
  double rows_half = 0;           // a
  double columns_half = 0;        // b
  double reduction_half = 0;      // c
};

// Time of fused attention: FLOP / rate * (1 + half_sequence/s). One row per head dimension.
struct AttentionSpec {
  int head_dimension = 0;
  FlopsPerSecond rate;       // asymptote for long sequences, forward plus backward
  double half_sequence = 0;  // sequence length at which half of `rate` is reached
  // The same for kernels that compute the whole square of the sequence, if they differ.
  std::optional<FlopsPerSecond> full_rate = {};
  std::optional<double> full_half_sequence = {};
};

struct GpuSpec {
  std::string name;
  Bytes memory;                     // capacity that a process can allocate
  FlopsPerSecond peak;              // dense 16-bit tensor cores, fp32 accumulation
  BytesPerSecond memory_bandwidth;  // achieved by a device copy, bytes read plus bytes written
  GemmSpec gemm;
  // Fused attention kernels; empty: attention is unfused (two batched GEMMs and a softmax that
  // reads and writes the scores).
  std::vector<AttentionSpec> attention;
  // Ten times what NVIDIA calls the compute capability: 90 for H100. 0: not NVIDIA's, and NCCL's
  // choices are not known.
  int compute_capability = 0;
  // Part of the GPU that kernels lose while a collective's kernel is on it: its thread blocks hold
  // processors that the waves of other kernels counted on.
  double collective_share = 0;
};

// How the GPUs of a node reach each other (models/topology/node_builders.h).
enum class InNodeFabric : std::uint8_t {
  kNvSwitch,
  kPcie,
  kRing,
  kFullMesh,
  kHybridCubeMesh,
  kGraph,  // NodeSpec::graph says
};

// The usual PCIe tree, as far as it is not known: a switch for each NIC, and two CPUs.
struct PcieTreeSpec {
  int gpus_per_switch = 0;                // 0: as many as GPUs a NIC
  int switches_per_host_bridge = 0;       // 0: half of the switches
  BytesPerSecond inter_socket_bandwidth;  // 0: as pcie_bandwidth
};

struct NodeSpec {
  std::string name;
  GpuSpec gpu;
  int gpus = 0;
  InNodeFabric in_node = InNodeFabric::kNvSwitch;
  BytesPerSecond
      gpu_bandwidth;  // of one GPU to its peers, a direction: sum of its NVLinks, or PCIe
  double gpu_bandwidth_fraction = 1;  // achieved by collectives, without calibration
  Seconds gpu_latency;                // of one step of an in-node collective
  BytesPerSecond pcie_bandwidth;      // achieved between a GPU or a NIC and its switch, a direction
  // GPUs that share one link of that rate to the host: those behind a switch with one uplink.
  int gpus_per_host_link = 1;
  Bytes host_memory;                     // of the node; 0: not known
  BytesPerSecond host_memory_bandwidth;  // achieved by the CPUs together, read plus written; 0: not
                                         // known
  PcieTreeSpec pcie_tree;
  CpuVendor cpu = CpuVendor::kIntel;
  NodeGraphText graph;           // of kGraph: switches and links
  int nics = 0;                  // that a cluster may use; fabric.nics_per_node picks
  BytesPerSecond nic_bandwidth;  // line rate of one, a direction; 0: the fabric's to say
};

// The network between the nodes.
struct FabricSpec {
  int nics_per_node = 1;
  BytesPerSecond nic_bandwidth;  // line rate of one NIC, a direction
  Seconds latency;               // of one step of a collective between nodes, through one switch
  Seconds hop_latency;           // of each further switch
  // Of one switch, >= 1: nodes share 1/x of their rate when all send at once.
  double oversubscription = 1;
  FabricKind kind;
  bool in_network_reduction = false;  // SHARP
  bool ll128 = true;                  // NCCL trusts its protocol LL128 between nodes
  Routing routing = Routing::kStatic;
  std::int64_t seed = 1;  // of ECMP's hash

  bool is_switch() const { return std::holds_alternative<SwitchLayout>(kind); }
};

// One measured number. `low` and `high` bound where it may lie (a standard deviation either side
// where a fit gave one); `source` says where it comes from.
struct Parameter {
  double value = 0;
  double low = 0;
  double high = 0;
  std::string source;
};

// What was measured on a machine, in place of the generic values. Units: fractions without,
// times in seconds, rates in bytes per second.
struct Calibration {
  std::string name;
  int measured_nics_per_node = 0;                     // that nic_fraction was seen with; 0: unknown
  Parameter nic_fraction{1, 0.85, 1, "assumed"};      // achieved over line rate, collectives
  Parameter gpu_link_fraction{1, 0.9, 1, "assumed"};  // the same in the node
  Parameter nic_step_latency{0, 0, 0, ""};            // s a step between nodes; 0: fabric's
  Parameter gpu_step_latency{0, 0, 0, ""};            // s a step in the node; 0: node's
  Parameter collective_launch{20e-6, 10e-6, 50e-6, "assumed"};  // s a collective call
  Parameter all_to_all_fraction{1, 0.7, 1, "assumed"};  // of the rate of a ring, between nodes
  Parameter gemm_fraction{1, 0.9, 1.05, "assumed"};     // achieved over the GEMM table
  Parameter memory_fraction{1, 0.9, 1.05, "assumed"};   // achieved over memory_bandwidth
  // Rate of an optimizer on the CPU over host_memory_bandwidth. Assumed: it depends on how threads
  // are bound to cores.
  Parameter host_memory_fraction{1, 0.5, 1, "assumed"};
  Parameter kernel_launch{3e-6, 1e-6, 10e-6, "assumed"};         // s of GPU time a kernel at least
  Parameter host_hook{0.1e-3, 0.02e-3, 0.3e-3, "assumed"};       // s of host time a module hook
  Parameter host_launch{0.03e-3, 0.005e-3, 0.05e-3, "assumed"};  // s of host time a kernel launch
  Parameter optimizer_fixed{5e-3, 0, 20e-3, "assumed"};  // s an optimizer step beside its bytes
};

struct ClusterSpec {
  NodeSpec node;
  int nodes = 0;
  FabricSpec fabric;
  Calibration calibration;
  std::vector<NodeException> exceptions;  // no node twice
  JitterSpec jitter;
  // Of the kernels of every GPU, over what the rest gives: of a step that jitter slows.
  double kernel_time = 1;

  int world_size() const { return nodes * node.gpus; }
};

}  // namespace zerosim
