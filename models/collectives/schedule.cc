#include "models/collectives/schedule.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "models/collectives/positions.h"
#include "models/collectives/tree.h"

namespace zerosim {
namespace {

int Log2Up(int n) {
  return static_cast<int>(std::bit_width(static_cast<unsigned>(n - 1)));
}

// The distance of the peers in a round of kHalving or kDissemination: a gather begins with the
// neighbours, so that the long ways carry most of the vector last; a reduction is its mirror.
int DistanceIn(const Stage& stage, int round) {
  const int rounds = Log2Up(stage.among.size);
  return 1 << (stage.motion == Motion::kReduce ? rounds - 1 - round : round);
}

std::vector<Send> RingSends(const Stage& stage, const GroupShape& shape, int channel, int member,
                            int round) {
  const int n = stage.among.size;
  const int place = RingPlace(stage, shape, channel, PositionOf(stage, member));
  const auto at = [&](int p) { return PositionInRing(stage, shape, channel, (p + n) % n); };
  const bool reduce = stage.motion == Motion::kReduce;
  // A gather passes on what came last, beginning with the member's own; a reduction begins with
  // what has the longest way.
  const int origin = (place - round - (reduce ? 1 : 0) + n) % n;
  return {{MemberAt(stage, member, at(place + 1)), at(origin), 1, reduce}};
}

std::vector<Send> HalvingSends(const Stage& stage, int member, int round) {
  const int position = PositionOf(stage, member);
  const int d = DistanceIn(stage, round);
  const int partner = position ^ d;
  const bool reduce = stage.motion == Motion::kReduce;
  const int first = (reduce ? partner : position) / d * d;
  return {{MemberAt(stage, member, partner), first, d, reduce}};
}

std::vector<Send> DisseminationSends(const Stage& stage, int member, int round) {
  const int n = stage.among.size;
  const int position = PositionOf(stage, member);
  const int d = DistanceIn(stage, round);
  const int count = std::min(d, n - d);
  if (stage.motion == Motion::kReduce) {
    const int to = (position + d) % n;
    return {{MemberAt(stage, member, to), to, count, true}};
  }
  return {{MemberAt(stage, member, (position - d + n) % n), position, count, false}};
}

// First the others of the node, then node after node, so that in a round all members leave their
// nodes or none does.
int ExchangePeer(const Stage& stage, const GroupShape& shape, int position, int round) {
  const int n = stage.among.size;
  if (!CoversNodes(stage, shape) || n == shape.local) return (position + round + 1) % n;
  const int local = shape.local;
  const int node = position / local;
  if (round < local - 1) return node * local + (position % local + round + 1) % local;
  const int across = round - (local - 1);
  const int nodes = n / local;
  return (node + 1 + across / local) % nodes * local + (position % local + across) % local;
}

std::vector<Send> ExchangeSends(const Stage& stage, const GroupShape& shape, int member,
                                int round) {
  const int position = PositionOf(stage, member);
  const int peer = ExchangePeer(stage, shape, position, round);
  return {{MemberAt(stage, member, peer), stage.motion == Motion::kGather ? position : peer, 1,
           stage.motion == Motion::kReduce}};
}

std::vector<Send> SwitchSends(const Stage& stage, int member) {
  if (stage.motion == Motion::kReduce) return {{kSwitchMember, 0, stage.among.size, true}};
  return {{kSwitchMember, PositionOf(stage, member), 1, false}};
}

// The longest path moves down the members by 1, 2, 4, ..., or waits; whether a hop leaves the node
// depends on the local place alone.
Steps DisseminationSteps(const Stage& stage, const GroupShape& shape) {
  const int local = shape.local;
  std::vector<Steps> ready(local);
  for (int round = 0; round < Log2Up(stage.among.size); ++round) {
    std::vector<Steps> after = ready;
    const int d = (1 << round) * stage.among.stride;
    for (int from = 0; from < local; ++from) {
      Steps steps = ready[from];
      ++(d > from ? steps.across : steps.in_node);
      Steps& to = after[((from - d) % local + local) % local];
      to = std::max(to, steps);
    }
    ready = std::move(after);
  }
  return *std::ranges::max_element(ready);
}

std::vector<Send> ShiftSends(const Stage& stage, int member) {
  const int n = stage.among.size;
  const int next = (PositionOf(stage, member) + 1) % n;
  return {{MemberAt(stage, member, next), 0, n, false}};
}

}  // namespace

int RoundsOf(const Stage& stage, const GroupShape& shape) {
  const int n = stage.among.size;
  if (n == 1) return 0;
  switch (stage.pattern) {
    case StagePattern::kRing:
    case StagePattern::kExchange:
      return n - 1;
    case StagePattern::kHalving:
    case StagePattern::kDissemination:
      return Log2Up(n);
    case StagePattern::kSwitch:
    case StagePattern::kShift:
      return 1;
    case StagePattern::kTree:
      return TreeRounds(stage, shape);
  }
  return 0;
}

std::vector<Send> SendsOf(const Stage& stage, const GroupShape& shape, int channel, int member,
                          int round) {
  switch (stage.pattern) {
    case StagePattern::kRing:
      return RingSends(stage, shape, channel, member, round);
    case StagePattern::kHalving:
      return HalvingSends(stage, member, round);
    case StagePattern::kDissemination:
      return DisseminationSends(stage, member, round);
    case StagePattern::kExchange:
      return ExchangeSends(stage, shape, member, round);
    case StagePattern::kSwitch:
      return SwitchSends(stage, member);
    case StagePattern::kTree:
      return TreeSends(stage, shape, channel, member, round);
    case StagePattern::kShift:
      return ShiftSends(stage, member);
  }
  return {};
}

std::vector<PeerShare> PeersOf(const Stage& stage, const GroupShape& shape, int channel,
                               int member) {
  if (stage.pattern == StagePattern::kTree) return TreePeers(stage, shape, channel, member);
  const int rounds = RoundsOf(stage, shape);
  if (rounds == 0) return {};
  const double share = PositionShare(stage, shape) / stage.channels;
  if (stage.pattern == StagePattern::kRing) {
    return {{RingSends(stage, shape, channel, member, 0).front().to, rounds * share}};
  }
  std::vector<PeerShare> peers;
  const int first = std::max(stage.only_round, 0);
  const int last = stage.only_round < 0 ? rounds : first + 1;
  for (int round = first; round < last; ++round) {
    for (const Send& send : SendsOf(stage, shape, channel, member, round)) {
      peers.push_back({send.to, send.count * share});
    }
  }
  return peers;
}

double FromSwitch(const Stage& stage, const GroupShape& shape) {
  const double share = PositionShare(stage, shape);
  return stage.motion == Motion::kReduce ? share : stage.among.size * share;
}

Steps StepsOf(const Stage& stage, const GroupShape& shape) {
  const int n = stage.among.size;
  const int stride = stage.among.stride;
  const int rounds = RoundsOf(stage, shape);
  if (rounds == 0) return {};
  if (stage.pattern == StagePattern::kTree) return TreeSteps(stage, shape);
  if (n * stride <= shape.local) return {0, rounds};
  int across = 0;
  switch (stage.pattern) {
    case StagePattern::kRing: {
      for (int p = 0; p < n; ++p) across += Crosses(shape, p * stride, (p + 1) % n * stride);
      across = std::min(across, rounds);
      break;
    }
    case StagePattern::kExchange:
      for (int round = 0; round < rounds; ++round) {
        across += Crosses(shape, 0, ExchangePeer(stage, shape, 0, round) * stride);
      }
      break;
    case StagePattern::kHalving:
      for (int round = 0; round < rounds; ++round) {
        across += shape.local % (2 * DistanceIn(stage, round) * stride) != 0;
      }
      break;
    case StagePattern::kDissemination:
      return DisseminationSteps(stage, shape);
    case StagePattern::kSwitch:
    case StagePattern::kShift:
    case StagePattern::kTree:
      across = rounds;
      break;
  }
  return {across, rounds - across};
}

BlockRange BlocksOf(const Stage& stage, const GroupShape& shape, int member, int q) {
  const int stride = stage.among.stride;
  const int step = stride * stage.among.size;
  return {member % stride + stride * q, step, std::max(1, shape.size() / step)};
}

}  // namespace zerosim
