#include <algorithm>
#include <charconv>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "models/scenario/key_sections.h"
#include "models/scenario/read_sections.h"

namespace zerosim {
namespace {

// A whole number of nodes, all of `text`.
std::optional<int> NodeNumber(std::string_view text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number >= 0 && number < static_cast<int>(kMostNodes) ? std::optional(number)
                                                              : std::nullopt;
}

// "3" or "16-23".
std::optional<std::pair<int, int>> NodeRange(std::string_view text) {
  const std::size_t dash = text.find('-');
  const std::optional<int> first = NodeNumber(text.substr(0, dash));
  const std::optional<int> last =
      dash == std::string_view::npos ? first : NodeNumber(text.substr(dash + 1));
  if (!first || !last || *last < *first) return std::nullopt;
  return std::pair(*first, *last);
}

std::vector<int> ReadNodes(SectionReader* item) {
  std::vector<std::string> texts;
  int count = 0;
  item->Read("nodes", &texts);
  item->Read("count", &count);
  std::vector<int> nodes;
  if (item->Has("nodes") == item->Has("count")) {
    item->Report(item->Has("nodes") ? "count" : "nodes",
                 item->Has("nodes") ? "excludes nodes; expected one of the two"
                                    : "missing; expected nodes, such as [3, 16-23], or count");
    return nodes;
  }
  if (item->Has("count")) {
    nodes.resize(static_cast<std::size_t>(count));
    std::iota(nodes.begin(), nodes.end(), 0);
    return nodes;
  }
  for (const std::string& text : texts) {
    const auto range = NodeRange(text);
    if (!range) {
      item->Report("nodes", fmt::format("expected numbers of nodes and ranges of them, such as "
                                        "[3, 16-23], got \"{}\"",
                                        text));
      return {};
    }
    for (int node = range->first; node <= range->second; ++node) nodes.push_back(node);
  }
  std::ranges::sort(nodes);
  return nodes;
}

}  // namespace

std::vector<NodeException> ReadExceptions(SectionReader* cluster) {
  std::vector<NodeException> exceptions;
  for (SectionReader& item : cluster->List("exceptions")) {
    NodeException exception;
    exception.nodes = ReadNodes(&item);
    item.Read("compute_speed", &exception.speeds.compute);
    item.Read("gpu_link_speed", &exception.speeds.gpu_link);
    item.Read("nic_speed", &exception.speeds.nic);
    item.Read("dead_nics", &exception.dead_nics);
    item.Finish();
    exceptions.push_back(std::move(exception));
  }
  return exceptions;
}

}  // namespace zerosim
