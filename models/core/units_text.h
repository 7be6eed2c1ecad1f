// Quantities as people write them. The only place that knows prefixes.
//
// Decimal prefixes are powers of 1000 (GB is 1e9 bytes), binary ones of 1024 (GiB); a lower-case b
// is a bit, an upper-case B a byte. The unit is required, except after a lone 0.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "models/core/units.h"

namespace zerosim {

// Read "400 Gbps" or "50 GB/s", "5 us", "32 GB" or "80 GiB", "125 TFLOP/s". Return nothing if the
// text is not of that form, is negative or not finite, or (sizes) above 2^63 - 1 bytes. A size is
// rounded to the nearest byte.
std::optional<BytesPerSecond> ParseRate(std::string_view text);
std::optional<Seconds> ParseDuration(std::string_view text);
std::optional<Bytes> ParseSize(std::string_view text);
std::optional<FlopsPerSecond> ParseFlopRate(std::string_view text);

// Read a finite number without unit: "0.5", "1e7". ParseInteger accepts "1e7" too, but nothing that
// is not whole or not exact in a double (beyond 2^53).
std::optional<double> ParseNumber(std::string_view text);
std::optional<std::int64_t> ParseInteger(std::string_view text);

// Write with three significant digits and the unit in which the number lies in [1, 1000): "10.9
// ms", "36.9 GB", "12.5 GB/s", "125 TFLOP/s". Zero is "0 s"; what is not finite stays so ("inf s").
std::string FormatSeconds(Seconds time);
std::string FormatBytes(Bytes size);
std::string FormatRate(BytesPerSecond rate);
std::string FormatFlopRate(FlopsPerSecond rate);

// Writes a bare number with at most `digits` significant digits and no exponent between 1e-4 and
// 1e15: "0.885", "50000000".
std::string FormatNumber(double value, int digits = 6);

}  // namespace zerosim
