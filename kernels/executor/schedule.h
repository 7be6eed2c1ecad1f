// Which CUDA thread runs next, and which block.
//
// CUDA promises no order, so a kernel must be right in each. Three kinds find nearly all that an
// order of whole stretches between synchronisations can find:
//
//   kForward   the first ready lane of the first warp that has one: warps run far ahead of later
//   ones kReverse   the last of the last kRandom    a random lane of a random warp; the warp of the
//   turn before is kept with a probability
//              of 0, 1/2, 15/16 or 1 that is drawn for each block. Without it no warp ever runs a
//              whole loop ahead of another, which is what a missing barrier at a loop's end needs
//              to show.
//
// A thread runs until it waits, so finer interleavings are not tried: ThreadSanitizer finds those
// races.
#pragma once

#include <cstdint>

namespace zerosim::kernels::executor {

enum class Order { kForward, kReverse, kRandom };

// The ready threads of one block, of at most 1024 threads in warps of 32.
class Schedule {
 public:
  // Equal orders and seeds give equal schedules. Only kRandom looks at the seed.
  void BeginLaunch(Order order, std::uint64_t seed);
  // No thread is ready.
  void BeginBlock();

  Order order() const { return order_; }

  void Push(int thread) {
    const unsigned warp = static_cast<unsigned>(thread) / 32;
    warps_ |= 1u << warp;
    lanes_[warp] |= 1u << (thread % 32);
  }

  // Makes the lanes of `mask` of a warp ready.
  void PushLanes(int warp, unsigned mask) {
    if (mask == 0) return;
    warps_ |= 1u << warp;
    lanes_[warp] |= mask;
  }

  // Takes the thread that runs next; -1 if none is ready.
  int Pop() {
    if (warps_ == 0) return -1;
    unsigned lane = 0;
    if (order_ == Order::kForward) {
      warp_ = FirstBit(warps_);
      lane = FirstBit(lanes_[warp_]);
    } else {
      lane = ChooseWarpAndLane();
    }
    lanes_[warp_] &= ~(1u << lane);
    if (lanes_[warp_] == 0) warps_ &= ~(1u << warp_);
    return static_cast<int>(warp_ * 32 + lane);
  }

 private:
  static unsigned FirstBit(unsigned mask) { return static_cast<unsigned>(__builtin_ctz(mask)); }

  std::uint64_t Random();
  // Sets warp_; returns a ready lane of it.
  unsigned ChooseWarpAndLane();

  Order order_ = Order::kForward;
  std::uint64_t random_state_ = 1;
  unsigned warp_ = 0;        // of the turn before
  unsigned stickiness_ = 0;  // of 256: how often it is kept
  unsigned warps_ = 0;       // those with a ready lane
  unsigned lanes_[32] = {};  // the ready lanes of each
};

// The blocks first ... first + count - 1 in the order of the kind: each once. kRandom goes through
// them by a random stride, so that neighbours do not follow each other.
class BlockSequence {
 public:
  BlockSequence(Order order, std::uint64_t seed, std::uint64_t first, std::uint64_t count);
  bool done() const { return left_ == 0; }
  std::uint64_t Next();

 private:
  std::uint64_t first_;
  std::uint64_t count_;
  std::uint64_t stride_;
  std::uint64_t position_;
  std::uint64_t left_;
};

}  // namespace zerosim::kernels::executor
