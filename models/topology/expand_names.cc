#include <charconv>
#include <cstddef>
#include <optional>
#include <string_view>

#include "models/topology/fabric_layout.h"

namespace zerosim {
namespace {

constexpr std::size_t kMaxNames = 1'000'000;

struct Range {
  int first = 0;
  int last = 0;
};

// "0-15" or "7".
std::optional<Range> RangeOf(std::string_view text) {
  Range range;
  const char* end = text.data() + text.size();
  auto result = std::from_chars(text.data(), end, range.first);
  if (result.ec != std::errc() || range.first < 0) return {};
  if (result.ptr == end) return Range{range.first, range.first};
  if (*result.ptr != '-') return {};
  result = std::from_chars(result.ptr + 1, end, range.last);
  if (result.ec != std::errc() || result.ptr != end || range.last < range.first) return {};
  return range;
}

}  // namespace

std::vector<std::string> ExpandNames(const std::string& text) {
  std::vector<std::string> names = {""};
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::size_t open = rest.find('[');
    for (std::string& name : names) name += rest.substr(0, open);
    if (open == std::string_view::npos) break;
    const std::size_t close = rest.find(']', open);
    if (close == std::string_view::npos) return {};
    const std::optional<Range> range = RangeOf(rest.substr(open + 1, close - open - 1));
    if (!range) return {};
    const std::size_t choices = static_cast<std::size_t>(range->last) - range->first + 1;
    if (choices > kMaxNames / names.size()) return {};
    std::vector<std::string> longer;
    longer.reserve(names.size() * choices);
    for (const std::string& name : names) {
      for (int i = range->first; i <= range->last; ++i) longer.push_back(name + std::to_string(i));
    }
    names = std::move(longer);
    rest.remove_prefix(close + 1);
  }
  return names;
}

}  // namespace zerosim
