#include "models/topology_files/simgrid_cluster.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "models/core/units_text.h"

namespace zerosim {
namespace {

constexpr std::int64_t kMostNodes = std::int64_t{1} << 24;
constexpr std::int64_t kMostOfOne = std::int64_t{1} << 20;  // number in topo_parameters
constexpr std::size_t kMostNumbers = 16;                    // of one list in it

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

class ClusterReader {
 public:
  ClusterReader(const XmlElement& cluster, Problems* problems)
      : cluster_(cluster), problems_(problems) {}

  std::optional<FabricTopology> Read() {
    const auto rate = SimgridRate(cluster_, "bw", problems_);
    const auto latency = SimgridDuration(cluster_, "lat", problems_);
    if (rate) fabric_.node_bandwidth = {*rate, "bw"};
    fabric_.nodes = CountHosts();
    if (problems_->has_errors()) return std::nullopt;
    rate_ = rate.value_or(BytesPerSecond{});
    latency_ = latency.value_or(Seconds{});
    const std::string_view topology = cluster_.Find("topology").value_or("FLAT");
    if (topology == "FLAT") {
      ReadFlat();
    } else if (!rate) {
      Fail("expected bw, the rate of a link");
    } else if (topology == "FAT_TREE") {
      ReadFatTree();
    } else if (topology == "TORUS") {
      ReadTorus();
    } else if (topology == "DRAGONFLY") {
      ReadDragonfly();
    } else {
      Fail(fmt::format("topology: expected FLAT, FAT_TREE, TORUS or DRAGONFLY, got {}",
                       Quoted(topology)));
    }
    if (const auto sharing = cluster_.Find("sharing_policy"); sharing == "SHARED") {
      problems_->Warn(cluster_.where,
                      "<cluster>: sharing_policy: SHARED: both directions share a link there; here "
                      "each has its rate");
    }
    if (problems_->has_errors()) return std::nullopt;
    return std::move(fabric_);
  }

 private:
  void Fail(const std::string& what) { problems_->Add(cluster_.where, "<cluster>: " + what); }

  // Of radical, "0-15,20".
  std::int64_t CountHosts() {
    const std::string_view radical = cluster_.Find("radical").value_or("");
    std::int64_t count = 0;
    for (const std::string_view range : Split(radical, ',')) {
      const auto ends = Split(range, '-');
      const auto low = ParseInteger(ends.front());
      const auto high = ParseInteger(ends.back());
      if (ends.size() > 2 || !low || !high || *low < 0 || *high < *low || *high >= kMostNodes ||
          (count += *high - *low + 1) > kMostNodes) {
        Fail(fmt::format("radical: expected the numbers of the hosts, such as 0-15, got {}",
                         Quoted(radical)));
        return 0;
      }
    }
    return count;
  }

  void ReadFlat() {
    SwitchShape kind;
    const auto backbone = SimgridRate(cluster_, "bb_bw", problems_);
    const auto backbone_latency = SimgridDuration(cluster_, "bb_lat", problems_);
    if (backbone && rate_ > BytesPerSecond{}) {
      const double ratio = Ratio(fabric_.nodes * rate_, *backbone);
      kind.oversubscription = Sourced<double>{std::max(ratio, 1.0), "all bw over bb_bw"};
    }
    fabric_.kind = kind;
    fabric_.latency = {2 * latency_ + backbone_latency.value_or(Seconds{}), "2 lat + bb_lat"};
  }

  // The list as whole numbers from 1; nothing after reporting another one.
  std::optional<std::vector<std::int64_t>> Numbers(std::string_view list, std::string_view form) {
    std::vector<std::int64_t> numbers;
    for (const std::string_view text : Split(list, ',')) {
      const auto number = ParseInteger(text);
      if (!number || *number < 1 || *number > kMostOfOne || numbers.size() >= kMostNumbers) {
        FailForm(form);
        return std::nullopt;
      }
      numbers.push_back(*number);
    }
    return numbers;
  }

  void FailForm(std::string_view form) {
    Fail(fmt::format("topo_parameters: expected {}, got {}", form,
                     Quoted(cluster_.Find("topo_parameters").value_or(""))));
  }

  // Checks that the shape holds as many nodes as radical has.
  bool CheckNodes(const std::vector<std::int64_t>& factors) {
    double product = 1;
    for (const std::int64_t factor : factors) product *= static_cast<double>(factor);
    if (product == static_cast<double>(fabric_.nodes)) return true;
    Fail(fmt::format("topo_parameters have {:g} nodes, radical {}", product, fabric_.nodes));
    return false;
  }

  std::string_view Parameters() const { return cluster_.Find("topo_parameters").value_or(""); }

  void ReadFatTree() {
    const std::string_view form = "levels;children;parents;links, such as \"2;4,4;1,2;1,2\"";
    const auto lists = Split(Parameters(), ';');
    std::vector<std::vector<std::int64_t>> numbers;
    for (const std::string_view list : lists) {
      auto read = Numbers(list, form);
      if (!read) return;
      numbers.push_back(std::move(*read));
    }
    const bool fits =
        numbers.size() == 4 && numbers[0].size() == 1 &&
        std::ranges::all_of(numbers.begin() + 1, numbers.end(), [&](const auto& list) {
          return static_cast<std::int64_t>(list.size()) == numbers[0][0];
        });
    if (!fits) {
      FailForm(form);
      return;
    }
    const auto& children = numbers[1];
    const auto& parents = numbers[2];
    const auto& links = numbers[3];
    if (!CheckNodes(children)) return;
    FatTreeShape kind;
    for (std::size_t i = 0; i < children.size(); ++i) {
      std::optional<Sourced<double>> ratio;
      if (i + 1 < children.size()) {
        const double down = static_cast<double>(children[i] * links[i]);
        const double up = static_cast<double>(parents[i + 1] * links[i + 1]);
        ratio = {std::max(down / up, 1.0), fmt::format("{:g} links down, {:g} up", down, up)};
      } else {
        ratio = {1, "the top"};
      }
      kind.levels.push_back({children[i], ratio, ""});
    }
    fabric_.kind = std::move(kind);
    fabric_.node_bandwidth = {parents[0] * links[0] * rate_, "bw of a node's links"};
    SetLatencies();
  }

