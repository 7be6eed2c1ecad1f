// Quantised tensors on the wire: groups, bytes and the error that they cause.
//
// Every group of consecutive elements shares one fp32 scale (4 bytes), and an asymmetric one a
// zero point of the same size too. Sources: models/quantization/README.md.
#pragma once

#include <cstdint>

#include "models/core/units.h"
#include "models/quantization/format.h"

namespace zerosim {

// How `elements` values travel.
struct QuantizedSize {
  std::int64_t groups = 0;
  std::int64_t group_size = 0;    // of all groups but perhaps the last
  Bytes payload;                  // ceil(elements * bits / 8)
  Bytes metadata;                 // scales and zero points
  bool deepspeed_accepts = true;  // false: DeepSpeed's rule finds no group count and asserts

  Bytes total() const { return payload + metadata; }
};

// With format.group_size: ceil(elements / group_size) groups. Without: DeepSpeed's rule for the
// quantised all-gather, applied to a rank's shard of `elements` (CUDAQuantizer in
// runtime/zero/partition_parameters.py at edaa722): start at ceil(n/8000) groups, raise the number
// until n is a multiple of 8*groups, then double it while a group is above 8000 and the division
// stays whole. If no number fits, deepspeed_accepts is false and the start value is kept.
QuantizedSize QuantizedSizeOf(std::int64_t elements, const QuantizationFormat& format);

// The same where DeepSpeed fixes the number of groups (qgZ: max(rows, columns, world)); a
// format.group_size wins over it.
QuantizedSize QuantizedSizeOf(std::int64_t elements, const QuantizationFormat& format,
                              std::int64_t deepspeed_groups);

// Expected normalised squared error, E|x - q(x)|^2 / E|x|^2, of one quantisation of Gaussian
// values: step^2/12 over the variance, with the step from the expected largest magnitude of a
// group. For a mean of n independently quantised values divide by n yourself.
double RelativeSquaredError(const QuantizationFormat& format, std::int64_t group_size);

}  // namespace zerosim
