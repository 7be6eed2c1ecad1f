#include "models/program/gather_call.h"

#include "models/compute/compute.h"
#include "models/program/kernel_bytes.h"
#include "models/quantization/quantization.h"

namespace zerosim {

GatherCall GatherCallOf(std::int64_t elements, std::int64_t shard_elements, int shards,
                        const std::optional<QuantizationFormat>& format,
                        const ClusterSpec& cluster) {
  GatherCall gather;
  gather.call.payload = Bytes::Count(2 * elements);
  if (!format) {
    gather.call.full = Bytes::Count(2 * shard_elements * shards);
    return gather;
  }
  const QuantizedSize shard = QuantizedSizeOf(shard_elements, *format);
  gather.deepspeed_accepts = shard.deepspeed_accepts;
  gather.call.full = shards * shard.total();
  gather.call.launches = 2;
  gather.lead = MemoryTime(QuantizeTraffic(shard_elements, format->bits), cluster);
  return gather;
}

}  // namespace zerosim