  void ReadTorus() {
    const auto dimensions = Numbers(Parameters(), "dimensions, such as \"4,4,2\"");
    if (!dimensions || !CheckNodes(*dimensions)) return;
    fabric_.kind = TorusShape{*dimensions};
    SetLatencies();
  }

  void ReadDragonfly() {
    const std::string_view form =
        "groups,links;chassis,links;routers,links;nodes, such as \"3,4;4,3;5,1;2\"";
    std::vector<std::int64_t> all;
    const auto lists = Split(Parameters(), ';');
    for (std::size_t i = 0; i < lists.size(); ++i) {
      const auto read = Numbers(lists[i], form);
      if (!read) return;
      if (lists.size() != 4 || read->size() != (i < 3 ? 2U : 1U)) {
        FailForm(form);
        return;
      }
      all.insert(all.end(), read->begin(), read->end());
    }
    if (!CheckNodes({all[0], all[2], all[4], all[6]})) return;
    fabric_.kind = DragonflyShape{.groups = all[0],
                                  .routers_per_group = all[2] * all[4],
                                  .nodes_per_router = all[6],
                                  .global_links = 1,
                                  .local_bandwidth = std::min(all[3], all[5]) * rate_,
                                  .global_bandwidth = all[1] * rate_};
    if (all[2] > 1 && all[4] > 1) {
      problems_->Note(cluster_.where,
                      "<cluster>: routers of a group form a grid of chassis there; here each "
                      "reaches each at the rate of the fewer links");
    }
    SetLatencies();
  }

  // Of two links, a node's and another's, and of each link more.
  void SetLatencies() {
    fabric_.latency = {2 * latency_, "2 lat"};
    fabric_.hop_latency = {latency_, "lat"};
  }

  const XmlElement& cluster_;
  Problems* const problems_;
  FabricTopology fabric_;
  BytesPerSecond rate_;
  Seconds latency_;
};

// Reads a number with one of `units`, or without as it is; nothing if it is neither or negative.
struct Unit {
  std::string_view name;
  double factor;
};

template <std::size_t kCount>
std::optional<double> ParseWithUnit(std::string_view text, const Unit (&units)[kCount]) {
  const std::size_t letters =
      std::min(text.find_first_of("abcdfghijklmnopqrstuvwxyzBGKMTPZ"), text.size());
  const auto number = ParseNumber(text.substr(0, letters));
  const std::string_view name = text.substr(letters);
  if (!number || *number < 0) return std::nullopt;
  if (name.empty()) return number;
  const auto* const unit = std::ranges::find(units, name, &Unit::name);
  if (unit == std::end(units)) return std::nullopt;
  return *number * unit->factor;
}

}  // namespace

std::optional<BytesPerSecond> SimgridRate(const XmlElement& element, std::string_view attribute,
                                          Problems* problems) {
  const Unit units[] = {{"Bps", 1},        {"kBps", 1e3},     {"KBps", 1e3},     {"MBps", 1e6},
                        {"GBps", 1e9},     {"TBps", 1e12},    {"KiBps", 0x1p10}, {"MiBps", 0x1p20},
                        {"GiBps", 0x1p30}, {"TiBps", 0x1p40}, {"bps", 0.125},    {"kbps", 125},
                        {"Kbps", 125},     {"Mbps", 0.125e6}, {"Gbps", 0.125e9}, {"Tbps", 0.125e12},
                        {"Mibps", 0x1p17}, {"Gibps", 0x1p27}};
  const auto text = element.Find(attribute);
  if (!text) return std::nullopt;
  const auto rate = ParseWithUnit(*text, units);
  if (rate && *rate >= 1e3 && *rate <= 1e15) return BytesPerSecond::Count(*rate);
  problems->Add(element.where,
                fmt::format("<{}>: {}: expected a rate such as \"125MBps\" or \"10Gbps\", got {}",
                            element.name, attribute, Quoted(*text)));
  return std::nullopt;
}

std::optional<Seconds> SimgridDuration(const XmlElement& element, std::string_view attribute,
                                       Problems* problems) {
  const Unit units[] = {{"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}, {"ps", 1e-12}};
  const auto text = element.Find(attribute);
  if (!text) return std::nullopt;
  const auto time = ParseWithUnit(*text, units);
  if (time && *time <= 10) return Seconds::Count(*time);
  problems->Add(element.where, fmt::format("<{}>: {}: expected a latency such as \"50us\", got {}",
                                           element.name, attribute, Quoted(*text)));
  return std::nullopt;
}

std::optional<FabricTopology> ReadSimgridCluster(const XmlElement& cluster, Problems* problems) {
  return ClusterReader(cluster, problems).Read();
}

}  // namespace zerosim
