// A collective algorithm as data: who sends which part of the vector to whom, in which order.
//
// A schedule is stages, one after the other. In a stage the members of a group form sub-groups
// {size, stride}, and each sub-group gathers, reduces or exchanges by one pattern: so a
// hierarchical ring is two stages of rings, a torus one stage a dimension, qgZ's reduce-scatter an
// exchange inside of the nodes and one across them. Members are counted from 0; member i is local
// member i % local of the group's node i / local.
//
// The vector is cut into n blocks for n members, block b for member b. In a stage position q of a
// sub-group stands for the blocks that the stage brings to (or takes from) the member at q:
// those whose coordinate in the stage's dimension is q, whose lower coordinates are the member's
// own, and whose higher ones are any. (For n = 3 x 4, local 4: in the nodes position q is the
// blocks q, q+4, q+8; across them it is one block.) What a message carries is a range of positions.
//
// From a schedule come the bytes on every link (PeersOf), the latency (StepsOf) and, in small
// groups, every message (SendsOf). Nothing here depends on rates or sizes.
//
// Not modelled: how NCCL cuts messages into slices, and PAT's limit on buffers.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "models/parallel/groups.h"

namespace zerosim {

// A group of `nodes` x `local` members.
struct GroupShape {
  int nodes = 1;
  int local = 1;
  int size() const { return nodes * local; }
  friend bool operator==(const GroupShape&, const GroupShape&) = default;
};

enum class StagePattern : std::uint8_t {
  kRing,           // every position travels round the ring: size - 1 rounds
  kHalving,        // partners at distance size/2, size/4, ..., 1 (gather: reversed); size is 2^k
  kDissemination,  // to the member 2^k before (reduce: after), what it lacks; any size
  kExchange,       // every member straight to every other
  kSwitch,         // by a switch that sums what comes up and multiplies what goes down
  kTree,           // up to a root, and down again; chunk by chunk
  kShift,          // the whole vector to the next member
};

enum class TreeKind : std::uint8_t {
  kDoubleBinary,  // two trees on half of the vector each: an inner node of one is a leaf of the
                  // other (Sanders, Speck, Traeff, Parallel Computing 35, 2009)
  kChain,         // in the order of the members
};

enum class Motion : std::uint8_t {
  kGather,    // a member begins with its own position and ends with all
  kReduce,    // it begins with an input to all and ends with the sum of its own
  kPersonal,  // it has something else for every member (all-to-all)
};

struct Stage {
  StagePattern pattern = StagePattern::kRing;
  ProcessGroup among;  // sub-groups of members
  Motion motion = Motion::kGather;
  // Ways that divide the vector between them and run at once. Each leaves a node from another of
  // its members: way c visits the members of a node beginning at c * local / channels. Of kRing
  // and kTree over whole nodes.
  int channels = 1;
  // In place of that order: of each channel, the local members in the order in which it visits
  // them. Empty, or one a channel.
  std::vector<std::vector<int>> local_orders = {};
  // Of kTree alone: the vector passes as so many chunks, from the leaves to the root (up), from
  // the root to the leaves (down), or both. The members of a node form a chain to its first one.
  TreeKind tree = TreeKind::kDoubleBinary;
  int chunks = 1;
  bool up = true;
  bool down = true;
  // Of kHalving and kDissemination: this round alone, of which PeersOf then tells; -1: all.
  int only_round = -1;
};

struct Schedule {
  GroupShape shape;
  std::vector<Stage> stages;  // empty for a group of one
};

constexpr int kSwitchMember = -1;  // whom a member of a kSwitch stage sends to

// Positions first, first + 1, ..., modulo the size of the sub-group. Of kTree: chunks.
struct Send {
  int to = 0;
  int first = 0;
  int count = 1;
  bool reduce = false;  // the receiver sums what it gets; otherwise it stores it
  friend bool operator==(const Send&, const Send&) = default;
};

int RoundsOf(const Stage& stage, const GroupShape& shape);

// What `member` sends in `round` on `channel`. A member begins a round when what it sent and
// received in the rounds before is over; members do not wait for each other otherwise.
std::vector<Send> SendsOf(const Stage& stage, const GroupShape& shape, int channel, int member,
                          int round);

// What it sends to whom over all rounds, in parts of the whole vector of n blocks: one item a peer.
// Constant work but for kExchange, where all other members of the sub-group are peers.
struct PeerShare {
  int to = 0;
  double share = 0;
  friend bool operator==(const PeerShare&, const PeerShare&) = default;
};
std::vector<PeerShare> PeersOf(const Stage& stage, const GroupShape& shape, int channel,
                               int member);

// What the switch of a kSwitch stage sends each member, in parts of the whole vector: of a reduce
// the member's position, of a gather all positions.
double FromSwitch(const Stage& stage, const GroupShape& shape);

// Hops on the longest path of a part of the vector. In a ring over several nodes most hops stay
// inside of a node. An exchange counts a hop a round, since a message follows the one before.
struct Steps {
  int across = 0;
  int in_node = 0;
  friend auto operator<=>(const Steps&, const Steps&) = default;
};
Steps StepsOf(const Stage& stage, const GroupShape& shape);

// The blocks of position `q` in the sub-group of `member`: first, first + step, ..., `count` of
// them.
struct BlockRange {
  int first = 0;
  int step = 1;
  int count = 1;
};
BlockRange BlocksOf(const Stage& stage, const GroupShape& shape, int member, int q);

}  // namespace zerosim
