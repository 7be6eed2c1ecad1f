// Pins the settings of SimGrid that predictions depend on. Each simulation runs in a child, since a
// process has one.
#include "sim/simgrid_session.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <simgrid/s4u.hpp>

#include "tests/sim/child.h"

namespace zerosim {
namespace {

namespace s4u = simgrid::s4u;

constexpr double kMiB = 1048576;
constexpr double kRate = 50e9;     // bytes a second: 400 Gb/s
constexpr double kLatency = 5e-6;  // seconds
constexpr double kTolerance = 1e-9;

// Two hosts, and a link of each direction between them.
struct Pair {
  s4u::Host* left;
  s4u::Host* right;
};

Pair MakePair(double latency) {
  s4u::NetZone* zone = s4u::create_full_zone("zone");
  const Pair pair{zone->create_host("left", 1.0)->seal(), zone->create_host("right", 1.0)->seal()};
  const auto connect = [&](const char* name, const s4u::Host* from, const s4u::Host* to) {
    const s4u::Link* link = zone->create_link(name, kRate)->set_latency(latency)->seal();
    zone->add_route(from->get_netpoint(), to->get_netpoint(), nullptr, nullptr,
                    {s4u::LinkInRoute(link)}, /*symmetrical=*/false);
  };
  connect("there", pair.left, pair.right);
  connect("back", pair.right, pair.left);
  zone->seal();
  return pair;
}

// Ends of messages of these sizes that start together, those below 0 on the way back.
std::vector<double> EndsOfMessages(const std::vector<double>& sizes, double latency = kLatency) {
  SimGridSession session(SharingModel::kMessages);
  const Pair pair = MakePair(latency);
  std::vector<double> ends(sizes.size());
  s4u::Activity::on_completion_cb([&](const s4u::Activity& activity) {
    *activity.get_data<double>() = session.now().seconds();
  });
  std::vector<s4u::CommPtr> comms;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const bool back = sizes[i] < 0;
    comms.push_back(
        s4u::Comm::sendto_init(back ? pair.right : pair.left, back ? pair.left : pair.right));
    comms[i]->set_payload_size(static_cast<std::uint64_t>(std::abs(sizes[i])));
    comms[i]->set_data(&ends[i]);
    comms[i]->vetoable_start();
  }
  session.Run();
  return ends;
}

TEST(SimGridSession, OneMessageTakesItsLatencyAndItsBytesOverTheRate) {
  const auto ends = InChild([] { return EndsOfMessages({kMiB}); });

  ASSERT_EQ(ends.size(), 1u);
  EXPECT_NEAR(ends[0] / (kLatency + kMiB / kRate), 1.0, kTolerance);
}

TEST(SimGridSession, MessagesOnALinkShareItEvenly) {
  const auto ends = InChild([] { return EndsOfMessages({kMiB, 3 * kMiB}); });

  // Half of the rate each until the first is over; then the other has the link to itself.
  ASSERT_EQ(ends.size(), 2u);
  EXPECT_NEAR(ends[0] / (kLatency + 2 * kMiB / kRate), 1.0, kTolerance);
  EXPECT_NEAR(ends[1] / (kLatency + 4 * kMiB / kRate), 1.0, kTolerance);
}

TEST(SimGridSession, MessagesOfBothDirectionsDoNotDisturbEachOther) {
  // SimGrid's default makes each pay 5 % of the other, for TCP's acknowledgements.
  const auto ends = InChild([] { return EndsOfMessages({kMiB, -kMiB}); });

  ASSERT_EQ(ends.size(), 2u);
  EXPECT_NEAR(ends[0] / (kLatency + kMiB / kRate), 1.0, kTolerance);
  EXPECT_NEAR(ends[1] / (kLatency + kMiB / kRate), 1.0, kTolerance);
}

TEST(SimGridSession, NoWindowHoldsAMessageBack) {
  // SimGrid's default, a window of 4 MiB over a round trip of 2 ms, allows 2 GB/s.
  const double latency = 1e-3;
  const auto ends = InChild([&] { return EndsOfMessages({100 * kMiB}, latency); });

  ASSERT_EQ(ends.size(), 1u);
  EXPECT_NEAR(ends[0] / (latency + 100 * kMiB / kRate), 1.0, kTolerance);
}

// A parallel task that takes `seconds[i]` of link i when it has the link to itself, and ends of
// such tasks that start together.
std::vector<double> EndsOfTasks(const std::vector<std::vector<double>>& tasks) {
  SimGridSession session(SharingModel::kParallelTasks);
  s4u::NetZone* zone = s4u::create_full_zone("zone");
  std::vector<s4u::Host*> hosts;
  for (std::size_t i = 0; i < tasks[0].size(); ++i) {
    const std::string name = std::to_string(i);
    hosts.push_back(zone->create_host("from" + name, 1.0)->seal());
    hosts.push_back(zone->create_host("to" + name, 1.0)->seal());
    const s4u::Link* link = zone->create_link("link" + name, 1.0)->set_latency(0)->seal();
    zone->add_route(hosts[2 * i]->get_netpoint(), hosts[2 * i + 1]->get_netpoint(), nullptr,
                    nullptr, {s4u::LinkInRoute(link)}, /*symmetrical=*/false);
  }
  zone->seal();
  std::vector<double> ends(tasks.size());
  s4u::Activity::on_completion_cb([&](const s4u::Activity& activity) {
    *activity.get_data<double>() = session.now().seconds();
  });
  std::vector<s4u::ExecPtr> running;
  const std::size_t n = hosts.size();
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    std::vector<double> bytes(n * n, 0.0);
    for (std::size_t i = 0; i < tasks[t].size(); ++i) bytes[2 * i * n + 2 * i + 1] = tasks[t][i];
    running.push_back(s4u::Exec::init());
    running[t]->set_flops_amounts(std::vector<double>(n, 0.0));
    running[t]->set_bytes_amounts(bytes);
    running[t]->set_hosts(hosts);
    running[t]->set_data(&ends[t]);
    running[t]->vetoable_start();
  }
  session.Run();
  return ends;
}

