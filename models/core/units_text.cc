#include "models/core/units_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <span>
#include <utility>

#include <fmt/format.h>

namespace zerosim {
namespace {

struct Unit {
  std::string_view name;
  double factor;
};

// The leading ones, which ascend, are those that Format* writes.
constexpr Unit kRates[] = {
    {"B/s", 1},         {"KB/s", 1e3},     {"MB/s", 1e6},     {"GB/s", 1e9},
    {"TB/s", 1e12},     {"PB/s", 1e15},    {"kB/s", 1e3},     {"KiB/s", 0x1p10},
    {"MiB/s", 0x1p20},  {"GiB/s", 0x1p30}, {"TiB/s", 0x1p40}, {"bps", 0.125},
    {"Kbps", 125},      {"kbps", 125},     {"Mbps", 0.125e6}, {"Gbps", 0.125e9},
    {"Tbps", 0.125e12}, {"Mb/s", 0.125e6}, {"Gb/s", 0.125e9}, {"Tb/s", 0.125e12}};
constexpr Unit kDurations[] = {{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}};
constexpr Unit kSizes[] = {{"B", 1},        {"KB", 1e3},     {"MB", 1e6},    {"GB", 1e9},
                           {"TB", 1e12},    {"PB", 1e15},    {"kB", 1e3},    {"KiB", 0x1p10},
                           {"MiB", 0x1p20}, {"GiB", 0x1p30}, {"TiB", 0x1p40}};
constexpr Unit kFlopRates[] = {{"FLOP/s", 1},    {"KFLOP/s", 1e3},  {"MFLOP/s", 1e6},
                               {"GFLOP/s", 1e9}, {"TFLOP/s", 1e12}, {"PFLOP/s", 1e15}};

constexpr std::size_t kWrittenRates = 6;  // up to PB/s
constexpr std::size_t kWrittenSizes = 6;

// Splits "400 Gbps" into 400 and "Gbps". Negative, infinite and malformed numbers are refused.
std::optional<std::pair<double, std::string_view>> SplitNumber(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || !std::isfinite(value) || value < 0) return std::nullopt;
  std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
  while (unit.starts_with(' ')) unit.remove_prefix(1);
  return std::pair(value, unit);
}

std::optional<double> Parse(std::string_view text, std::span<const Unit> units) {
  const auto split = SplitNumber(text);
  if (!split) return std::nullopt;
  const auto [value, unit] = *split;
  if (value == 0 && unit.empty()) return 0.0;
  for (const Unit& u : units) {
    if (u.name == unit && std::isfinite(value * u.factor)) return value * u.factor;
  }
  return std::nullopt;
}

// Writes `value` in the largest of `units`, which ascend, that leaves it at 1 or more once rounded
// to three digits (so that 999.7 us is 1.00 ms), or else in the smallest.
std::string Format(double value, std::span<const Unit> units, std::string_view zero_unit) {
  if (value == 0 || !std::isfinite(value)) return fmt::format("{} {}", value, zero_unit);
  const double magnitude = std::abs(value);
  const double digit = std::pow(10, std::floor(std::log10(magnitude)) - 2);
  const double rounded = std::round(magnitude / digit) * digit;
  const Unit* chosen = &units.front();
  for (const Unit& u : units) {
    // The tolerance is for roundings such as 0.001 / 1e-3 < 1.
    if (rounded >= u.factor * (1 - 1e-9)) chosen = &u;
  }
  const double scaled = value / chosen->factor;
  if (rounded < units.front().factor) return fmt::format("{:.3g} {}", scaled, chosen->name);
  const int whole_digits =
      static_cast<int>(std::floor(std::log10(rounded / chosen->factor * (1 + 1e-9)))) + 1;
  return fmt::format("{:.{}f} {}", scaled, std::max(0, 3 - std::max(1, whole_digits)),
                     chosen->name);
}

}  // namespace

std::optional<BytesPerSecond> ParseRate(std::string_view text) {
  const auto v = Parse(text, kRates);
  return v ? std::optional(BytesPerSecond::Count(*v)) : std::nullopt;
}

std::optional<Seconds> ParseDuration(std::string_view text) {
  const auto v = Parse(text, kDurations);
  return v ? std::optional(Seconds::Count(*v)) : std::nullopt;
}

std::optional<Bytes> ParseSize(std::string_view text) {
  const auto v = Parse(text, kSizes);
  if (!v || *v >= 0x1p63) return std::nullopt;
  return Bytes::Count(std::llround(*v));
}

std::optional<FlopsPerSecond> ParseFlopRate(std::string_view text) {
  const auto v = Parse(text, kFlopRates);
  return v ? std::optional(FlopsPerSecond::Count(*v)) : std::nullopt;
}

std::optional<double> ParseNumber(std::string_view text) {
  double value = 0;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, value);
  if (error != std::errc() || end != last || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::optional<std::int64_t> ParseInteger(std::string_view text) {
  const auto v = ParseNumber(text);
  if (!v || std::abs(*v) > 0x1p53 || *v != std::floor(*v)) return std::nullopt;
  return static_cast<std::int64_t>(*v);
}

std::string FormatSeconds(Seconds time) {
  return Format(time.seconds(), kDurations, "s");
}

std::string FormatBytes(Bytes size) {
  if (std::abs(size.count()) < 1000) return fmt::format("{} B", size.count());
  return Format(static_cast<double>(size.count()), std::span(kSizes).first(kWrittenSizes), "B");
}

std::string FormatRate(BytesPerSecond rate) {
  return Format(rate.bytes_per_second(), std::span(kRates).first(kWrittenRates), "B/s");
}

std::string FormatFlopRate(FlopsPerSecond rate) {
  return Format(rate.flops_per_second(), kFlopRates, "FLOP/s");
}

std::string FormatNumber(double value, int digits) {
  if (value == std::floor(value) && std::abs(value) < 1e15) return fmt::format("{:.0f}", value);
  return fmt::format("{:.{}g}", value, digits);
}

}  // namespace zerosim
