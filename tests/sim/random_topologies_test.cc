// Closed form, fluid engine and message engine on random small clusters of every form: one
// collective by itself, without latency. A failure names the fabric, its seed, the group and the
// algorithm.
//
// What is claimed (models/network/collective_cost.h): exact for rings, shifts and exchanges; for
// partners at distances exact where the fabric treats all alike; for trees, whose chunks are in
// several stages at once, up to the time that the first chunk needs.
#include <algorithm>
#include <cstdio>
#include <functional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "models/collectives/algorithms.h"
#include "models/network/collective_cost.h"
#include "sim/fluid_platform.h"
#include "sim/messages/play_schedule.h"
#include "tests/sim/child.h"
#include "tests/sim/random_networks.h"

namespace zerosim {
namespace {

constexpr Bytes kSize = Bytes::Count(1 << 30);
constexpr int kChunks = 8;

// All but those whose switches reduce, which send no messages, and a torus's, which need one.
constexpr Algorithm kPlayed[] = {Algorithm::kRing,
                                 Algorithm::kTree,
                                 Algorithm::kHierarchicalRing,
                                 Algorithm::kHalvingDoubling,
                                 Algorithm::kPat,
                                 Algorithm::kDirect,
                                 Algorithm::kTwoHop};

struct Case {
  Net net = Net::kSwitch;
  Algorithm algorithm = Algorithm::kRing;
  CollectiveKind kind = CollectiveKind::kAllGather;
  ProcessGroup group;
  Schedule schedule;
};

// All ranks, half of the nodes, one GPU of each node, and the GPUs of a node.
std::vector<ProcessGroup> GroupsOf(const ClusterNetwork& network) {
  const int gpus = network.gpus_per_node();
  std::vector<ProcessGroup> groups{
      {network.world_size(), 1}, {network.world_size() / 2, 1}, {network.nodes, gpus}};
  if (gpus > 1) groups.push_back({gpus, 1});
  return groups;
}

// Calls `check` for each algorithm that does a kind in a group of a random cluster.
void ForEachCase(Net net, unsigned seed,
                 const std::function<void(const ClusterNetwork&, const Case&)>& check) {
  const ClusterNetwork network = RandomNetwork(seed, net);
  for (const ProcessGroup& group : GroupsOf(network)) {
    const GroupShape shape = ShapeOf(network, group);
    for (const Algorithm algorithm : kPlayed) {
      for (const CollectiveKind kind : kCollectiveKinds) {
        const AlgorithmOptions options{.channels = 1, .chunks = kChunks};
        if (WhyNot(algorithm, kind, shape, options)) continue;
        const Case c{net, algorithm, kind, group, ScheduleOf(algorithm, kind, shape, options)};
        SCOPED_TRACE("seed " + std::to_string(seed) + ", " + std::string(NameOf(algorithm)) + " " +
                     std::string(NameOf(kind)) + " of " + std::to_string(group.size) + " ranks " +
                     std::to_string(group.stride) + " apart");
        check(network, c);
      }
    }
  }
}

double ClosedForm(const ClusterNetwork& network, const Case& c) {
  const ScheduleOnLinks on_links = PutOnLinks(network, c.schedule, c.group, StageOrder::kOneByOne);
  return CostOf(on_links, kSize, StepLatency()).time().seconds();
}

double PlayMessages(const ClusterNetwork& network, const std::vector<ScheduledMessage>& messages) {
  const std::vector<double> time =
      InChild([&] { return std::vector{PlaySchedule(network, messages, kSize).time.seconds()}; });
  return time.empty() ? 0 : time[0];
}

double PlayMessages(const ClusterNetwork& network, const Case& c) {
  return PlayMessages(network, MessagesOf(network, c.schedule, c.group, Exchanging::kAtOnce));
}

// Every stage as one task that loads the busiest link of each class, one after the other.
double PlayFluid(const ClusterNetwork& network, const Schedule& schedule,
                 const ProcessGroup& group) {
  std::vector<StageLoads> stages;
  for (const Stage& stage : schedule.stages) stages.push_back(LoadsOf(network, stage, group));
  const std::vector<double> time = InChild([&] {
    SimGridSession session(SharingModel::kParallelTasks);
    FluidPlatform platform(&session);
    std::vector<std::vector<ResourceLoad>> loads(stages.size());
    const auto add = [&](double load, const LinkOfCluster& link, auto get) {
      const int resource = platform.AddLink("link" + std::to_string(get));
      if (load <= 0) return;
      const double rate = CapacityOf(network, link).bytes_per_second();
      loads[static_cast<std::size_t>(get) % stages.size()].push_back(
          {resource, load * static_cast<double>(kSize.count()) / rate});
    };
    int number = 0;
    for (std::size_t s = 0; s < stages.size(); ++s) {
      const auto next = [&] {
        while (static_cast<std::size_t>(number) % stages.size() != s) ++number;
        return number++;
      };
      for (std::size_t arc = 0; arc < stages[s].arcs.size(); ++arc) {
        add(stages[s].arcs[arc], {0, static_cast<std::int64_t>(arc)}, next());
      }
      for (std::size_t link = 0; link < stages[s].links.size(); ++link) {
        add(stages[s].links[link], {-1, static_cast<std::int64_t>(link)}, next());
      }
    }
    platform.Seal();
    std::function<void(std::size_t)> start = [&](std::size_t s) {
      if (s < loads.size()) platform.Start(loads[s], [&, s] { start(s + 1); });
    };
    session.Soon([&] { start(0); });
    return std::vector{session.Run().seconds()};
  });
  return time.empty() ? 0 : time[0];
}

bool IsTree(const Case& c) {
  return c.algorithm == Algorithm::kTree || c.kind == CollectiveKind::kBroadcast ||
         c.kind == CollectiveKind::kReduce;
}

// Of the time that is played over the closed form.
std::pair<double, double> ClaimedRange(const Case& c) {
  const Schedule& schedule = c.schedule;
  if (IsTree(c)) {
    int depth = 0;
    for (const Stage& stage : schedule.stages) {
      const Steps steps = StepsOf(stage, schedule.shape);
      depth += steps.in_node + steps.across;
    }
    return {0.99, 1.01 + static_cast<double>(depth) / kChunks};
  }
  if (c.algorithm == Algorithm::kPat) return {0.80, 1.35};
  if (c.algorithm == Algorithm::kHalvingDoubling && c.net == Net::kGraph) return {0.99, 1.35};
  return {0.99, 1.01};
}

class RandomTopologies : public testing::TestWithParam<Net> {};

TEST_P(RandomTopologies, MessagesTakeWhatTheClosedFormSays) {
  int cases = 0;
  for (unsigned seed = 1; seed <= 4; ++seed) {
    ForEachCase(GetParam(), seed, [&](const ClusterNetwork& network, const Case& c) {
      const double ratio = PlayMessages(network, c) / ClosedForm(network, c);
      const auto [least, most] = ClaimedRange(c);
      EXPECT_GE(ratio, least);
      EXPECT_LE(ratio, most);
      ++cases;
    });
  }
  std::printf("%d cases\n", cases);
  EXPECT_GT(cases, 150);
}

TEST_P(RandomTopologies, RoundByRoundExchangesAreNoFaster) {
  for (unsigned seed = 1; seed <= 2; ++seed) {
    ForEachCase(GetParam(), seed, [&](const ClusterNetwork& network, const Case& c) {
      if (c.kind != CollectiveKind::kAllToAll) return;
      const double played = PlayMessages(network, MessagesOf(network, c.schedule, c.group));
      const double closed = ClosedForm(network, c);
      EXPECT_GE(played, 0.99 * closed);
      EXPECT_LE(played, 2.6 * closed);
    });
  }
}

// The tasks of the fluid engine keep the busiest link as busy as it is counted. Rounds that differ
// are counted one by one in the closed form alone.
TEST_P(RandomTopologies, FluidTasksTakeWhatTheClosedFormSays) {
  for (unsigned seed = 1; seed <= 2; ++seed) {
    ForEachCase(GetParam(), seed, [&](const ClusterNetwork& network, const Case& c) {
      if (c.algorithm == Algorithm::kPat || c.algorithm == Algorithm::kHalvingDoubling) return;
      if (c.kind == CollectiveKind::kReduceScatter) return;  // the mirror of the all-gather
      EXPECT_NEAR(PlayFluid(network, c.schedule, c.group) / ClosedForm(network, c), 1.0, 1e-6);
    });
  }
}

// What a rank receives is what the collective brings it: no byte is lost or sent twice.
TEST_P(RandomTopologies, EveryRankReceivesWhatTheCollectiveBringsIt) {
  ForEachCase(GetParam(), 3, [&](const ClusterNetwork& network, const Case& c) {
    const int n = c.schedule.shape.size();
    if (IsTree(c) || c.algorithm == Algorithm::kTwoHop) return;  // which pass on what is not theirs
    double each = static_cast<double>(n - 1) / n;
    if (c.kind == CollectiveKind::kAllReduce) each *= 2;
    if (c.kind == CollectiveKind::kSendReceive) each = n > 1 ? 1 : 0;
    std::vector<double> received(static_cast<std::size_t>(network.world_size()), 0);
    double sent = 0;
    for (const ScheduledMessage& message : MessagesOf(network, c.schedule, c.group)) {
      received[static_cast<std::size_t>(message.to)] += message.share;
      sent += message.share;
    }
    for (const double share : received) EXPECT_NEAR(share, each, 1e-9);
    EXPECT_NEAR(sent, each * network.world_size(), 1e-6);
  });
}

TEST_P(RandomTopologies, NothingBeatsTheBound) {
  for (unsigned seed = 1; seed <= 40; ++seed) {
    ForEachCase(GetParam(), seed, [&](const ClusterNetwork& network, const Case& c) {
      const Seconds bound = BoundOf(network, c.kind, c.group, kSize, {});
      EXPECT_GE(ClosedForm(network, c), (1 - 1e-9) * bound.seconds());
    });
  }
}

std::string NameOfNet(const testing::TestParamInfo<Net>& info) {
  static const char* const kNames[] = {"Switch", "FatTree", "Rails", "Dragonfly", "Torus", "Graph"};
  return kNames[static_cast<int>(info.param)];
}

INSTANTIATE_TEST_SUITE_P(Nets, RandomTopologies, testing::ValuesIn(kNets), NameOfNet);

// The GPUs of an NVSwitch are alike: in whatever order rings and trees visit them they take the
// same time.
TEST(SymmetricCluster, RenumberedRanksTakeTheSameTime) {
  PcieTree pcie;
  pcie.bandwidth = BytesPerSecond::GigabytesPerSecond(50);
  pcie.inter_socket_bandwidth = pcie.bandwidth;
  FabricLayout layout;
  layout.nodes = 3;
  layout.nics_per_node = 1;
  layout.nic_bandwidth = BytesPerSecond::GigabytesPerSecond(25);
  layout.kind = SwitchLayout{2};
  const ClusterNetwork network = MakeClusterNetwork(
      NvSwitchNode(4, 1, BytesPerSecond::GigabytesPerSecond(300), Seconds(), pcie), layout);
  std::mt19937 random(1);
  for (const Algorithm algorithm : {Algorithm::kRing, Algorithm::kTree}) {
    double first = 0;
    for (int turn = 0; turn < 8; ++turn) {
      std::vector<int> order{0, 1, 2, 3};
      std::shuffle(order.begin(), order.end(), random);
      const AlgorithmOptions options{.channels = 1, .local_orders = {order}, .chunks = kChunks};
      const Schedule schedule = ScheduleOf(algorithm, CollectiveKind::kAllReduce, {3, 4}, options);
      const double time = PlayMessages(network, MessagesOf(network, schedule, {12, 1}));
      if (turn == 0) first = time;
      EXPECT_NEAR(time / first, 1.0, 1e-6);
    }
  }
}

}  // namespace
}  // namespace zerosim
