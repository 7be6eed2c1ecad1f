#include "models/scenario/key_sections.h"

namespace zerosim {
namespace {

using enum KeyType;

constexpr double kLeastSpeed = 1e-3;
constexpr double kMostSpeed = 100;

constexpr KeySpec kKeys[] = {
    {.path = "cluster.exceptions",
     .type = kList,
     .otherwise = "all nodes are alike",
     .meaning =
         "Nodes that are not as the others: throttled, with a slow link or dead NICs. The "
         "step waits for the slowest, and the report says what that costs. Acts in zerosim run; "
         "zerosim collective takes all nodes as alike."},
    {.path = "cluster.exceptions[].nodes",
     .type = kTexts,
     .otherwise = "the first count nodes",
     .meaning = "Which, from 0: numbers and ranges, such as [3, 16-23]. In a pipeline it matters "
                "whose stages they hold."},
    {.path = "cluster.exceptions[].count",
     .type = kInteger,
     .otherwise = "as many as nodes lists",
     .low = 1,
     .high = kMostNodes,
     .meaning = "How many, where it does not matter which. Excludes nodes."},
    {.path = "cluster.exceptions[].compute_speed",
     .type = kNumber,
     .fallback = "1",
     .low = kLeastSpeed,
     .high = kMostSpeed,
     .meaning = "Rate of the kernels of these nodes' GPUs over that of the others: 0.4 for GPUs "
                "throttled to 40 %."},
    {.path = "cluster.exceptions[].gpu_link_speed",
     .type = kNumber,
     .fallback = "1",
     .low = kLeastSpeed,
     .high = kMostSpeed,
     .meaning = "The same of the links between their GPUs."},
    {.path = "cluster.exceptions[].nic_speed",
     .type = kNumber,
     .fallback = "1",
     .low = kLeastSpeed,
     .high = kMostSpeed,
     .meaning = "The same of each of their NICs: 0.5 for a link that came up at half its rate."},
    {.path = "cluster.exceptions[].dead_nics",
     .type = kInteger,
     .fallback = "0",
     .low = 0,
     .high = 1024,
     .meaning = "NICs that do not work, of cluster.fabric.nics_per_node; the others carry their "
                "bytes too."},
};

}  // namespace

std::span<const KeySpec> ExceptionKeys() {
  return kKeys;
}

}  // namespace zerosim
