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

// Every node sends and receives alike in all patterns but trees, so that one is counted for all.
// The nodes of trees differ in their chains' heads alone.
class Counter {
 public:
  Counter(const ClusterNetwork& network, const Stage& stage, const ProcessGroup& group,
          NicRule rule)
      : network_(network),
        stage_(stage),
        places_(network, group),
        rule_(rule),
        arcs_per_node_(network.node.num_arcs()),
        alike_(stage.pattern != StagePattern::kTree),
        arcs_(static_cast<std::size_t>(alike_ ? 1 : network.nodes) * arcs_per_node_, 0),
        inside_(arcs_per_node_, 0),
        out_(alike_ ? 1 : network.nodes, 0) {}

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
    for (int arc = 0; arc < arcs_per_node_; ++arc) loads.arcs[arc] += inside_[arc];
    if (network_.fabric != nullptr) {
      loads.links = FlowLoads(*network_.fabric, flows_);
      if (OneNodeIsEnough()) SpreadOverNodes(&loads.links);
      for (std::size_t i = 0; i < exchanged_.size(); ++i) loads.links[i] += exchanged_[i];
    }
    loads.out_of_node = *std::ranges::max_element(out_);
    return loads;
  }

 private:
  bool OneNodeIsEnough() const { return alike_ && network_.one_switch; }

  // What the flows of one node put on the links of a switch, all nodes put there alike.
  void SpreadOverNodes(std::vector<double>* links) const {
    for (const FabricLinkClass& link_class : network_.fabric->classes()) {
      const std::int64_t of_node = link_class.count / network_.nodes;
      std::vector<double> sums(of_node, 0);
      for (std::int64_t i = 0; i < link_class.count; ++i) {
        sums[i % of_node] += (*links)[link_class.first + i];
      }
      for (std::int64_t i = 0; i < link_class.count; ++i) {
        (*links)[link_class.first + i] = sums[i % of_node];
      }
    }
  }

  void Pass(int node, const NodePath& path, double load) {
    const std::size_t first = alike_ ? 0 : static_cast<std::size_t>(node) * arcs_per_node_;
    for (const int arc : path) arcs_[first + arc] += load;
  }

  // The NIC of a channel: groups and channels have NICs of their own as far as there are any.
  int NicOfChannel(int rank, int channel) const {
    const int ways = places_.groups_in_node() * stage_.channels;
    return (places_.GroupInNode(rank) * stage_.channels + channel) * network_.routes.num_nics() /
           ways;
  }

  void MoveInside(int from, int to, double load) {
    for (const int arc : network_.routes.BetweenGpus(places_.Gpu(from), places_.Gpu(to))) {
      inside_[arc] += load;
    }
  }

  // To another node. `counted`: the nodes' own links too.
  void MoveAcross(int from, int to, int channel, double load, bool counted) {
    const int node = places_.Node(from);
    const int peer_node = places_.Node(to);
    const int gpu = places_.Gpu(from);
    const int peer_gpu = places_.Gpu(to);
    const bool by_channel =
        (stage_.pattern == StagePattern::kRing || stage_.pattern == StagePattern::kTree) &&
        places_.shape().local > 1 && stage_.among.stride == 1;
    const int nic = by_channel ? NicOfChannel(from, channel) : network_.nic_of_gpu[gpu];
    const int peer_nic =
        by_channel || rule_ == NicRule::kSameNumber ? nic : network_.nic_of_gpu[peer_gpu];
    flows_.push_back({{node, nic}, {peer_node, peer_nic}, load});
    if (!counted) return;
    Pass(node, network_.routes.ToNic(gpu, nic), load);
    Pass(peer_node, network_.routes.FromNic(peer_nic, peer_gpu), load);
    out_[alike_ ? 0 : node] += load;
  }

  std::vector<PeerShare> Peers(int rank, int channel) const {
    return PeersOf(stage_, places_.shape(), channel, places_.Member(rank));
  }

  // Calls f(rank, channel) for those of a node that send to others. They are the same in every
  // node: the last GPU of a ring's channel, the head of a tree's.
  template <typename F>
  void ForWaysOut(F f) {
    std::vector<std::pair<int, int>> ways;
    for (int gpu = 0; gpu < network_.gpus_per_node(); ++gpu) {
      for (int channel = 0; channel < stage_.channels; ++channel) {
        const std::vector<PeerShare> peers = Peers(gpu, channel);
        if (std::ranges::any_of(peers, [&](const PeerShare& peer) {
              return places_.Node(places_.RankOf(gpu, peer.to)) != 0;
            })) {
          ways.push_back({gpu, channel});
        }
      }
    }
    const int nodes = OneNodeIsEnough() ? 1 : network_.nodes;
    for (int node = 0; node < nodes; ++node) {
      for (const auto& [gpu, channel] : ways) f(node * network_.gpus_per_node() + gpu, channel);
    }
  }

  void CountPeers() {
    if (stage_.pattern == StagePattern::kTree && stage_.tree == TreeKind::kChain) {
      CountChain();
      return;
    }
    for (int rank = 0; rank < network_.gpus_per_node(); ++rank) {
      for (int channel = 0; channel < stage_.channels; ++channel) {
        for (const PeerShare& peer : Peers(rank, channel)) {
          const int to = places_.RankOf(rank, peer.to);
          if (places_.Node(to) == 0) MoveInside(rank, to, peer.share);
        }
      }
    }
    ForWaysOut([&](int rank, int channel) {
      for (const PeerShare& peer : Peers(rank, channel)) {
        const int to = places_.RankOf(rank, peer.to);
        if (places_.Node(to) == places_.Node(rank)) continue;
        MoveAcross(rank, to, channel, peer.share, !alike_ || places_.Node(rank) == 0);
      }
    });
  }

  // The node of the root differs from the others, and the last one.
  void CountChain() {
    for (int rank = 0; rank < network_.world_size(); ++rank) {
      for (int channel = 0; channel < stage_.channels; ++channel) {
        for (const PeerShare& peer : Peers(rank, channel)) {
          const int to = places_.RankOf(rank, peer.to);
          if (places_.Node(to) == places_.Node(rank)) {
            Pass(places_.Node(rank),
                 network_.routes.BetweenGpus(places_.Gpu(rank), places_.Gpu(to)), peer.share);
          } else {
            MoveAcross(rank, to, channel, peer.share, true);
          }
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
    const double share = 1.0 / shape.size() * SharesOfExchange();
    if (InNodePart()) {
      for (int rank = 0; rank < network_.gpus_per_node(); ++rank) {
        const int member = places_.Member(rank);
        for (int peer = 0; peer < shape.local; ++peer) {
          if (peer != member % shape.local) {
            MoveInside(rank, places_.RankOf(rank, member / shape.local * shape.local + peer),
                       share);
          }
        }
      }
    }
    if (AcrossPart()) CountAcross(share);
  }

  // What a member sends to each other of its sub-group, in blocks of the vector.
  double SharesOfExchange() const {
    const GroupShape& shape = places_.shape();
    if (stage_.motion == Motion::kPersonal) {
      return static_cast<double>(shape.size()) / stage_.among.size;
    }
    return BlocksOf(stage_, shape, 0, 0).count;
  }

  void CountAcross(double share) {
    const GroupShape& shape = places_.shape();
    const int peers = InNodePart() ? shape.local : 1;  // of a rank in each other node
    const double sent = share * peers * (shape.nodes - 1);
    for (int gpu = 0; gpu < network_.gpus_per_node(); ++gpu) {
      const int nic = network_.nic_of_gpu[gpu];
      Pass(0, network_.routes.ToNic(gpu, nic), sent);
      Pass(0, network_.routes.FromNic(nic, gpu), sent);
      out_[0] += sent;
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
    for (int gpu = 0; gpu < network_.gpus_per_node(); ++gpu) {
      if (!AcrossPart()) {
        const int other = gpu == 0 ? network_.gpus_per_node() - 1 : 0;
        arcs_[network_.routes.BetweenGpus(gpu, other).front()] += up;
        arcs_[network_.routes.BetweenGpus(other, gpu).back()] += down;
        continue;
      }
      const int nic = network_.nic_of_gpu[gpu];
      Pass(0, network_.routes.ToNic(gpu, nic), up);
      Pass(0, network_.routes.FromNic(nic, gpu), down);
      out_[0] += up;
      exchanged_.resize(network_.fabric->num_links(), 0);
      for (int node = 0; node < network_.nodes; ++node) {
        const std::int64_t number = std::int64_t{node} * network_.routes.num_nics() + nic;
        exchanged_[network_.fabric->classes()[0].first + number] += up;
        exchanged_[network_.fabric->classes()[1].first + number] += down;
      }
    }
  }

  const ClusterNetwork& network_;
  const Stage& stage_;
  Places places_;
  NicRule rule_;
  int arcs_per_node_;
  bool alike_;
  // By node and arc, or of any node where all are alike; and what is the same in all nodes anyway.
  std::vector<double> arcs_;
  std::vector<double> inside_;
  std::vector<double> out_;  // by node, or of any
  std::vector<NicFlow> flows_;
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
