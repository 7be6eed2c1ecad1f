#include "models/nccl/overrides.h"

#include <utility>
#include <vector>

#include <fmt/format.h>

#include "models/core/units_text.h"

namespace zerosim {
namespace {

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::string KnownNames(std::size_t count, std::string_view (*name)(std::size_t)) {
  std::string names;
  for (std::size_t i = 0; i < count; ++i) {
    if (i > 0) names += i + 1 == count ? " or " : ", ";
    names += name(i);
  }
  return names;
}

template <typename Enum, std::size_t kCount>
using Enabled = std::array<std::optional<std::array<bool, kCount>>, kNcclTunedCollectives>;

template <typename Enum, std::size_t kCount>
std::optional<std::string> Set(std::string_view text,
                               std::optional<Enum> (*parse)(std::string_view),
                               Enabled<Enum, kCount>* enabled) {
  Enabled<Enum, kCount> result = *enabled;
  bool first = true;
  for (std::string_view entry : Split(text, ';')) {
    std::optional<NcclCollective> only;
    const std::size_t colon = entry.find(':');
    if (colon != std::string_view::npos) {
      only = ParseNcclCollective(entry.substr(0, colon));
      if (!only || Index(*only) >= kNcclTunedCollectives) {
        return fmt::format(
            "expected AllReduce, AllGather, ReduceScatter, Broadcast or Reduce before \":\", got "
            "\"{}\"",
            entry.substr(0, colon));
      }
      entry.remove_prefix(colon + 1);
    } else if (!first) {
      return fmt::format("expected a collective and \":\" before \"{}\"", entry);
    }
    first = false;

    const bool excludes = entry.starts_with('^');
    if (excludes) entry.remove_prefix(1);
    std::array<bool, kCount> listed{};
    listed.fill(excludes);
    for (const std::string_view name : Split(entry, ',')) {
      const std::optional<Enum> value = parse(name);
      if (!value) {
        const auto name_of = [](std::size_t i) { return Name(static_cast<Enum>(i)); };
        return fmt::format("expected {}, got \"{}\"", KnownNames(kCount, name_of), name);
      }
      listed.at(Index(*value)) = !excludes;
    }
    for (std::size_t c = 0; c < kNcclTunedCollectives; ++c) {
      if (!only || Index(*only) == c) result[c] = listed;
    }
  }
  *enabled = result;
  return std::nullopt;
}

}  // namespace

std::optional<std::string> SetAlgorithms(std::string_view text, NcclOverrides* overrides) {
  return Set<NcclAlgorithm, kNcclAlgorithms>(text, ParseNcclAlgorithm, &overrides->algorithms);
}

std::optional<std::string> SetProtocols(std::string_view text, NcclOverrides* overrides) {
  return Set<NcclProtocol, kNcclProtocols>(text, ParseNcclProtocol, &overrides->protocols);
}

std::optional<std::string> SetVariable(std::string_view text, NcclOverrides* overrides) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos) {
    return fmt::format("expected NAME=VALUE, got \"{}\"", text);
  }
  const std::string_view name = text.substr(0, equals);
  const std::string_view value = text.substr(equals + 1);
  if (name == "NCCL_ALGO" || name == "NCCL_PROTO") {
    const auto problem =
        name == "NCCL_ALGO" ? SetAlgorithms(value, overrides) : SetProtocols(value, overrides);
    if (problem) return fmt::format("{}: {}", name, *problem);
    return std::nullopt;
  }
  const std::pair<std::string_view, int*> numbers[] = {
      {"NCCL_MIN_CTAS", &overrides->min_channels},
      {"NCCL_MIN_NCHANNELS", &overrides->min_channels},
      {"NCCL_MAX_CTAS", &overrides->max_channels},
      {"NCCL_MAX_NCHANNELS", &overrides->max_channels},
      {"NCCL_NTHREADS", &overrides->threads},
      {"NCCL_NCHANNELS_PER_NET_PEER", &overrides->channels_per_net_peer}};
  std::vector<std::string_view> known{"NCCL_ALGO", "NCCL_PROTO"};
  for (const auto& [variable, out] : numbers) {
    known.push_back(variable);
    if (name != variable) continue;
    const std::optional<std::int64_t> number = ParseInteger(value);
    if (!number || *number < 1 || *number > 1024) {
      return fmt::format("{}: expected a whole number from 1 to 1024, got \"{}\"", name, value);
    }
    *out = static_cast<int>(*number);
    return std::nullopt;
  }
  return fmt::format("{}: not modelled; expected one of {}", name, fmt::join(known, ", "));
}

}  // namespace zerosim
