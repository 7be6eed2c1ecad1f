#include "models/topology_files/slurm_topology.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "models/topology_files/host_list.h"
#include "models/topology_files/slurm_lines.h"
#include "models/topology_files/source_lines.h"

namespace zerosim {
namespace {

constexpr std::size_t kMostNames = 1 << 18;  // of nodes and switches together
constexpr std::size_t kMostLevels = 16;

struct SlurmSwitch {
  std::string name;
  Location where;
  std::vector<std::string> nodes;
  std::vector<std::string> children;
  std::string nodes_text;  // as the file lists them
  std::int64_t first_node = 0;
  std::int64_t nodes_below = 0;
  bool has_parent = false;
};

class SlurmReader {
 public:
  SlurmReader(std::string file, Problems* problems) : file_(std::move(file)), problems_(problems) {}

  std::optional<FabricTopology> Read(const std::string& text) {
    for (const auto& line : ReadSlurmLines(text, file_, problems_)) ReadLine(line);
    if (switches_.empty() && !problems_->has_errors()) {
      problems_->Add({file_, 1, 1},
                     "expected a line such as \"SwitchName=leaf0 Nodes=node[0-15]\", got none");
    }
    if (!problems_->has_errors()) FindChildren();
    if (problems_->has_errors()) return std::nullopt;
    FabricTopology fabric;
    const std::vector<std::size_t> roots = Roots();
    NumberNodes(roots, &fabric);
    if (problems_->has_errors()) return std::nullopt;
    if (auto levels = RegularLevels(roots)) {
      if (levels->size() == 1) {
        fabric.kind = SwitchShape{};
      } else {
        fabric.kind = FatTreeShape{std::move(*levels)};
      }
    } else {
      fabric.kind = Graph(roots);
    }
    return fabric;
  }

 private:
  void ReadLine(const std::vector<SlurmValue>& line) {
    SlurmSwitch made;
    const std::size_t errors = problems_->error_count();
    for (const SlurmValue& value : line) {
      if (value.key == "switchname" || value.key == "blockname") {
        made.name = value.value;
        made.where = value.where;
      } else if (value.key == "nodes") {
        made.nodes_text += (made.nodes_text.empty() ? "" : ",") + value.value;
        Expand(value, &made.nodes);
      } else if (value.key == "switches") {
        Expand(value, &made.children);
      } else if (value.key == "linkspeed") {
        if (!noted_speed_) {
          problems_->Note(value.where,
                          "LinkSpeed: not read: it has no unit and no effect in Slurm");
        }
        noted_speed_ = true;
      } else if (value.key == "blocksizes") {
        problems_->Note(value.where, "BlockSizes: not read: it steers where jobs go");
        return;
      } else {
        problems_->Add(value.where,
                       fmt::format("{}: no such key; expected SwitchName, Switches, Nodes, "
                                   "LinkSpeed, BlockName or BlockSizes",
                                   Plain(value.key)));
        return;
      }
    }
    if (problems_->error_count() == errors) AddSwitch(std::move(made), line.front().where);
  }

  void AddSwitch(SlurmSwitch made, const Location& line) {
    if (made.name.empty()) {
      problems_->Add(line, "this line names no switch; expected SwitchName or BlockName");
      return;
    }
    if (made.nodes.empty() == made.children.empty()) {
      problems_->Add(made.where,
                     fmt::format("{}: expected either Nodes or Switches, got {}", Plain(made.name),
                                 made.nodes.empty() ? "neither" : "both"));
      return;
    }
    const auto [found, is_new] = by_name_.emplace(made.name, switches_.size());
    if (!is_new) {
      problems_->Add(made.where, fmt::format("{}: given twice; first in line {}", Plain(made.name),
                                             switches_[found->second].where.line));
      return;
    }
    switches_.push_back(std::move(made));
  }

  void Expand(const SlurmValue& list, std::vector<std::string>* names) {
    const std::size_t before = names->size();
    const auto problem = ExpandHostList(list.value, before + kMostNames - names_, names);
    names_ += names->size() - before;
    if (!problem) return;
    Location where = list.where;
    where.column += static_cast<int>(problem->byte);
    problems_->Add(where, problem->what);
  }

  void FindChildren() {
    for (SlurmSwitch& parent : switches_) {
      for (const std::string& name : parent.children) {
        const auto found = by_name_.find(name);
        if (found == by_name_.end()) {
          problems_->Add(parent.where, fmt::format("{}: its switch {} is not in the file",
                                                   Plain(parent.name), Plain(name)));
          continue;
        }
        SlurmSwitch& child = switches_[found->second];
        if (child.has_parent) {
          problems_->Add(parent.where,
                         fmt::format("{}: its switch {} is below another one too; expected a tree",
                                     Plain(parent.name), Plain(name)));
        }
        child.has_parent = true;
      }
    }
  }

  std::vector<std::size_t> Roots() const {
    std::vector<std::size_t> roots;
    for (std::size_t i = 0; i < switches_.size(); ++i) {
      if (!switches_[i].has_parent) roots.push_back(i);
    }
    return roots;
  }

