#include "kernels/executor/schedule.h"

#include <numeric>

namespace zerosim::kernels::executor {
namespace {

// Marsaglia's xorshift64 (Journal of Statistical Software 8, 2003). The state is never 0.
std::uint64_t Xorshift(std::uint64_t x) {
  x ^= x << 13;
  x ^= x >> 7;
  x ^= x << 17;
  return x;
}

// Small seeds must not give alike states: the multiplier is 2^64 over the golden ratio.
std::uint64_t StateOf(std::uint64_t seed) {
  return Xorshift((seed * 0x9E3779B97F4A7C15u) | 1);
}

unsigned LastBit(unsigned mask) {
  return 31u - static_cast<unsigned>(__builtin_clz(mask));
}

// The first set bit from a random one on, around the end.
unsigned AnyBit(unsigned mask, std::uint64_t random) {
  const auto start = static_cast<unsigned>(random % 32);
  const unsigned rotated = mask >> start | mask << (32 - start) % 32;
  return (static_cast<unsigned>(__builtin_ctz(rotated)) + start) % 32;
}

}  // namespace

void Schedule::BeginLaunch(Order order, std::uint64_t seed) {
  order_ = order;
  random_state_ = StateOf(seed);
}

void Schedule::BeginBlock() {
  constexpr unsigned stickiness_of_256[] = {0, 128, 240, 256};
  stickiness_ = stickiness_of_256[(Random() >> 20) % 4];
  warps_ = 0;
  for (unsigned& lanes : lanes_) lanes = 0;
}

std::uint64_t Schedule::Random() {
  return random_state_ = Xorshift(random_state_);
}

unsigned Schedule::ChooseWarpAndLane() {
  if (order_ == Order::kReverse) {
    warp_ = LastBit(warps_);
    return LastBit(lanes_[warp_]);
  }
  const std::uint64_t random = Random() >> 11;
  const bool keep = (warps_ >> warp_ & 1u) != 0 && random % 256 < stickiness_;
  if (!keep) warp_ = AnyBit(warps_, random >> 8);
  return AnyBit(lanes_[warp_], random >> 16);
}

BlockSequence::BlockSequence(Order order, std::uint64_t seed, std::uint64_t first,
                             std::uint64_t count)
    : first_(first), count_(count), stride_(1), position_(0), left_(count) {
  if (count < 2 || order == Order::kForward) return;
  if (order == Order::kReverse) {
    stride_ = position_ = count - 1;
    return;
  }
  const std::uint64_t random = StateOf(~seed);
  position_ = random % count;
  // A stride without a common factor comes by each block.
  stride_ = 1 + Xorshift(random) % (count - 1);
  while (std::gcd(stride_, count) != 1) stride_ = 1 + stride_ % (count - 1);
}

std::uint64_t BlockSequence::Next() {
  const std::uint64_t block = first_ + position_;
  // Less than 2^64: a grid has less than 2^63 blocks (launch.h).
  position_ = (position_ + stride_) % count_;
  --left_;
  return block;
}

}  // namespace zerosim::kernels::executor
