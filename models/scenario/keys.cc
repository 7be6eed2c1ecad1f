#include "models/scenario/keys.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "models/core/check.h"
#include "models/core/units_text.h"

namespace zerosim {
namespace {

using enum KeyType;

std::string_view ParentOf(std::string_view path) {
  const std::size_t dot = path.rfind('.');
  return dot == std::string_view::npos ? std::string_view() : path.substr(0, dot);
}

// A bound in the unit of the key.
std::string BoundText(KeyType type, double bound) {
  switch (type) {
    case kDuration:
    case kDurationParameter:
      return FormatSeconds(Seconds::Count(bound));
    case kRate:
      return FormatRate(BytesPerSecond::Count(bound));
    case kSize:
      return FormatBytes(Bytes::Count(static_cast<std::int64_t>(bound)));
    case kFlopRate:
      return FormatFlopRate(FlopsPerSecond::Count(bound));
    default:
      return FormatNumber(bound);
  }
}

// Levenshtein distance.
int EditDistance(std::string_view a, std::string_view b) {
  std::vector<int> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    int diagonal = std::exchange(row[0], static_cast<int>(i));
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const int substitute = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = std::exchange(row[j], std::min({row[j] + 1, row[j - 1] + 1, substitute}));
    }
  }
  return row.back();
}

}  // namespace

const KeySpec* FindKey(std::string_view path) {
  const auto found = std::ranges::find(AllKeys(), path, &KeySpec::path);
  return found == AllKeys().end() ? nullptr : &*found;
}

std::string JoinPath(std::string_view path, std::string_view key) {
  return path.empty() ? std::string(key) : fmt::format("{}.{}", path, key);
}

std::vector<const KeySpec*> KeysOf(std::string_view path) {
  std::vector<const KeySpec*> found;
  for (const KeySpec& key : AllKeys()) {
    if (ParentOf(key.path) == path) found.push_back(&key);
  }
  return found;
}

std::string Wanted(const KeySpec& key) {
  switch (key.type) {
    case kText:
      return "a text";
    case kFlag:
      return "true or false";
    case kInteger:
      return "a whole number";
    case kNumber:
      return "a number";
    case kDuration:
      return R"(a duration such as "5 us")";
    case kRate:
      return R"(a rate such as "400 Gbps" or "50 GB/s")";
    case kSize:
      return R"(a size such as "80 GB" or "80 GiB")";
    case kFlopRate:
      return R"(a rate such as "312 TFLOP/s")";
    case kChoice: {
      std::string all(key.choices);
      const std::size_t last = all.rfind('|');
      if (last != std::string::npos) all.replace(last, 1, " or ");
      for (std::size_t at; (at = all.find('|')) != std::string::npos;) all.replace(at, 1, ", ");
      return all;
    }
    case kSection:
      return "a section";
    case kReference:
      return "a name from the catalog or a section";
    case kFlagOrSection:
      return "true, false or a section";
    case kCountOrNode:
      return "a whole number of ranks or \"node\"";
    case kList:
      return "a list of sections";
    case kIntegers:
      return "a list of whole numbers such as [7, 8, 8, 7]";
    case kTexts:
      return "a list of names such as [leaf0, leaf1]";
    case kNumberParameter:
      return "a number or a section {value, low, high, source}";
    case kDurationParameter:
      return R"(a duration such as "5 us" or a section {value, low, high, source})";
  }
  ZEROSIM_CHECK(false, "key type {}", static_cast<int>(key.type));
}

std::string RangeText(const KeySpec& key) {
  if (key.low >= key.high) return "";
  return fmt::format("from {} to {}", BoundText(key.type, key.low), BoundText(key.type, key.high));
}

std::string Nearest(std::string_view given, const std::vector<std::string>& known) {
  std::string nearest;
  int least = 4;
  for (const std::string& name : known) {
    // Distances are at least the difference in length, so the rest need not be computed.
    if (given.size() > name.size() + 3 || name.size() > given.size() + 3) continue;
    const int distance = EditDistance(given, name);
    if (distance < least && 2 * distance <= static_cast<int>(name.size())) {
      least = distance;
      nearest = name;
    }
  }
  return nearest;
}

}  // namespace zerosim
