#include "models/network/peer_loads.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "models/collectives/schedule.h"
#include "models/network/message_nics.h"

namespace zerosim {
namespace {

// A rank of node 0 and a channel by which it sends to other nodes. They are the same in every node:
// the last GPU of a ring's channel, the head of a tree's.
struct WayOut {
  int gpu = 0;
  int channel = 0;
};

// Ways with messages of the same share to the GPU of the same number in the same nodes, in node 0
// and so in every node: trees over nodes are one tree for all channels, and partners at a distance
// are the same nodes away for all GPUs of a node or, as this says, not.
struct AlikeWays {
  std::vector<WayOut> ways;
  std::vector<std::pair<double, std::vector<int>>> nics;  // that so many of them send by
};

class PeerCounter {
 public:
  PeerCounter(const ClusterNetwork& network, const Stage& stage, const GroupPlaces& places,
              NicRule rule, LoadTally* tally)
      : network_(network),
        stage_(stage),
        places_(places),
        nics_(network, stage, places, rule),
        tally_(*tally) {}

  void Count() {
    if (stage_.pattern == StagePattern::kTree && stage_.tree == TreeKind::kChain) {
      CountChain();
      return;
    }
    CountInside();
    FindWaysOut();
    const int nodes = tally_.OneNodeIsEnough() ? 1 : network_.nodes;
    sent_.assign(alike_.size() * (tally_.alike() ? 1 : network_.nodes), 0);
    received_ = sent_;
    for (int node = 0; node < nodes; ++node) {
      for (std::size_t i = 0; i < alike_.size(); ++i) CountAlike(node, i);
      for (const WayOut& way : others_) CountWay(node, way);
    }
    PassAlike();
  }

 private:
  std::vector<PeerShare> Peers(int rank, int channel) const {
    return PeersOf(stage_, places_.shape(), channel, places_.Member(rank));
  }

  int RankOf(int node, int gpu) const { return node * network_.gpus_per_node() + gpu; }

  // The links of nodes are counted for those whose messages differ, or of node 0.
  bool Counts(int node) const { return !tally_.alike() || node == 0; }

  void MoveInside(int from, int to, double load) {
    tally_.PassInEach(network_.routes.BetweenGpus(places_.Gpu(from), places_.Gpu(to)), load);
  }

  // The links of the two nodes.
  void PassOut(int node, int gpu, int nic, double load) {
    tally_.Pass(node, network_.routes.ToNic(gpu, nic), load);
    tally_.SendOut(node, load);
  }
  void PassIn(int node, int nic, int gpu, double load) {
    tally_.Pass(node, network_.routes.FromNic(nic, gpu), load);
  }

  void MoveAcross(int from, int to, int channel, double load) {
    const int node = places_.Node(from);
    const int peer_node = places_.Node(to);
    const int peer_gpu = places_.Gpu(to);
    const int nic = nics_.Out(from, channel);
    const int peer_nic = nics_.In(nic, to);
    tally_.Flow({{node, nic}, {peer_node, peer_nic}, load});
    if (!Counts(node)) return;
    PassOut(node, places_.Gpu(from), nic, load);
    PassIn(peer_node, peer_nic, peer_gpu, load);
  }

  void CountInside() {
    for (int rank = 0; rank < network_.gpus_per_node(); ++rank) {
      for (int channel = 0; channel < stage_.channels; ++channel) {
        for (const PeerShare& peer : Peers(rank, channel)) {
          const int to = places_.RankOf(rank, peer.to);
          if (places_.Node(to) == 0) MoveInside(rank, to, peer.share);
        }
      }
    }
  }

