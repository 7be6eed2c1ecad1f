#include "sim/messages/platform.h"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <simgrid/s4u.hpp>

namespace zerosim {

namespace s4u = simgrid::s4u;

MessagePlatform::MessagePlatform(const NetworkModel& network, std::vector<int> gpu_of_rank,
                                 bool has_copies)
    : network_(network), gpu_of_rank_(std::move(gpu_of_rank)) {
  s4u::NetZone* zone = s4u::create_star_zone("cluster");
  // Classes of one kind have one capacity but for slow nodes; the first of them, which has the
  // speed of the slowest of stage 0, is at the place of the kind.
  const auto link = [&](const std::string& name, LinkId kind, Seconds latency, double speed = 1) {
    return zone->create_link(name, speed * network.links[kind.value].capacity.bytes_per_second())
        ->set_latency(latency.seconds())
        ->seal();
  };
  const auto port = [&](const std::string& name, const std::vector<s4u::LinkInRoute>& up,
                        const std::vector<s4u::LinkInRoute>& down, double speed = 1) {
    const std::vector<double> speeds{speed, speed * (1.0 - network.collective_share)};
    s4u::Host* host = zone->create_host(name, speeds)->seal();
    zone->add_route(host->get_netpoint(), nullptr, nullptr, nullptr, up, false);
    zone->add_route(nullptr, host->get_netpoint(), nullptr, nullptr, down, false);
    return host;
  };
  const Seconds gpu_half = 0.5 * network.gpu_latency;
  const Seconds nic_half = 0.5 * network.nic_latency;
  const NodeSpeeds& first = network.slowest.front();
  double slowest_nic = first.nic;
  for (std::size_t s = 1; s < network.slowest.size(); ++s) {
    if (network.nic_class(static_cast<int>(s)) == 0) {
      slowest_nic = std::min(slowest_nic, network.slowest[s].nic);
    }
  }
  for (int node = 0; node < network.nodes; ++node) {
    const NodeSpeeds speeds = network.SpeedsOf(node);
    const double links = speeds.gpu_link / first.gpu_link;
    for (int g = 0; g < network.gpus_per_node; ++g) {
      const std::string name = fmt::format("gpu{}.{}", node, g);
      // Kernels come with the time that the slowest of their stage takes.
      const int stage = network.stage_of(node * network.gpus_per_node + g);
      gpus_.push_back(port(
          name, {s4u::LinkInRoute(link(name + ".out", NetworkModel::kGpuLink, gpu_half, links))},
          {s4u::LinkInRoute(link(name + ".in", NetworkModel::kGpuLink, gpu_half, links))},
          speeds.compute / network.slowest[stage].compute));
    }
    const std::string fabric = fmt::format("node{}", node);
    const s4u::Link* up = link(fabric + ".up", NetworkModel::kFabric, Seconds());
    const s4u::Link* down = link(fabric + ".down", NetworkModel::kFabric, Seconds());
    for (int n = 0; n < network.nics_per_node; ++n) {
      const std::string name = fmt::format("nic{}.{}", node, n);
      const double rate = speeds.nic / slowest_nic;
      const s4u::Link* out = link(name + ".out", NetworkModel::kNic, nic_half, rate);
      const s4u::Link* in = link(name + ".in", NetworkModel::kNic, nic_half, rate);
      nics_.push_back(port(name, {s4u::LinkInRoute(out), s4u::LinkInRoute(up)},
                           {s4u::LinkInRoute(down), s4u::LinkInRoute(in)}));
    }
  }
  for (std::size_t g = 0; has_copies && g < gpus_.size(); ++g) {
    const s4u::Link* out = link(fmt::format("slot{}.out", g), NetworkModel::kToHost, Seconds());
    const s4u::Link* in = link(fmt::format("slot{}.in", g), NetworkModel::kFromHost, Seconds());
    slots_.push_back(
        port(fmt::format("slot{}", g), {s4u::LinkInRoute(out)}, {s4u::LinkInRoute(in)}));
    memories_.push_back(
        port(fmt::format("memory{}", g), {s4u::LinkInRoute(in)}, {s4u::LinkInRoute(out)}));
  }
  zone->seal();
}

int MessagePlatform::NicOf(int rank) const {
  const int gpus = network_.gpus_per_node;
  return gpu_of_rank_[rank] % gpus * network_.nics_per_node / gpus;
}

std::vector<int> MessagePlatform::NicsOfStage(int rank) const {
  std::vector<int> nics;
  const int first = rank / network_.gpus_per_node * network_.gpus_per_node;
  for (int other = first; other < first + network_.gpus_per_node; ++other) {
    if (network_.stage_of(other) == network_.stage_of(rank)) nics.push_back(NicOf(other));
  }
  std::sort(nics.begin(), nics.end());
  nics.erase(std::unique(nics.begin(), nics.end()), nics.end());
  return nics;
}

Ends MessagePlatform::Copy(int rank, CollectiveOp op) const {
  const int gpu = gpu_of_rank_[rank];
  if (op == CollectiveOp::kCopyToHost) return {slots_[gpu], memories_[gpu]};
  return {memories_[gpu], slots_[gpu]};
}

}  // namespace zerosim
