#include "models/network/stage_loads.h"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "models/topology/loads.h"
#include "models/topology/patterns.h"

namespace zerosim {
namespace {

// Where the ranks of a group are.
class Places {
 public:
  Places(const ClusterNetwork& network, const ProcessGroup& group)
      : group_(group), shape_(ShapeOf(network, group)), gpus_(network.gpus_per_node()) {}

  const GroupShape& shape() const { return shape_; }
  int Member(int rank) const { return rank % (group_.size * group_.stride) / group_.stride; }
  int RankOf(int rank, int member) const { return rank + (member - Member(rank)) * group_.stride; }
  int Node(int rank) const { return rank / gpus_; }
  int Gpu(int rank) const { return rank % gpus_; }
  // Groups that share a node, and the place of a rank's among them.
  int groups_in_node() const { return gpus_ / shape_.local; }
  int GroupInNode(int rank) const { return Gpu(rank) % std::min(group_.stride, gpus_); }

  // The nodes that groups of this form span.
  NodeGroups Nodes(int nodes) const {
    const int stride = std::max(1, group_.stride / gpus_);
    return AllGroups(nodes, shape_.nodes, stride);
  }

 private:
  ProcessGroup group_;
  GroupShape shape_;
  int gpus_;
};

class Counter {
 public:
  Counter(const ClusterNetwork& network, const Stage& stage, const ProcessGroup& group,
          NicRule rule)
      : network_(network),
        stage_(stage),
        places_(network, group),
        rule_(rule),
        arcs_per_node_(network.node.num_arcs()),
        arcs_(static_cast<std::size_t>(network.nodes) * arcs_per_node_, 0),
        out_(network.nodes, 0) {}

  StageLoads Count() {
    if (stage_.pattern == StagePattern::kSwitch) {
      CountSwitch();
    } else if (stage_.pattern == StagePattern::kExchange) {
      CountExchange();
    } else {
      CountPeers();
    }
    StageLoads loads;
    loads.arcs.assign(arcs_per_node_, 0);
    for (std::size_t i = 0; i < arcs_.size(); ++i) {
      double& most = loads.arcs[i % arcs_per_node_];
      most = std::max(most, arcs_[i]);
    }
    if (network_.fabric != nullptr) {
      loads.links = FlowLoads(*network_.fabric, flows_);
      for (std::size_t i = 0; i < exchanged_.size(); ++i) loads.links[i] += exchanged_[i];
    }
    loads.out_of_node = *std::ranges::max_element(out_);
    return loads;
  }

 private:
  void Pass(int node, const NodePath& path, double load) {
    for (const int arc : path) arcs_[node * arcs_per_node_ + arc] += load;
  }

  // The NIC of a channel: groups and channels have NICs of their own as far as there are any.
  int NicOfChannel(int rank, int channel) const {
    const int ways = places_.groups_in_node() * stage_.channels;
    return (places_.GroupInNode(rank) * stage_.channels + channel) * network_.routes.num_nics() /
           ways;
  }

  void Move(int from, int to, int channel, double load) {
    const int node = places_.Node(from);
    const int peer_node = places_.Node(to);
    const int gpu = places_.Gpu(from);
    const int peer_gpu = places_.Gpu(to);
    if (node == peer_node) {
      Pass(node, network_.routes.BetweenGpus(gpu, peer_gpu), load);
      return;
    }
    const bool by_channel =
        (stage_.pattern == StagePattern::kRing || stage_.pattern == StagePattern::kTree) &&
        places_.shape().local > 1 && stage_.among.stride == 1;
    const int nic = by_channel ? NicOfChannel(from, channel) : network_.nic_of_gpu[gpu];
    const int peer_nic =
        by_channel || rule_ == NicRule::kSameNumber ? nic : network_.nic_of_gpu[peer_gpu];
    Pass(node, network_.routes.ToNic(gpu, nic), load);
    Pass(peer_node, network_.routes.FromNic(peer_nic, peer_gpu), load);
    flows_.push_back({{node, nic}, {peer_node, peer_nic}, load});
    out_[node] += load;
  }

  void CountPeers() {
    for (int rank = 0; rank < network_.world_size(); ++rank) {
      const int member = places_.Member(rank);
      for (int channel = 0; channel < stage_.channels; ++channel) {
        for (const PeerShare& peer : PeersOf(stage_, places_.shape(), channel, member)) {
          Move(rank, places_.RankOf(rank, peer.to), channel, peer.share);
        }
      }
    }
  }

  // The members of a sub-group that are in one node, as ranks. The sub-groups of an exchange are
  // the local members, those of equal local place, or all.
  bool InNodePart() const { return stage_.among.stride == 1; }
  bool AcrossPart() const {
    return stage_.among.size * stage_.among.stride > places_.shape().local;
  }

