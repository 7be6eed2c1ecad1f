#include "models/network/collective_sweep.h"

#include <cmath>
#include <map>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "models/core/check.h"
#include "models/nccl/graphs.h"
#include "models/nccl/tuner.h"
#include "models/network/spec_nccl.h"
#include "models/network/spec_network.h"
#include "models/network/stage_loads.h"

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

// What NCCL's rings achieve on links of that kind; those inside of the fabric as the NICs.
LinkFractions FractionsOf(const ClusterSpec& cluster) {
  const std::optional<NcclTopology> topology = NcclTopologyOf(cluster);
  if (!topology) return {};
  const NcclAchieved achieved = AchievedOn(*topology);
  return {achieved.gpu_link, 1, achieved.network, achieved.network};
}

class Sweep {
 public:
  Sweep(const ClusterSpec& cluster, const CollectiveQuestion& question)
      : question_(question),
        part_(PartOf(cluster, question)),
        group_{question.nodes * question.gpus_per_node, 1},
        sheet_(ClusterNetworkOf(part_)),
        achieved_(ClusterNetworkOf(part_, FractionsOf(cluster))) {
    const std::optional<NcclTopology> topology = NcclTopologyOf(cluster);
    if (topology) switches_ = {topology->nvls, topology->collnet};
    if (question.algorithm) return;
    if (!topology) {
      throw std::invalid_argument(
          "NCCL runs on GPUs of NVIDIA's, and the GPU has no compute_capability; give it one, or "
          "an algorithm");
    }
    topology_ = *topology;
    topology_.nics_per_node = question.nodes > 1 ? cluster.fabric.nics_per_node : 0;
    communicator_ = MakeCommunicator(topology_, {question.nodes, question.gpus_per_node},
                                     question.version, question.overrides);
  }

  CollectiveRow Row(Bytes size) {
    CollectiveRow row;
    row.size = size;
    row.cost = question_.algorithm ? Plain(size) : Nccl(size);
    row.bound = BoundOf(sheet_, question_.kind, group_, size, switches_);
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
  CollectiveCost Nccl(Bytes size) {
    const auto time =
        TimeOf(*communicator_, {NcclKindOf(question_.kind), size, question_.gpus_per_process},
               AchievedOn(topology_));
    if (!time) throw std::invalid_argument("NCCL has no algorithm left for this collective");
    const int key = time->choice ? static_cast<int>(time->choice->algorithm) : -1;
    auto known = on_links_.find(key);
    if (known == on_links_.end()) {
      const Schedule schedule = NcclSchedule(achieved_, time->choice, question_.kind, group_);
      known =
          on_links_.emplace(key, PutOnLinks(achieved_, schedule, group_, StageOrder::kPipelined))
              .first;
    }
    return CostOf(known->second, size, *time);
  }

  CollectiveCost Plain(Bytes size) {
    if (on_links_.empty()) {
      const GroupShape shape = ShapeOf(achieved_, group_);
      AlgorithmOptions options;
      options.channels = std::clamp(achieved_.routes.num_nics(), 1, shape.local);
      if (const auto* torus = std::get_if<TorusLayout>(&part_.fabric.kind)) {
        if (shape.local > 1) options.dimensions.push_back(shape.local);
        for (const int length : torus->dimensions) options.dimensions.push_back(length);
      }
      const Schedule schedule = ScheduleOf(*question_.algorithm, question_.kind, shape, options);
      on_links_.emplace(0, PutOnLinks(achieved_, schedule, group_, StageOrder::kOneByOne));
    }
    const StepLatency latency{Seconds::Count(part_.calibration.collective_launch.value),
                              part_.node.gpu_latency, part_.fabric.latency};
    CollectiveCost cost = CostOf(on_links_.at(0), size, latency);
    cost.algorithm = NameOf(*question_.algorithm);
    return cost;
  }

  const CollectiveQuestion& question_;
  ClusterSpec part_;
  ProcessGroup group_;
  ClusterNetwork sheet_;  // at the rates of data sheets
  ClusterNetwork achieved_;
  SwitchesThatReduce switches_;
  NcclTopology topology_;
  std::optional<NcclCommunicator> communicator_;
  std::map<int, ScheduleOnLinks> on_links_;  // by NCCL's algorithm, or the only one
};

}  // namespace

NcclCollective NcclKindOf(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::kAllGather:
      return NcclCollective::kAllGather;
    case CollectiveKind::kReduceScatter:
      return NcclCollective::kReduceScatter;
    case CollectiveKind::kAllReduce:
      return NcclCollective::kAllReduce;
    case CollectiveKind::kBroadcast:
      return NcclCollective::kBroadcast;
    case CollectiveKind::kReduce:
      return NcclCollective::kReduce;
    case CollectiveKind::kAllToAll:
      return NcclCollective::kAllToAll;
    case CollectiveKind::kSendReceive:
      return NcclCollective::kSendReceive;
  }
  return NcclCollective::kAllReduce;
}

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
