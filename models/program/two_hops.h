// qgZ: the reduction of one gradient by all-to-alls of quantised values.
#pragma once

#include <cstdint>

#include "models/hardware/hardware.h"
#include "models/program/collective_kinds.h"
#include "models/program/program_writer.h"
#include "models/quantization/format.h"

namespace zerosim {

// quantise -> all-to-all in the node -> dequantise, sum, quantise -> all-to-all between the GPUs of
// equal local rank -> dequantise, sum. Strictly in sequence, on the reduce stream, over the shard
// group. `elements` values in `scale_groups` groups that share a scale, where the format fixes no
// group size. With one hop: one all-to-all over the whole group. `tensors` of that shape (experts)
// go through one at a time; each kind of operation stands in the program once, with the time of
// all.
void ReduceInTwoHops(std::int64_t elements, int tensors, std::int64_t scale_groups,
                     const GradientQuantization& formats, const ClusterSpec& cluster,
                     const Label& label, CollectiveKinds* kinds, ProgramWriter* writer);

}  // namespace zerosim