  // Sorts the ways out of node 0.
  void FindWaysOut() {
    std::map<std::vector<std::pair<int, double>>, AlikeWays> alike;
    for (int gpu = 0; gpu < network_.gpus_per_node(); ++gpu) {
      for (int channel = 0; channel < stage_.channels; ++channel) {
        std::vector<std::pair<int, double>> reached;
        bool same_gpu = true;
        for (const PeerShare& peer : Peers(gpu, channel)) {
          const int to = places_.RankOf(gpu, peer.to);
          if (places_.Node(to) == 0) continue;
          reached.emplace_back(places_.Node(to), peer.share);
          same_gpu = same_gpu && places_.Gpu(to) == gpu;
        }
        if (reached.empty()) continue;
        if (same_gpu) {
          alike[std::move(reached)].ways.push_back({gpu, channel});
        } else {
          others_.push_back({gpu, channel});
        }
      }
    }
    for (auto& [reached, ways] : alike) {
      std::map<int, int> ways_of_nic;
      for (const WayOut& way : ways.ways) ++ways_of_nic[nics_.Out(way.gpu, way.channel)];
      std::map<int, std::vector<int>> nics_of_count;
      for (const auto& [nic, count] : ways_of_nic) nics_of_count[count].push_back(nic);
      for (auto& [count, nics] : nics_of_count) ways.nics.emplace_back(count, std::move(nics));
      alike_.push_back(std::move(ways));
    }
  }

  // The place of a node's ways `index` in sent_ and received_.
  std::size_t PlaceOf(int node, std::size_t index) const { return node * alike_.size() + index; }

  void CountAlike(int node, std::size_t index) {
    const AlikeWays& ways = alike_[index];
    const WayOut& first = ways.ways.front();
    const int rank = RankOf(node, first.gpu);
    for (const PeerShare& peer : Peers(rank, first.channel)) {
      const int to = places_.Node(places_.RankOf(rank, peer.to));
      if (to == node) continue;
      for (const auto& [count, nics] : ways.nics) tally_.Flows(node, to, nics, count * peer.share);
      if (!Counts(node)) continue;
      sent_[PlaceOf(node, index)] += peer.share;
      received_[PlaceOf(tally_.alike() ? 0 : to, index)] += peer.share;
    }
  }

  // Puts on the links of nodes what goes over ways that are alike. Most nodes of a tree send and
  // receive as another one does, and of these one is enough, unless there are other ways too.
  void PassAlike() {
    std::set<std::vector<double>> known;
    std::vector<double> shares;
    for (int node = 0; node < network_.nodes && !alike_.empty() && Counts(node); ++node) {
      shares.clear();
      for (std::size_t i = 0; i < alike_.size(); ++i) {
        shares.push_back(sent_[PlaceOf(node, i)]);
        shares.push_back(received_[PlaceOf(node, i)]);
      }
      if (others_.empty() && !known.insert(shares).second) continue;
      for (std::size_t i = 0; i < alike_.size(); ++i) {
        for (const WayOut& way : alike_[i].ways) {
          const int nic = nics_.Out(way.gpu, way.channel);
          PassOut(node, way.gpu, nic, shares[2 * i]);
          PassIn(node, nic, way.gpu, shares[2 * i + 1]);
        }
      }
    }
  }

  void CountWay(int node, const WayOut& way) {
    const int rank = RankOf(node, way.gpu);
    for (const PeerShare& peer : Peers(rank, way.channel)) {
      const int to = places_.RankOf(rank, peer.to);
      if (places_.Node(to) != node) MoveAcross(rank, to, way.channel, peer.share);
    }
  }

  // The node of the root differs from the others, and the last one.
  void CountChain() {
    for (int rank = 0; rank < network_.world_size(); ++rank) {
      for (int channel = 0; channel < stage_.channels; ++channel) {
        for (const PeerShare& peer : Peers(rank, channel)) {
          const int to = places_.RankOf(rank, peer.to);
          if (places_.Node(to) == places_.Node(rank)) {
            tally_.Pass(places_.Node(rank),
                        network_.routes.BetweenGpus(places_.Gpu(rank), places_.Gpu(to)),
                        peer.share);
          } else {
            MoveAcross(rank, to, channel, peer.share);
          }
        }
      }
    }
  }

  const ClusterNetwork& network_;
  const Stage& stage_;
  const GroupPlaces& places_;
  MessageNics nics_;
  LoadTally& tally_;
  std::vector<AlikeWays> alike_;
  std::vector<WayOut> others_;
  // By node and ways, of each way: what it sends to other nodes, and what the same of others send
  // to it. Where nodes are alike, of node 0.
  std::vector<double> sent_;
  std::vector<double> received_;
};

}  // namespace

void CountPeers(const ClusterNetwork& network, const Stage& stage, const GroupPlaces& places,
                NicRule rule, LoadTally* tally) {
  PeerCounter(network, stage, places, rule, tally).Count();
}

}  // namespace zerosim
