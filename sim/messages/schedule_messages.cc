#include "sim/messages/schedule_messages.h"

#include <map>
#include <stdexcept>
#include <utility>

#include "models/network/group_places.h"
#include "models/network/message_nics.h"

namespace zerosim {
namespace {

class Lister {
 public:
  Lister(const ClusterNetwork& network, const Schedule& schedule, const ProcessGroup& group,
         Exchanging exchanging, NicRule rule)
      : network_(network),
        schedule_(schedule),
        places_(network, group),
        exchanging_(exchanging),
        rule_(rule) {}

  std::vector<ScheduledMessage> List() {
    for (std::size_t s = 0; s < schedule_.stages.size(); ++s) {
      const Stage& stage = schedule_.stages[s];
      if (stage.pattern == StagePattern::kSwitch) {
        throw std::invalid_argument("what switches reduce is no message");
      }
      const MessageNics nics(network_, stage, places_, rule_);
      for (int rank = 0; rank < network_.world_size(); ++rank) {
        for (int channel = 0; channel < stage.channels; ++channel) {
          AddRank(static_cast<int>(s), channel, rank, nics);
        }
      }
    }
    return std::move(messages_);
  }

 private:
  void AddRank(int s, int channel, int rank, const MessageNics& nics) {
    const Stage& stage = schedule_.stages[s];
    const int member = places_.Member(rank);
    const bool at_once =
        exchanging_ == Exchanging::kAtOnce && stage.pattern == StagePattern::kExchange;
    const std::size_t first = messages_.size();
    std::map<int, int> parts;  // by peer
    std::vector<int> counts;
    for (int round = 0; round < RoundsOf(stage, places_.shape()); ++round) {
      for (const Send& send : SendsOf(stage, places_.shape(), channel, member, round)) {
        ScheduledMessage message{
            s, channel, at_once ? 0 : round, rank, places_.RankOf(rank, send.to), 0, {}};
        message.path = PathOf(message, nics);
        messages_.push_back(std::move(message));
        counts.push_back(send.count);
        parts[send.to] += send.count;
      }
    }
    // What a part is of the vector follows from what all of them are together.
    std::map<int, double> share;
    for (const PeerShare& peer : PeersOf(stage, places_.shape(), channel, member)) {
      share[peer.to] += peer.share;
    }
    for (std::size_t i = 0; i < counts.size(); ++i) {
      ScheduledMessage& message = messages_[first + i];
      const int to = places_.Member(message.to);
      message.share = share[to] * counts[i] / parts[to];
    }
  }

  std::vector<LinkOfCluster> PathOf(const ScheduledMessage& message,
                                    const MessageNics& nics) const {
    const int node = places_.Node(message.from);
    const int peer = places_.Node(message.to);
    std::vector<LinkOfCluster> path;
    const auto add = [&](int of_node, const NodePath& arcs) {
      for (const int arc : arcs) path.push_back({of_node, arc, 1});
    };
    const int gpu = places_.Gpu(message.from);
    const int peer_gpu = places_.Gpu(message.to);
    if (node == peer) {
      add(node, network_.routes.BetweenGpus(gpu, peer_gpu));
      return path;
    }
    const int out = nics.Out(message.from, message.channel);
    const int in = nics.In(out, message.to);
    std::vector<Hop> hops;
    network_.fabric->AddRoute({{node, out}, {peer, in}, 1}, &hops);
    add(node, network_.routes.ToNic(gpu, out));
    for (const Hop& hop : hops) {
      if (hop.share != 1) {
        throw std::invalid_argument("adaptive routing divides a flow, which is no message");
      }
      path.push_back({-1, hop.link, hop.width});
    }
    add(peer, network_.routes.FromNic(in, peer_gpu));
    return path;
  }

  const ClusterNetwork& network_;
  const Schedule& schedule_;
  GroupPlaces places_;
  Exchanging exchanging_;
  NicRule rule_;
  std::vector<ScheduledMessage> messages_;
};

}  // namespace

std::vector<ScheduledMessage> MessagesOf(const ClusterNetwork& network, const Schedule& schedule,
                                         const ProcessGroup& group, Exchanging exchanging,
                                         NicRule rule) {
  return Lister(network, schedule, group, exchanging, rule).List();
}

BytesPerSecond CapacityOf(const ClusterNetwork& network, const LinkOfCluster& link) {
  if (link.node >= 0) return network.node.links[link.number / 2].bandwidth;
  const FabricLinkClass& of = network.fabric->classes()[network.fabric->ClassOf(link.number)];
  return static_cast<double>(link.width) * of.capacity;
}

}  // namespace zerosim
