#include "models/network/collective_sweep.h"

#include <cmath>
#include <stdexcept>

#include <fmt/format.h>

#include "models/core/check.h"
#include "models/network/spec_network.h"

namespace zerosim {
namespace {

// The part of the cluster that takes part: so many nodes, with the GPUs and NICs that do.
ClusterSpec PartOf(ClusterSpec cluster, const CollectiveQuestion& question) {
  if (question.nodes != cluster.nodes && !cluster.fabric.is_switch()) {
    throw std::invalid_argument(fmt::format(
        "{} of {} nodes: a fabric other than switch is used whole; give it as many nodes",
        question.nodes, cluster.nodes));
  }
  if (question.gpus_per_node > cluster.node.gpus) {
    throw std::invalid_argument(
        fmt::format("{} GPUs a node: it has {}", question.gpus_per_node, cluster.node.gpus));
  }
  const bool alike = cluster.node.in_node == InNodeFabric::kNvSwitch;
  if (question.gpus_per_node < cluster.node.gpus && !alike) {
    throw std::invalid_argument(
        fmt::format("{} of {} GPUs a node: only behind an NVSwitch do all choices come to the same",
                    question.gpus_per_node, cluster.node.gpus));
  }
  cluster.nodes = question.nodes;
  cluster.fabric.nics_per_node =
      std::max(1, cluster.fabric.nics_per_node * question.gpus_per_node / cluster.node.gpus);
  cluster.node.gpus = question.gpus_per_node;
  return cluster;
}

class Sweep {
 public:
  Sweep(const ClusterSpec& cluster, const CollectiveQuestion& question)
      : question_(question),
        part_(PartOf(cluster, question)),
        group_{question.nodes * question.gpus_per_node, 1},
        sheet_(ClusterNetworkOf(part_)),
        timer_(cluster, part_, question.version, question.overrides) {}

  CollectiveRow Row(Bytes size) {
    CollectiveRow row;
    row.size = size;
    row.cost = CostOf({question_.kind, group_, size, question_.gpus_per_process});
    row.bound = BoundOf(sheet_, question_.kind, group_, size, timer_.switches());
    ZEROSIM_CHECK(row.cost.time().seconds() >= row.bound.seconds() * (1 - 1e-9),
                  "{} bytes in {} s, faster than the bound of {} s", size.count(),
                  row.cost.time().seconds(), row.bound.seconds());
    const double factor = BusFactor(question_.kind, group_.size);
    if (row.cost.time() > Seconds()) row.algbw = size / row.cost.time();
    row.busbw = factor * row.algbw;
    if (row.bound > Seconds()) row.busbw_bound = factor * (size / row.bound);
    return row;
  }

 private:
  CollectiveCost CostOf(const TimedCall& call) {
    if (question_.algorithm) return timer_.Plain(*question_.algorithm, call).cost;
    return (question_.best ? timer_.Best(call) : timer_.Nccl(call)).cost;
  }

  const CollectiveQuestion& question_;
  ClusterSpec part_;
  ProcessGroup group_;
  ClusterNetwork sheet_;  // at the rates of data sheets
  CollectiveTimer timer_;
};

}  // namespace

std::vector<Bytes> Sizes(Bytes least, Bytes most, double factor) {
  std::vector<Bytes> sizes;
  for (auto size = static_cast<double>(least.count()); size <= static_cast<double>(most.count());
       size *= factor) {
    const Bytes rounded = Bytes::Count(std::llround(size));
    if (sizes.empty() || sizes.back() < rounded) sizes.push_back(rounded);
  }
  return sizes;
}

std::vector<CollectiveRow> SweepCollective(const ClusterSpec& cluster,
                                           const CollectiveQuestion& question) {
  Sweep sweep(cluster, question);
  std::vector<CollectiveRow> rows;
  rows.reserve(question.sizes.size());
  for (const Bytes size : question.sizes) rows.push_back(sweep.Row(size));
  return rows;
}

}  // namespace zerosim
