#include "models/network/exchange_loads.h"

#include <cstdint>
#include <map>
#include <vector>

#include "models/collectives/schedule.h"
#include "models/topology/loads.h"

namespace zerosim {
namespace {

// The members of a sub-group that are in one node, as ranks. The sub-groups of an exchange are the
// local members, those of equal local place, or all.
bool InNodePart(const Stage& stage) {
  return stage.among.stride == 1;
}
bool AcrossPart(const Stage& stage, const GroupShape& shape) {
  return stage.among.size * stage.among.stride > shape.local;
}

// What a member sends to each other of its sub-group, in blocks of the vector.
double SharesOfExchange(const Stage& stage, const GroupShape& shape) {
  if (stage.motion == Motion::kPersonal) {
    return static_cast<double>(shape.size()) / stage.among.size;
  }
  return BlocksOf(stage, shape, 0, 0).count;
}

void CountInside(const ClusterNetwork& network, const GroupPlaces& places, double share,
                 LoadTally* tally) {
  const int local = places.shape().local;
  for (int rank = 0; rank < network.gpus_per_node(); ++rank) {
    const int member = places.Member(rank);
    for (int peer = 0; peer < local; ++peer) {
      if (peer == member % local) continue;
      const int to = places.RankOf(rank, member / local * local + peer);
      tally->PassInEach(network.routes.BetweenGpus(places.Gpu(rank), places.Gpu(to)), share);
    }
  }
}

// The exchange between the NICs of the GPUs of one group. NICs with as many of its GPUs send
// alike; each sends to those evenly.
void CountNics(const ClusterNetwork& network, const GroupPlaces& places, int group,
               double share_of_gpu, ExchangeNics to, LoadTally* tally) {
  std::map<int, int> gpus_of_nic;
  for (int gpu = 0; gpu < network.gpus_per_node(); ++gpu) {
    if (places.GroupInNode(gpu) == group) ++gpus_of_nic[network.nic_of_gpu[gpu]];
  }
  std::map<int, std::vector<int>> nics_of_count;
  for (const auto& [nic, count] : gpus_of_nic) nics_of_count[count].push_back(nic);
  for (const auto& [count, nics] : nics_of_count) {
    tally->OnLinks(ExchangeLoads(*network.fabric, places.Nodes(network.nodes), nics, to),
                   count * share_of_gpu);
  }
}

void CountAcross(const ClusterNetwork& network, const Stage& stage, const GroupPlaces& places,
                 NicRule rule, double share, LoadTally* tally) {
  const GroupShape& shape = places.shape();
  const int peers = InNodePart(stage) ? shape.local : 1;  // of a rank in each other node
  const double sent = share * peers * (shape.nodes - 1);
  for (int gpu = 0; gpu < network.gpus_per_node(); ++gpu) {
    const int nic = network.nic_of_gpu[gpu];
    tally->Pass(0, network.routes.ToNic(gpu, nic), sent);
    tally->Pass(0, network.routes.FromNic(nic, gpu), sent);
    tally->SendOut(0, sent);
  }
  const bool same = rule == NicRule::kSameNumber || !InNodePart(stage) || shape.local == 1;
  for (int group = 0; group < places.groups_in_node(); ++group) {
    CountNics(network, places, group, peers * share,
              same ? ExchangeNics::kSame : ExchangeNics::kAll, tally);
  }
}

}  // namespace

void CountExchange(const ClusterNetwork& network, const Stage& stage, const GroupPlaces& places,
                   NicRule rule, LoadTally* tally) {
  const GroupShape& shape = places.shape();
  const double share = 1.0 / shape.size() * SharesOfExchange(stage, shape);
  if (InNodePart(stage)) CountInside(network, places, share, tally);
  if (AcrossPart(stage, shape)) CountAcross(network, stage, places, rule, share, tally);
}

// The way to a switch in the node is that to a peer, without the peer's part: an NVSwitch.
void CountSwitch(const ClusterNetwork& network, const Stage& stage, const GroupPlaces& places,
                 LoadTally* tally) {
  const GroupShape& shape = places.shape();
  const double up = PeersOf(stage, shape, 0, 0).front().share;
  const double down = FromSwitch(stage, shape);
  for (int gpu = 0; gpu < network.gpus_per_node(); ++gpu) {
    if (!AcrossPart(stage, shape)) {
      const int other = gpu == 0 ? network.gpus_per_node() - 1 : 0;
      tally->Pass(0, {network.routes.BetweenGpus(gpu, other).front()}, up);
      tally->Pass(0, {network.routes.BetweenGpus(other, gpu).back()}, down);
      continue;
    }
    const int nic = network.nic_of_gpu[gpu];
    tally->Pass(0, network.routes.ToNic(gpu, nic), up);
    tally->Pass(0, network.routes.FromNic(nic, gpu), down);
    tally->SendOut(0, up);
    for (int node = 0; node < network.nodes; ++node) {
      const std::int64_t number = std::int64_t{node} * network.routes.num_nics() + nic;
      tally->OnLink(network.fabric->classes()[0].first + number, up);
      tally->OnLink(network.fabric->classes()[1].first + number, down);
    }
  }
}

}  // namespace zerosim
