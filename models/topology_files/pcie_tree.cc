#include "models/topology_files/pcie_tree.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <utility>

namespace zerosim {
namespace {

struct Group {
  PciePath path = PciePath::kPix;  // of a single device: kPix, and no parts
  std::size_t device = 0;          // of a single device
  std::vector<Group> parts;
};

// Groups whose members reach each other over at most `path`, in the order of their first members.
std::vector<Group> Joined(std::vector<Group> groups, std::vector<std::size_t>* group_of,
                          const std::vector<std::vector<PciePath>>& paths, PciePath path) {
  std::vector<std::size_t> root(groups.size());
  std::iota(root.begin(), root.end(), std::size_t{0});
  const auto find = [&](std::size_t group) {
    while (root[group] != group) group = root[group] = root[root[group]];
    return group;
  };
  for (std::size_t i = 0; i < paths.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (paths[i][j] > path) continue;
      const auto [low, high] = std::minmax({find((*group_of)[i]), find((*group_of)[j])});
      root[high] = low;
    }
  }
  std::vector<Group> joined;
  std::map<std::size_t, std::size_t> place;  // of a root in `joined`
  std::vector<std::size_t> moved(groups.size());
  for (std::size_t group = 0; group < groups.size(); ++group) {
    const auto [found, is_new] = place.emplace(find(group), joined.size());
    if (is_new) joined.push_back({path, 0, {}});
    moved[group] = found->second;
    joined[found->second].parts.push_back(std::move(groups[group]));
  }
  for (Group& group : joined) {
    if (group.parts.size() > 1) continue;
    Group only = std::move(group.parts.front());
    group = std::move(only);
  }
  for (std::size_t& group : *group_of) group = moved[group];
  return joined;
}

class TreeWriter {
 public:
  TreeWriter(const std::vector<std::size_t>& devices, const PcieRates& rates, NodeDraft* draft)
      : devices_(devices), rates_(rates), draft_(draft) {}

  // The CPU of a NUMA node and what is below it.
  std::size_t WriteCpu(const Group& group) {
    const std::size_t cpu = draft_->AddSwitch("cpu", "");
    const bool is_device_or_switch = group.parts.empty() || group.path <= PciePath::kPxb;
    if (is_device_or_switch) {
      WriteBelowCpu(group, cpu);
    } else {
      for (const Group& part : group.parts) WriteHostBridge(part, cpu);
    }
    return cpu;
  }

  PcieTreeFacts Take() { return std::move(tree_); }

 private:
  void WriteHostBridge(const Group& group, std::size_t cpu) {
    if (group.parts.empty() || group.path <= PciePath::kPxb) {
      WriteBelowCpu(group, cpu);
      return;
    }
    const std::size_t bridge = draft_->AddSwitch("hostbridge", "");
    draft_->AddLink(bridge, cpu, CableKind::kPcie, rates_.socket, "");
    for (const Group& part : group.parts) WriteBelowCpu(part, bridge);
  }

  void WriteBelowCpu(const Group& group, std::size_t above) {
    tree_.behind_one_link.emplace_back();
    Write(group, above);
  }

  void Write(const Group& group, std::size_t above) {
    if (group.parts.empty()) {
      draft_->AddLink(devices_[group.device], above, CableKind::kPcie, rates_.link, "");
      tree_.behind_one_link.back().push_back(devices_[group.device]);
      return;
    }
    const std::size_t device = draft_->AddSwitch("pcie", "");
    draft_->AddLink(device, above, CableKind::kPcie, rates_.link, "");
    for (const Group& part : group.parts) Write(part, device);
  }

  const std::vector<std::size_t>& devices_;
  const PcieRates& rates_;
  NodeDraft* const draft_;
  PcieTreeFacts tree_;
};

}  // namespace

PcieTreeFacts AddPcieTree(const std::vector<std::size_t>& devices,
                          const std::vector<std::vector<PciePath>>& paths, const PcieRates& rates,
                          NodeDraft* draft) {
  std::vector<Group> groups;
  std::vector<std::size_t> group_of(devices.size());
  for (std::size_t i = 0; i < devices.size(); ++i) {
    groups.push_back({PciePath::kPix, i, {}});
    group_of[i] = i;
  }
  for (const PciePath path : {PciePath::kPix, PciePath::kPxb, PciePath::kPhb, PciePath::kNode}) {
    groups = Joined(std::move(groups), &group_of, paths, path);
  }
  TreeWriter writer(devices, rates, draft);
  std::vector<std::size_t> cpus;
  cpus.reserve(groups.size());
  for (const Group& group : groups) cpus.push_back(writer.WriteCpu(group));
  for (std::size_t i = 0; i < cpus.size(); ++i) {
    for (std::size_t j = i + 1; j < cpus.size(); ++j) {
      draft->AddLink(cpus[i], cpus[j], CableKind::kInterSocket, rates.socket, "");
    }
  }
  PcieTreeFacts tree = writer.Take();
  tree.cpus = cpus.size();
  return tree;
}

}  // namespace zerosim
