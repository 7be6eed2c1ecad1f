#include <deque>
#include <string>

#include <fmt/format.h>

#include "models/scenario/key_sections.h"

namespace zerosim {
namespace {

using enum KeyType;

// Paths are below the strategy.
constexpr KeySpec kWeights[] = {
    {.path = "bits",
     .type = kInteger,
     .fallback = "8",
     .low = 2,
     .high = 8,
     .meaning = "Bits of a value on the wire."},
    {.path = "group_size",
     .type = kInteger,
     .otherwise = "DeepSpeed's rule",
     .low = 1,
     .high = 1e12,
     .meaning = "Consecutive elements that share a scale."},
    {.path = "symmetric",
     .type = kFlag,
     .fallback = "true",
     .meaning = "Whether a group has a scale only, or a zero point too."},
};

constexpr KeySpec kDifferences[] = {
    {.path = "bits",
     .type = kInteger,
     .fallback = "4",
     .low = 2,
     .high = 8,
     .meaning = "Bits of a difference on the wire."},
    {.path = "group_size",
     .type = kInteger,
     .otherwise = "DeepSpeed's rule for weights",
     .low = 1,
     .high = 1e12,
     .meaning = "Consecutive elements that share a scale."},
    {.path = "symmetric",
     .type = kFlag,
     .fallback = "true",
     .meaning = "Whether a group has a scale only, or a zero point too."},
};

constexpr KeySpec kGradients[] = {
    {.path = "bits",
     .type = kInteger,
     .fallback = "4",
     .low = 2,
     .high = 8,
     .meaning = "Bits of a value on the wire, in both hops."},
    {.path = "in_node_bits",
     .type = kInteger,
     .otherwise = "bits",
     .low = 2,
     .high = 8,
     .meaning = "Bits of a value in the hop within the node."},
    {.path = "between_nodes_bits",
     .type = kInteger,
     .otherwise = "bits",
     .low = 2,
     .high = 8,
     .meaning = "Bits of a value in the hop between nodes."},
    {.path = "group_size",
     .type = kInteger,
     .otherwise = "DeepSpeed's rule; a group a rank in fsdp and in stages 1 and 2",
     .low = 1,
     .high = 1e12,
     .meaning = "Consecutive elements that share a scale."},
    {.path = "symmetric",
     .type = kFlag,
     .fallback = "true",
     .meaning = "Whether a group has a scale only, or a zero point too."},
    {.path = "hops",
     .type = kInteger,
     .fallback = "2",
     .low = 1,
     .high = 2,
     .meaning = "2: an all-to-all in the node, a sum, an all-to-all between nodes. 1: one "
                "all-to-all over all ranks, which carries as many times the bytes between nodes as "
                "a node has GPUs."},
};

std::vector<KeySpec> Below(std::string_view section, std::span<const KeySpec> keys) {
  // KeySpec refers to its texts, and the table lives as long as the process.
  static std::deque<std::string> paths;
  std::vector<KeySpec> own(keys.begin(), keys.end());
  for (KeySpec& key : own) key.path = paths.emplace_back(fmt::format("{}.{}", section, key.path));
  return own;
}

}  // namespace

std::vector<KeySpec> QuantizationKeys(std::string_view section) {
  if (section.ends_with(".quantized_weights")) return Below(section, kWeights);
  if (section.ends_with(".quantized_weight_differences")) return Below(section, kDifferences);
  if (section.ends_with(".quantized_gradients")) return Below(section, kGradients);
  return {};
}

}  // namespace zerosim
