#include "models/topology_files/yaml_lines.h"

#include <cstddef>
#include <utility>

#include <fmt/format.h>

#include "models/core/units_text.h"

namespace zerosim {
namespace {

constexpr std::size_t kCommentColumn = 33;
constexpr int kDigits = 6;

}  // namespace

void YamlLines::Add(int indent, std::string_view text, std::string_view comment) {
  std::string line = fmt::format("{:{}}{}", "", indent, text);
  if (!comment.empty()) line = fmt::format("{:<{}}  # {}", line, kCommentColumn, comment);
  text_ += line + '\n';
}

std::string YamlLines::Take() {
  return std::move(text_);
}

std::string RateText(BytesPerSecond rate) {
  return FormatNumber(rate.gigabytes_per_second(), kDigits) + " GB/s";
}

std::string LineRateText(BytesPerSecond rate) {
  return FormatNumber(rate.gigabytes_per_second() * 8, kDigits) + " Gbps";
}

std::string DurationText(Seconds time) {
  return FormatNumber(time.microseconds(), kDigits) + " us";
}

}  // namespace zerosim
