#include "models/collectives/tree.h"

#include <bit>

#include "models/collectives/positions.h"

namespace zerosim {
namespace {

// The in-order binary tree of nodes 0 ... n-1. Node 0 is the root and has one child; another node
// r = k 2^b (k odd) stands above r - 2^(b-1) and r + 2^(b-1):
//
//   0 --- 8;  8: 4, 12;  4: 2, 6;  12: 10, 14;  2: 1, 3;  ...
//
// Where n is no power of two, a node whose parent does not exist goes to the next one above it.
int LowBit(int r) {
  return r & -r;
}

int TreeParent(int r, int n) {
  if (r == 0) return -1;
  const int up = (r ^ LowBit(r)) | (LowBit(r) << 1);
  return up < n ? up : r ^ LowBit(r);
}

std::vector<int> TreeChildren(int r, int n) {
  std::vector<int> children;
  if (r == 0) {
    if (n > 1) children.push_back(static_cast<int>(std::bit_floor(static_cast<unsigned>(n - 1))));
    return children;
  }
  if (LowBit(r) > 1) children.push_back(r - LowBit(r) / 2);
  for (int d = LowBit(r) / 2; d >= 1; d /= 2) {
    if (r + d < n) {
      children.push_back(r + d);
      break;
    }
  }
  return children;
}

int Levels(int n) {  // between the root and the deepest node
  return static_cast<int>(std::bit_width(static_cast<unsigned>(n - 1)));
}

int TreeDepth(int r, int n) {
  int depth = 0;
  for (; r != 0; r = TreeParent(r, n)) ++depth;
  return depth;
}

// Rounds before a node has all that comes from below: enough for the deepest sub-tree.
int TreeHeight(int r, int n) {
  return r == 0 ? Levels(n) : std::countr_zero(static_cast<unsigned>(r));
}

// One member of one tree of one channel.
struct TreePlace {
  int parent = -1;  // a position
  std::vector<int> children;
  int height = 0;
  int depth = 0;
};

// Length of the chains inside of the nodes.
int ChainLength(const Stage& stage, const GroupShape& shape) {
  return CoversNodes(stage, shape) ? shape.local : 1;
}

// The second tree is the first one mirrored, or shifted by one if n is odd, so that leaves (odd
// nodes of the first) become inner nodes.
int ToTree(int tree, int node, int n) {
  if (tree == 0) return node;
  return n % 2 == 0 ? n - 1 - node : (node + n - 1) % n;
}
int FromTree(int tree, int node, int n) {
  if (tree == 0) return node;
  return n % 2 == 0 ? n - 1 - node : (node + 1) % n;
}

TreePlace PlaceInTree(const Stage& stage, const GroupShape& shape, int channel, int tree,
                      int position) {
  const int chain = ChainLength(stage, shape);
  const int nodes = stage.among.size / chain;
  const int place = RingPlace(stage, shape, channel, position);
  const int link = place % chain;  // of the node's chain; 0 is its head
  const auto at = [&](int p) { return PositionInRing(stage, shape, channel, p); };
  TreePlace result;
  const int node = ToTree(tree, place / chain, nodes);
  result.depth = TreeDepth(node, nodes) + link;
  result.height = chain - 1 - link;
  if (link + 1 < chain) result.children.push_back(at(place + 1));
  if (link > 0) {
    result.parent = at(place - 1);
    return result;
  }
  result.height += TreeHeight(node, nodes);
  for (const int child : TreeChildren(node, nodes)) {
    result.children.push_back(at(FromTree(tree, child, nodes) * chain));
  }
  if (const int parent = TreeParent(node, nodes); parent >= 0) {
    result.parent = at(FromTree(tree, parent, nodes) * chain);
  }
  return result;
}

// A chain follows the channel's ring from the member at position 0.
TreePlace PlaceInChain(const Stage& stage, const GroupShape& shape, int channel, int position) {
  const int n = stage.among.size;
  const int root = RingPlace(stage, shape, channel, 0);
  const int place = (RingPlace(stage, shape, channel, position) - root + n) % n;
  const auto at = [&](int p) { return PositionInRing(stage, shape, channel, (p + root) % n); };
  TreePlace result;
  result.height = n - 1 - place;
  result.depth = place;
  if (place > 0) result.parent = at(place - 1);
  if (place + 1 < n) result.children.push_back(at(place + 1));
  return result;
}

TreePlace PlaceOf(const Stage& stage, const GroupShape& shape, int channel, int tree,
                  int position) {
  return stage.tree == TreeKind::kChain ? PlaceInChain(stage, shape, channel, position)
                                        : PlaceInTree(stage, shape, channel, tree, position);
}

// Longest way between the root and a leaf.
int DepthOf(const Stage& stage, const GroupShape& shape) {
  if (stage.tree == TreeKind::kChain) return stage.among.size - 1;
  const int chain = ChainLength(stage, shape);
  return Levels(stage.among.size / chain) + chain - 1;
}

}  // namespace

int TreesOf(const Stage& stage) {
  return stage.tree == TreeKind::kChain ? 1 : 2;
}

// Chunk c leaves a member for its parent in round c + height, and comes down from it in round
// c + depth after the root had the first.
int TreeRounds(const Stage& stage, const GroupShape& shape) {
  const int depth = DepthOf(stage, shape);
  if (depth == 0) return 0;
  return stage.chunks - 1 + (stage.up ? depth : 0) + (stage.down ? depth : 0);
}

std::vector<Send> TreeSends(const Stage& stage, const GroupShape& shape, int channel, int member,
                            int round) {
  std::vector<Send> sends;
  const int position = PositionOf(stage, member);
  const auto in_range = [&](int chunk) { return chunk >= 0 && chunk < stage.chunks; };
  for (int tree = 0; tree < TreesOf(stage); ++tree) {
    const TreePlace place = PlaceOf(stage, shape, channel, tree, position);
    const int first = tree * stage.chunks;
    const int up = round - place.height;
    if (stage.up && place.parent >= 0 && in_range(up)) {
      sends.push_back({MemberAt(stage, member, place.parent), first + up, 1, true});
    }
    const int down = round - place.depth - (stage.up ? DepthOf(stage, shape) : 0);
    if (stage.down && in_range(down)) {
      for (const int child : place.children) {
        sends.push_back({MemberAt(stage, member, child), first + down, 1, false});
      }
    }
  }
  return sends;
}

std::vector<PeerShare> TreePeers(const Stage& stage, const GroupShape& shape, int channel,
                                 int member) {
  std::vector<PeerShare> peers;
  const double share = 1.0 / stage.among.stride / stage.channels / TreesOf(stage);
  for (int tree = 0; tree < TreesOf(stage); ++tree) {
    const TreePlace place = PlaceOf(stage, shape, channel, tree, PositionOf(stage, member));
    if (stage.up && place.parent >= 0) {
      peers.push_back({MemberAt(stage, member, place.parent), share});
    }
    if (!stage.down) continue;
    for (const int child : place.children) {
      peers.push_back({MemberAt(stage, member, child), share});
    }
  }
  return peers;
}

Steps TreeSteps(const Stage& stage, const GroupShape& shape) {
  const int passes = (stage.up ? 1 : 0) + (stage.down ? 1 : 0);
  const int depth = DepthOf(stage, shape);
  int across = 0;
  if (stage.tree == TreeKind::kChain) {
    for (int place = 1; place <= depth; ++place) {
      across += Crosses(shape, PositionInRing(stage, shape, 0, place - 1) * stage.among.stride,
                        PositionInRing(stage, shape, 0, place) * stage.among.stride);
    }
  } else if (CoversNodes(stage, shape)) {
    across = depth - (shape.local - 1);
  } else if (stage.among.size * stage.among.stride > shape.local) {
    across = depth;
  }
  return {passes * across, passes * (depth - across)};
}

}  // namespace zerosim
