// How values are quantised for the wire.
#pragma once

#include <cstdint>
#include <optional>

namespace zerosim {

// Every group of `group_size` consecutive elements shares a scale (and, if asymmetric, a zero
// point).
struct QuantizationFormat {
  int bits = 8;
  // Elements that share a scale; empty: DeepSpeed's rule (quantization.h).
  std::optional<std::int64_t> group_size;
  bool symmetric = true;
  bool operator==(const QuantizationFormat&) const = default;
};

// How frozen weights of `bits` < 16 are kept and travel: INT8 in DeepSpeed's groups (MixZ++), or 4
// bits in groups of 64 (QLoRA, arXiv 2305.14314; here with fp32 scales, without its second
// quantisation of them).
inline QuantizationFormat FrozenFormat(int bits) {
  QuantizationFormat format;
  format.bits = bits;
  if (bits == 4) format.group_size = 64;
  return format;
}

// qgZ: one format a hop.
struct GradientQuantization {
  QuantizationFormat in_node{.bits = 4, .group_size = {}, .symmetric = true};
  QuantizationFormat between_nodes{.bits = 4, .group_size = {}, .symmetric = true};
  // false: one all-to-all over the shard group, L times the bytes between nodes, one event.
  bool two_hops = true;
  bool operator==(const GradientQuantization&) const = default;
};

}  // namespace zerosim
