// Device-memory traffic of the kernels around a collective: what they read plus what they write,
// for `elements` values of 16 bit. Their time is these bytes over the bandwidth of a device copy;
// scales are left out (below 0.1 % at DeepSpeed's group sizes). Counted from the kernels' inputs
// and outputs in DeepSpeed at edaa722 (csrc/quantization).
#pragma once

#include <cstdint>

#include "models/core/units.h"

namespace zerosim {

// 16-bit values to or from INT`bits`: 2 + bits/8 bytes a value.
constexpr Bytes QuantizeTraffic(std::int64_t elements, int bits) {
  return Bytes::Count(2 * elements + CeilDiv(elements * bits, 8));
}

// qWD (SDP4Bit): reads the fp32 weights of a shard and its 16-bit copies, writes the quantised
// differences.
constexpr Bytes DifferenceTraffic(std::int64_t elements, int bits) {
  return Bytes::Count(6 * elements + CeilDiv(elements * bits, 8));
}

// And adds them to 16-bit copies: reads both, writes the copies.
constexpr Bytes AddDifferenceTraffic(std::int64_t elements, int bits) {
  return Bytes::Count(4 * elements + CeilDiv(elements * bits, 8));
}

// A copy of 16-bit values, as when a coalesced buffer is cut into tensors or gradients are joined.
constexpr Bytes CopyTraffic(std::int64_t elements) {
  return Bytes::Count(4 * elements);
}

// qgZ between its hops: reads `parts` quantised parts of `elements` values each, sums them and
// writes one quantised part.
constexpr Bytes RequantizeTraffic(std::int64_t elements, int parts, int bits_in, int bits_out) {
  return Bytes::Count(parts * CeilDiv(elements * bits_in, 8) + CeilDiv(elements * bits_out, 8));
}

// qgZ after its last hop: reads `parts` quantised parts of `elements` values each and writes their
// sum, then adds it to the gradient shard (reads both, writes one).
constexpr Bytes AccumulateTraffic(std::int64_t elements, int parts, int bits) {
  return Bytes::Count(parts * CeilDiv(elements * bits, 8) + 2 * elements + 6 * elements);
}

}  // namespace zerosim