TEST(SimGridSession, AParallelTaskRunsAtThePaceOfItsSlowestLink) {
  const auto ends = InChild([] { return EndsOfTasks({{1e-3, 3e-3}}); });

  ASSERT_EQ(ends.size(), 1u);
  EXPECT_NEAR(ends[0] / 3e-3, 1.0, kTolerance);
}

TEST(SimGridSession, ParallelTasksOnALinkShareItEvenly) {
  // Both need the second link: it carries 1 ms of each in 2 ms, and then the other 2 ms.
  const auto ends = InChild([] { return EndsOfTasks({{0.5e-3, 1e-3}, {0, 3e-3}}); });

  ASSERT_EQ(ends.size(), 2u);
  EXPECT_NEAR(ends[0] / 2e-3, 1.0, kTolerance);
  EXPECT_NEAR(ends[1] / 4e-3, 1.0, kTolerance);
}

TEST(SimGridSession, ParallelTasksAreFairOnTheLinkThatHoldsThem) {
  // Each task has most of the link that holds it back, and all links are full: with rates a, b, c
  //   a + 2c = 1,  2a + b = 1,  3b + c = 1,  so  a = 5/13, b = 3/13, c = 4/13.
  // The first is over at 13/5 ms, with 1/5 of the last and 2/5 of the second left. Then c = 1/2 and
  // b = 1/6 until 3 ms, and b = 1/3 until 4 ms. SimGrid's default solver gives the first 2.82 ms.
  const auto ends = InChild([] {
    return EndsOfTasks({{1e-3, 2e-3, 0}, {0, 1e-3, 3e-3}, {2e-3, 0, 1e-3}});
  });

  ASSERT_EQ(ends.size(), 3u);
  EXPECT_NEAR(ends[0] / 2.6e-3, 1.0, kTolerance);
  EXPECT_NEAR(ends[1] / 4e-3, 1.0, kTolerance);
  EXPECT_NEAR(ends[2] / 3e-3, 1.0, kTolerance);
}

TEST(SimGridSession, TellsInstantsATenthOfANanosecondApart) {
  // 5 bytes at 50 GB/s, on another link. SimGrid's default takes instants within 1 ns for one.
  const auto ends = InChild([] { return EndsOfMessages({kMiB, -(kMiB + 5)}); });

  ASSERT_EQ(ends.size(), 2u);
  EXPECT_NEAR(ends[1] - ends[0], 1e-10, 1e-12);
}

TEST(SimGridSession, RefusesASecondOneInAProcess) {
  const auto text = InChild([] {
    const SimGridSession first(SharingModel::kMessages);
    try {
      const SimGridSession second(SharingModel::kParallelTasks);
    } catch (const std::logic_error& e) {
      const std::string what = e.what();
      return std::vector<double>(what.begin(), what.end());
    }
    return std::vector<double>();
  });

  EXPECT_EQ(std::string(text.begin(), text.end()),
            "a process can hold one simulation; fork for another");
}

// Calls itself through the session, and records how deep its calls nest.
class Chain {
 public:
  explicit Chain(SimGridSession* session) : session_(session) {}

  void Next(int left, Seconds delay) {
    ++depth_;
    deepest_ = std::max(deepest_, depth_);
    ++calls_;
    if (left > 1) {
      if (left % 2 == 0) {
        session_->Soon([=, this] { Next(left - 1, delay); });
      } else {
        session_->After(delay, [=, this] { Next(left - 1, delay); });
      }
    }
    --depth_;
  }

  std::vector<double> Counts() const {
    return {static_cast<double>(calls_), static_cast<double>(deepest_)};
  }

 private:
  SimGridSession* session_;
  int depth_ = 0;
  int deepest_ = 0;
  int calls_ = 0;
};

TEST(SimGridSession, CallbacksWithoutDelayDoNotNest) {
  const auto counts = InChild([] {
    SimGridSession session(SharingModel::kMessages);
    Chain chain(&session);
    session.Soon([&] { chain.Next(100'000, Seconds()); });
    return chain.Counts();
  });

  EXPECT_EQ(counts, (std::vector<double>{100'000, 1}));
}

TEST(SimGridSession, DelaysAddUpOnTheClock) {
  const auto counts = InChild([] {
    SimGridSession session(SharingModel::kMessages);
    MakePair(kLatency);
    Chain chain(&session);
    session.Soon([&] { chain.Next(2001, Seconds::Micros(3)); });
    const double end = session.Run().seconds();
    std::vector<double> all = chain.Counts();
    all.push_back(end);
    return all;
  });

  // Of 2000 steps every other one waits 3 us.
  ASSERT_EQ(counts.size(), 3u);
  EXPECT_EQ(counts[0], 2001);
  EXPECT_EQ(counts[1], 1);
  EXPECT_NEAR(counts[2] / 3e-3, 1.0, kTolerance);
}

}  // namespace
}  // namespace zerosim
