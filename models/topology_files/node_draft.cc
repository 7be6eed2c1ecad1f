#include "models/topology_files/node_draft.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include <fmt/format.h>

namespace zerosim {

int NodeTopology::Count(DeviceKind kind) const {
  return static_cast<int>(std::ranges::count(devices, kind, &Device::kind));
}

std::size_t NodeDraft::Add(DeviceKind kind, std::string name, std::string note) {
  devices_.push_back({kind, std::move(name), std::move(note)});
  dropped_.push_back(false);
  return devices_.size() - 1;
}

std::size_t NodeDraft::AddGpu(std::string note) {
  return Add(DeviceKind::kGpu, "", std::move(note));
}

std::size_t NodeDraft::AddNic(std::string note) {
  return Add(DeviceKind::kNic, "", std::move(note));
}

std::size_t NodeDraft::AddSwitch(const std::string& prefix, std::string note) {
  return Add(DeviceKind::kSwitch, fmt::format("{}{}", prefix, switches_[prefix]++),
             std::move(note));
}

void NodeDraft::AddLink(std::size_t from, std::size_t to, CableKind kind, BytesPerSecond bandwidth,
                        std::string note) {
  links_.push_back({from, to, kind, bandwidth, std::move(note)});
}

void NodeDraft::Drop(std::size_t device) {
  dropped_[device] = true;
  std::erase_if(links_,
                [&](const Cable& link) { return link.from == device || link.to == device; });
}

bool NodeDraft::HasLinks(std::size_t device) const {
  return std::ranges::any_of(
      links_, [&](const Cable& link) { return link.from == device || link.to == device; });
}

bool NodeDraft::HasChildren(std::size_t device) const {
  return std::ranges::any_of(links_, [&](const Cable& link) { return link.to == device; });
}

void NodeDraft::Finish(const std::map<std::size_t, int>& rank, NodeTopology* node) const {
  std::vector<std::size_t> order(devices_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::erase_if(order, [&](std::size_t device) { return dropped_[device]; });
  std::ranges::stable_sort(order, {}, [&](std::size_t device) {
    const auto found = rank.find(device);
    return std::tuple(devices_[device].kind, found == rank.end() ? 0 : found->second);
  });
  std::vector<std::size_t> place(devices_.size());
  std::map<DeviceKind, int> count;
  for (const std::size_t device : order) {
    place[device] = node->devices.size();
    Device copy = devices_[device];
    const int number = count[copy.kind]++;
    if (copy.kind == DeviceKind::kGpu) copy.name = fmt::format("gpu{}", number);
    if (copy.kind == DeviceKind::kNic) copy.name = fmt::format("nic{}", number);
    node->devices.push_back(std::move(copy));
  }
  for (Cable link : links_) {
    link.from = place[link.from];
    link.to = place[link.to];
    node->links.push_back(std::move(link));
  }
  std::ranges::stable_sort(node->links, {}, [](const Cable& link) { return link.kind; });
}

}  // namespace zerosim