  void CountExchange() {
    const GroupShape& shape = places_.shape();
    const double share =
        PeersOf(stage_, shape, 0, 0).empty() ? 0 : PeersOf(stage_, shape, 0, 0).front().share;
    if (InNodePart()) {
      for (int rank = 0; rank < network_.world_size(); ++rank) {
        const int member = places_.Member(rank);
        const int first = member / shape.local * shape.local;
        for (int peer = first; peer < first + shape.local; ++peer) {
          if (peer != member) Move(rank, places_.RankOf(rank, peer), 0, share);
        }
      }
    }
    if (AcrossPart()) CountAcross(share);
  }

  void CountAcross(double share) {
    const GroupShape& shape = places_.shape();
    const int peers = InNodePart() ? shape.local : 1;  // of a rank in each other node
    const double sent = share * peers * (shape.nodes - 1);
    for (int rank = 0; rank < network_.world_size(); ++rank) {
      const int gpu = places_.Gpu(rank);
      const int nic = network_.nic_of_gpu[gpu];
      Pass(places_.Node(rank), network_.routes.ToNic(gpu, nic), sent);
      Pass(places_.Node(rank), network_.routes.FromNic(nic, gpu), sent);
      out_[places_.Node(rank)] += sent;
    }
    for (int group = 0; group < places_.groups_in_node(); ++group) {
      ExchangeOfNics(group, peers * share);
    }
  }

  // The exchange between the NICs of the GPUs of one group. NICs with as many of its GPUs send
  // alike; each sends to those evenly.
  void ExchangeOfNics(int group, double share_of_gpu) {
    std::map<int, int> gpus_of_nic;
    for (int gpu = 0; gpu < network_.gpus_per_node(); ++gpu) {
      if (places_.GroupInNode(gpu) == group) ++gpus_of_nic[network_.nic_of_gpu[gpu]];
    }
    std::map<int, std::vector<int>> nics_of_count;
    for (const auto& [nic, count] : gpus_of_nic) nics_of_count[count].push_back(nic);
    const bool same = rule_ == NicRule::kSameNumber || !InNodePart() || places_.shape().local == 1;
    for (const auto& [count, nics] : nics_of_count) {
      const std::vector<double> loads =
          ExchangeLoads(*network_.fabric, places_.Nodes(network_.nodes), nics,
                        same ? ExchangeNics::kSame : ExchangeNics::kAll);
      exchanged_.resize(loads.size(), 0);
      for (std::size_t i = 0; i < loads.size(); ++i) {
        exchanged_[i] += count * share_of_gpu * loads[i];
      }
    }
  }

  // The way to a switch in the node is that to a peer, without the peer's part: an NVSwitch.
  void CountSwitch() {
    const GroupShape& shape = places_.shape();
    const double up = PeersOf(stage_, shape, 0, 0).front().share;
    const double down = FromSwitch(stage_, shape);
    for (int rank = 0; rank < network_.world_size(); ++rank) {
      const int node = places_.Node(rank);
      const int gpu = places_.Gpu(rank);
      if (!AcrossPart()) {
        const int other = gpu == 0 ? network_.gpus_per_node() - 1 : 0;
        arcs_[node * arcs_per_node_ + network_.routes.BetweenGpus(gpu, other).front()] += up;
        arcs_[node * arcs_per_node_ + network_.routes.BetweenGpus(other, gpu).back()] += down;
        continue;
      }
      const int nic = network_.nic_of_gpu[gpu];
      Pass(node, network_.routes.ToNic(gpu, nic), up);
      Pass(node, network_.routes.FromNic(nic, gpu), down);
      out_[node] += up;
      exchanged_.resize(network_.fabric->num_links(), 0);
      const std::int64_t number = std::int64_t{node} * network_.routes.num_nics() + nic;
      exchanged_[network_.fabric->classes()[0].first + number] += up;
      exchanged_[network_.fabric->classes()[1].first + number] += down;
    }
  }

  const ClusterNetwork& network_;
  const Stage& stage_;
  Places places_;
  NicRule rule_;
  int arcs_per_node_;
  std::vector<double> arcs_;  // by node and arc
  std::vector<double> out_;   // by node
  std::vector<Flow> flows_;
  std::vector<double> exchanged_;  // by link
};

}  // namespace

GroupShape ShapeOf(const ClusterNetwork& network, const ProcessGroup& group) {
  if (!IsRegular(group, network.gpus_per_node())) {
    throw std::invalid_argument(
        fmt::format("a group of {} ranks {} apart does not fill nodes of "
                    "{}",
                    group.size, group.stride, network.gpus_per_node()));
  }
  const NodeSplit split = SplitByNode(group, network.gpus_per_node());
  return {split.across.size, split.in_node.size};
}

StageLoads LoadsOf(const ClusterNetwork& network, const Stage& stage, const ProcessGroup& group,
                   NicRule rule) {
  return Counter(network, stage, group, rule).Count();
}

}  // namespace zerosim
