#include "sim/messages/play_schedule.h"

#include <map>
#include <string>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <simgrid/s4u.hpp>

#include "models/core/check.h"
#include "sim/messages/activities.h"
#include "sim/simgrid_session.h"

namespace zerosim {
namespace {

namespace s4u = simgrid::s4u;

// A pair of hosts for each path, with the path's links between them.
class Paths {
 public:
  Paths(const ClusterNetwork& network, const std::vector<ScheduledMessage>& messages) {
    s4u::NetZone* zone = s4u::create_full_zone("cluster");
    for (const ScheduledMessage& message : messages) {
      Ends& ends = ends_[message.path];
      if (ends.from != nullptr) continue;
      const std::string name = fmt::format("path{}", ends_.size());
      ends.from = zone->create_host(name + ".from", 1.0)->seal();
      ends.to = zone->create_host(name + ".to", 1.0)->seal();
      std::vector<s4u::LinkInRoute> route;
      for (const LinkOfCluster& link : message.path) {
        const s4u::Link*& known = links_[link];
        if (known == nullptr) {
          const double rate = CapacityOf(network, link).bytes_per_second();
          known = zone->create_link(fmt::format("link{}", links_.size()), rate)->seal();
        }
        route.emplace_back(known);
      }
      zone->add_route(ends.from->get_netpoint(), ends.to->get_netpoint(), nullptr, nullptr, route,
                      false);
    }
    zone->seal();
  }

  const Ends& Of(const ScheduledMessage& message) const { return ends_.at(message.path); }

 private:
  std::map<std::vector<LinkOfCluster>, Ends> ends_;
  std::map<LinkOfCluster, const s4u::Link*> links_;
};

// Of one rank on one channel of one stage: what is to come and to go in each round.
struct Track {
  std::map<int, std::vector<const ScheduledMessage*>> sends;  // by round
  std::map<int, int> left;  // messages of each round, sent or received, that are not over
  bool entered = false;
};

class Play {
 public:
  Play(const ClusterNetwork& network, const std::vector<ScheduledMessage>& messages, Bytes size)
      : size_(static_cast<double>(size.count())),
        session_(SharingModel::kMessages),
        activities_(&session_),
        paths_(network, messages) {
    for (const ScheduledMessage& message : messages) {
      Track& from = tracks_[{message.from, message.stage, message.channel}];
      from.sends[message.round].push_back(&message);
      ++from.left[message.round];
      ++tracks_[{message.to, message.stage, message.channel}].left[message.round];
    }
    for (const auto& [key, track] : tracks_) ++channels_left_[{std::get<0>(key), std::get<1>(key)}];
  }

  PlayedSchedule Run() {
    std::map<int, int> first;  // stage of each rank
    for (const auto& [key, channels] : channels_left_) first.try_emplace(key.first, key.second);
    for (const auto& entry : first) {
      session_.Soon([=, this] { EnterStage(entry.first, entry.second); });
    }
    const Seconds end = session_.Run();
    for (const auto& [key, track] : tracks_) {
      ZEROSIM_CHECK(track.left.empty(), "rank {} waits in stage {}", std::get<0>(key),
                    std::get<1>(key));
    }
    return {end, activities_.started()};
  }

 private:
  using Key = std::tuple<int, int, int>;  // rank, stage, channel

  void EnterStage(int rank, int stage) {
    for (auto it = tracks_.lower_bound({rank, stage, 0});
         it != tracks_.end() && std::get<0>(it->first) == rank && std::get<1>(it->first) == stage;
         ++it) {
      it->second.entered = true;
      const Key key = it->first;
      session_.Soon([=, this] { BeginRound(key); });
    }
  }

  // Sends what the earliest round that is not over has to send.
  void BeginRound(const Key& key) {
    Track& track = tracks_[key];
    if (!track.entered) return;
    while (!track.left.empty() && track.left.begin()->second == 0)
      track.left.erase(track.left.begin());
    if (track.left.empty()) {
      LeaveChannel(key);
      return;
    }
    const auto sends = track.sends.find(track.left.begin()->first);
    if (sends == track.sends.end()) return;
    const std::vector<const ScheduledMessage*> now = std::move(sends->second);
    track.sends.erase(sends);
    for (const ScheduledMessage* message : now) {
      activities_.Send(paths_.Of(*message), message->share * size_, [=, this] { Over(*message); });
    }
  }

  void Over(const ScheduledMessage& message) {
    for (const int rank : {message.from, message.to}) {
      const Key key{rank, message.stage, message.channel};
      Track& track = tracks_[key];
      if (--track.left[message.round] == 0) session_.Soon([=, this] { BeginRound(key); });
    }
  }

  void LeaveChannel(const Key& key) {
    const auto [rank, stage, channel] = key;
    Track& track = tracks_[key];
    track.entered = false;  // once
    if (--channels_left_[{rank, stage}] > 0) return;
    const auto next = channels_left_.upper_bound({rank, stage});
    if (next == channels_left_.end() || next->first.first != rank) return;
    EnterStage(rank, next->first.second);
  }

  double size_;
  SimGridSession session_;
  Activities activities_;
  Paths paths_;
  std::map<Key, Track> tracks_;
  std::map<std::pair<int, int>, int> channels_left_;  // by rank and stage
};

}  // namespace

PlayedSchedule PlaySchedule(const ClusterNetwork& network,
                            const std::vector<ScheduledMessage>& messages, Bytes size) {
  if (messages.empty()) return {};
  return Play(network, messages, size).Run();
}

}  // namespace zerosim
