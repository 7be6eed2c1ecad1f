// Barriers, shuffles, votes and reductions of warps: CUDA's words, each of which knows where the
// kernel says it; block.h and warp.h say what is checked.
//
// They are functions of this namespace, not macros, so that nothing of them is seen outside of it.
#pragma once

#include <cstdint>
#include <cstring>

#include "kernels/executor/operations.h"

namespace zerosim::kernels {
namespace executor {

// Values of up to 8 bytes, as CUDA shuffles them.
template <class T>
std::uint64_t BitsOf(T value) {
  static_assert(sizeof(T) <= sizeof(std::uint64_t), "CUDA shuffles no value of more than 8 bytes");
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  return bits;
}

template <class T>
T FromBits(std::uint64_t bits) {
  T value;
  std::memcpy(&value, &bits, sizeof(T));
  return value;
}

// Folds what the lanes of `mask` brought, in the order of lanes.
template <class T, class Fold>
T Reduce(unsigned mask, T value, const Place& place, Fold fold) {
  std::uint64_t values[32];
  unsigned left = Gather(mask, BitsOf(value), values, place);
  T result = FromBits<T>(values[__builtin_ctz(left)]);
  while ((left &= left - 1) != 0) result = fold(result, FromBits<T>(values[__builtin_ctz(left)]));
  return result;
}

}  // namespace executor

inline constexpr unsigned kAllLanes = 0xffffffffu;

inline void __syncthreads(ZEROSIM_HERE) {
  executor::SyncBlock(0, ZEROSIM_PLACE("__syncthreads"));
}
inline int __syncthreads_count(int predicate, ZEROSIM_HERE) {
  return executor::SyncBlock(predicate, ZEROSIM_PLACE("__syncthreads_count"));
}
inline int __syncthreads_or(int predicate, ZEROSIM_HERE) {
  return executor::SyncBlock(predicate, ZEROSIM_PLACE("__syncthreads_or")) != 0;
}
inline int __syncthreads_and(int predicate, ZEROSIM_HERE) {
  const int inverse = predicate == 0 ? 1 : 0;
  return executor::SyncBlock(inverse, ZEROSIM_PLACE("__syncthreads_and")) == 0;
}

inline void __syncwarp(unsigned mask = kAllLanes, ZEROSIM_HERE) {
  executor::SyncWarp(mask, ZEROSIM_PLACE("__syncwarp"));
}

template <class T>
T __shfl_sync(unsigned mask, T value, int lane, int width = 32, ZEROSIM_HERE) {
  return executor::FromBits<T>(executor::Shuffle(executor::Source::kIndex, mask,
                                                 executor::BitsOf(value), lane, width,
                                                 ZEROSIM_PLACE("__shfl_sync")));
}
template <class T>
T __shfl_xor_sync(unsigned mask, T value, int lane_mask, int width = 32, ZEROSIM_HERE) {
  return executor::FromBits<T>(executor::Shuffle(executor::Source::kXor, mask,
                                                 executor::BitsOf(value), lane_mask, width,
                                                 ZEROSIM_PLACE("__shfl_xor_sync")));
}
template <class T>
T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32, ZEROSIM_HERE) {
  return executor::FromBits<T>(executor::Shuffle(executor::Source::kUp, mask,
                                                 executor::BitsOf(value), static_cast<int>(delta),
                                                 width, ZEROSIM_PLACE("__shfl_up_sync")));
}
template <class T>
T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32, ZEROSIM_HERE) {
  return executor::FromBits<T>(executor::Shuffle(executor::Source::kDown, mask,
                                                 executor::BitsOf(value), static_cast<int>(delta),
                                                 width, ZEROSIM_PLACE("__shfl_down_sync")));
}

inline unsigned __ballot_sync(unsigned mask, int predicate, ZEROSIM_HERE) {
  return executor::Ballot(mask, predicate != 0, ZEROSIM_PLACE("__ballot_sync"));
}
inline int __any_sync(unsigned mask, int predicate, ZEROSIM_HERE) {
  return executor::Ballot(mask, predicate != 0, ZEROSIM_PLACE("__any_sync")) != 0;
}
inline int __all_sync(unsigned mask, int predicate, ZEROSIM_HERE) {
  return executor::Ballot(mask, predicate == 0, ZEROSIM_PLACE("__all_sync")) == 0;
}

// unsigned and int, as on compute capability 8.0 and later.
template <class T>
T __reduce_add_sync(unsigned mask, T value, ZEROSIM_HERE) {
  return executor::Reduce(mask, value, ZEROSIM_PLACE("__reduce_add_sync"), [](T a, T b) {
    return static_cast<T>(static_cast<unsigned>(a) + static_cast<unsigned>(b));
  });
}
template <class T>
T __reduce_min_sync(unsigned mask, T value, ZEROSIM_HERE) {
  return executor::Reduce(mask, value, ZEROSIM_PLACE("__reduce_min_sync"),
                          [](T a, T b) { return b < a ? b : a; });
}
template <class T>
T __reduce_max_sync(unsigned mask, T value, ZEROSIM_HERE) {
  return executor::Reduce(mask, value, ZEROSIM_PLACE("__reduce_max_sync"),
                          [](T a, T b) { return a < b ? b : a; });
}
inline unsigned __reduce_and_sync(unsigned mask, unsigned value, ZEROSIM_HERE) {
  return executor::Reduce(mask, value, ZEROSIM_PLACE("__reduce_and_sync"),
                          [](unsigned a, unsigned b) { return a & b; });
}
inline unsigned __reduce_or_sync(unsigned mask, unsigned value, ZEROSIM_HERE) {
  return executor::Reduce(mask, value, ZEROSIM_PLACE("__reduce_or_sync"),
                          [](unsigned a, unsigned b) { return a | b; });
}
inline unsigned __reduce_xor_sync(unsigned mask, unsigned value, ZEROSIM_HERE) {
  return executor::Reduce(mask, value, ZEROSIM_PLACE("__reduce_xor_sync"),
                          [](unsigned a, unsigned b) { return a ^ b; });
}

}  // namespace zerosim::kernels