  // In the order of the leaves from the roots down.
  void NumberNodes(const std::vector<std::size_t>& roots, FabricTopology* fabric) {
    std::vector<std::size_t> open(roots.rbegin(), roots.rend());
    std::vector<std::size_t> seen;
    std::map<std::string, std::size_t> leaf_of;
    while (!open.empty()) {
      const std::size_t index = open.back();
      open.pop_back();
      seen.push_back(index);
      SlurmSwitch& here = switches_[index];
      here.first_node = fabric->nodes;
      for (const std::string& node : here.nodes) {
        const auto [found, is_new] = leaf_of.emplace(node, index);
        if (is_new) continue;
        problems_->Add(here.where, fmt::format("{}: its node {} is below {} too; expected a tree",
                                               Plain(here.name), Plain(node),
                                               Plain(switches_[found->second].name)));
        break;
      }
      fabric->nodes += static_cast<std::int64_t>(here.nodes.size());
      for (auto child = here.children.rbegin(); child != here.children.rend(); ++child) {
        open.push_back(by_name_.at(*child));
      }
    }
    for (auto index = seen.rbegin(); index != seen.rend(); ++index) {
      SlurmSwitch& here = switches_[*index];
      here.nodes_below = static_cast<std::int64_t>(here.nodes.size());
      for (const std::string& child : here.children) {
        here.nodes_below += switches_[by_name_.at(child)].nodes_below;
      }
    }
    if (seen.size() < switches_.size()) {
      problems_->Add(roots.empty() ? switches_.front().where : Location{file_, 0, 0},
                     "some switches are below themselves; expected a tree");
    }
    if (roots.size() > 1) {
      problems_->Warn(switches_[roots[1]].where,
                      fmt::format("{} switches have none above them, so that Slurm runs no job "
                                  "across them; a switch above all is assumed",
                                  roots.size()));
    }
  }

  // The levels of a tree whose switches of one level all have as many children; nothing if it is
  // none.
  std::optional<std::vector<FatTreeTier>> RegularLevels(
      const std::vector<std::size_t>& roots) const {
    std::vector<FatTreeTier> levels;  // from the root down
    if (roots.size() > 1) {
      levels.push_back({static_cast<std::int64_t>(roots.size()), std::nullopt,
                        "not in the file: a switch above all"});
    }
    std::vector<std::size_t> level = roots;
    while (true) {
      const SlurmSwitch& first = switches_[level.front()];
      const bool equal = std::ranges::all_of(level, [&](std::size_t i) {
        return switches_[i].nodes.size() == first.nodes.size() &&
               switches_[i].children.size() == first.children.size();
      });
      if (!equal || levels.size() > kMostLevels) return std::nullopt;
      if (first.children.empty()) {
        levels.push_back({static_cast<std::int64_t>(first.nodes.size()), std::nullopt, ""});
        std::ranges::reverse(levels);
        return levels;
      }
      levels.push_back({static_cast<std::int64_t>(first.children.size()), std::nullopt, ""});
      std::vector<std::size_t> below;
      for (const std::size_t i : level) {
        for (const std::string& child : switches_[i].children) below.push_back(by_name_.at(child));
      }
      level = std::move(below);
    }
  }

  GraphShape Graph(const std::vector<std::size_t>& roots) const {
    GraphShape graph;
    const auto name_of = [](std::size_t i) { return fmt::format("switch{}", i); };
    const auto add_uplink = [&](std::size_t i, const std::string& above) {
      graph.links.push_back(
          {.from = name_of(i), .to = above, .nodes_below = switches_[i].nodes_below});
    };
    for (std::size_t i = 0; i < switches_.size(); ++i) {
      const SlurmSwitch& here = switches_[i];
      graph.switches.emplace_back(name_of(i), Plain(here.name));
      const auto last = here.first_node + static_cast<std::int64_t>(here.nodes.size()) - 1;
      if (!here.nodes.empty()) {
        graph.links.push_back({.from = last == here.first_node
                                           ? fmt::format("node{}", last)
                                           : fmt::format("\"node[{}-{}]\"", here.first_node, last),
                               .to = name_of(i),
                               .note = Plain(here.nodes_text)});
      }
      for (const std::string& child : here.children) add_uplink(by_name_.at(child), name_of(i));
    }
    if (roots.size() > 1) {
      graph.switches.emplace_back("core", "not in the file: a switch above all");
      for (const std::size_t root : roots) add_uplink(root, "core");
    }
    return graph;
  }

  const std::string file_;
  Problems* const problems_;
  std::vector<SlurmSwitch> switches_;
  std::map<std::string, std::size_t> by_name_;
  std::size_t names_ = 0;  // of all lines
  bool noted_speed_ = false;
};

}  // namespace

std::optional<FabricTopology> ReadSlurmTopology(const std::string& text, const std::string& file,
                                                Problems* problems) {
  return SlurmReader(file, problems).Read(text);
}

}  // namespace zerosim
