// One all-gather of weights, plain or quantised (qwZ), as every framework's schedule makes it.
#pragma once

#include <cstdint>
#include <optional>

#include "models/hardware/hardware.h"
#include "models/program/step_program.h"
#include "models/quantization/format.h"

namespace zerosim {

struct GatherCall {
  Call call;                      // but for its kind
  Seconds lead;                   // quantising the shard
  bool deepspeed_accepts = true;  // false: DeepSpeed has no group count for a shard of this size
};

// An all-gather of `elements` 16-bit weights of which each of `shards` ranks holds
// `shard_elements`, padding included.
GatherCall GatherCallOf(std::int64_t elements, std::int64_t shard_elements, int shards,
                        const std::optional<QuantizationFormat>& format,
                        const ClusterSpec& cluster);

}  // namespace zerosim
