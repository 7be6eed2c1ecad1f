// Properties of every fabric: loads of patterns against the sum of all flows, one by one.
#include "models/topology/fabric.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/topology/loads.h"
#include "tests/topology/layouts.h"

namespace zerosim {
namespace {

// Sums of up to some thousand terms, in another order.
constexpr double kRounding = 1e-9;

std::vector<int> AllNics(const Fabric& fabric) {
  std::vector<int> nics(fabric.nics_per_node());
  std::iota(nics.begin(), nics.end(), 0);
  return nics;
}

// Every flow of an exchange, by the definition.
std::vector<NicFlow> AllPairs(const NodeGroups& groups, const std::vector<int>& nics,
                              ExchangeNics to) {
  std::vector<NicFlow> flows;
  for (int group = 0; group < groups.count(); ++group) {
    for (int a = 0; a < groups.size; ++a) {
      for (int b = 0; b < groups.size; ++b) {
        for (const int from : nics) {
          for (const int at : nics) {
            if (a == b || (to == ExchangeNics::kSame && at != from)) continue;
            const double weight =
                to == ExchangeNics::kSame ? 1 : 1.0 / static_cast<double>(nics.size());
            flows.push_back({{groups.Node(group, a), from}, {groups.Node(group, b), at}, weight});
          }
        }
      }
    }
  }
  return flows;
}

void ExpectSameLoads(const Fabric& fabric, const std::vector<double>& actual,
                     const std::vector<double>& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t link = 0; link < actual.size(); ++link) {
    EXPECT_NEAR(actual[link], expected[link], kRounding)
        << fabric.LinkName(static_cast<std::int64_t>(link));
  }
}

class EveryFabric : public testing::TestWithParam<NamedLayout> {
 protected:
  void SetUp() override {
    ASSERT_EQ(TextOf(CheckFabric(GetParam().layout)), "");
    fabric_ = MakeFabric(GetParam().layout);
    nics_ = AllNics(*fabric_);
  }
  // All nodes, blocks, every k-th node, and a part.
  std::vector<NodeGroups> Groups() const {
    const int n = fabric_->nodes();
    return {AllGroups(n, n, 1), AllGroups(n, 4, 1), AllGroups(n, n / 4, 4),
            AllGroups(n, 2, 3), {1, 3, 2, 2, 1},    {0, n - 1, 1, 1, 1}};
  }
  bool RailsAlone() const { return !fabric_->Connects({0, 0}, {1, fabric_->nics_per_node() - 1}); }

  std::unique_ptr<const Fabric> fabric_;
  std::vector<int> nics_;
};

TEST_P(EveryFabric, AnExchangeLoadsLinksAsAllItsFlowsDo) {
  for (const NodeGroups& groups : Groups()) {
    for (const ExchangeNics to : {ExchangeNics::kSame, ExchangeNics::kAll}) {
      if (to == ExchangeNics::kAll && RailsAlone()) continue;
      for (const std::vector<int>& nics : {nics_, std::vector<int>{0}}) {
        SCOPED_TRACE(testing::Message() << "groups of " << groups.size << " nodes, "
                                        << groups.stride << " apart, " << nics.size() << " NICs");
        const std::vector<double> loads = ExchangeLoads(*fabric_, groups, nics, to);
        ExpectSameLoads(*fabric_, loads, FlowLoads(*fabric_, AllPairs(groups, nics, to)));
      }
    }
  }
}

TEST_P(EveryFabric, AnExchangeIsAllShifts) {
  for (const NodeGroups& groups : Groups()) {
    std::vector<double> sum(fabric_->num_links(), 0);
    for (int distance = 1; distance < groups.size; ++distance) {
      const std::vector<double> loads =
          PatternLoads(*fabric_, {groups, nics_, ShiftEdges(groups.size, distance)});
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += loads[i];
    }

    ExpectSameLoads(*fabric_, ExchangeLoads(*fabric_, groups, nics_, ExchangeNics::kSame), sum);
  }
}

TEST_P(EveryFabric, APatternLoadsLinksAsItsFlowsDoAndWhatNicsSendArrives) {
  for (const NodeGroups& groups : Groups()) {
    for (const std::vector<Edge>& edges :
         {RingEdges(groups.size), ShiftEdges(groups.size, 5), DoubleTreeEdges(groups.size)}) {
      const TrafficPattern pattern{groups, nics_, edges};
      const std::vector<NicFlow> flows = FlowsOf(pattern);
      const double sent =
          std::accumulate(flows.begin(), flows.end(), 0.0,
                          [](double sum, const NicFlow& f) { return sum + f.weight; });

      const std::vector<double> loads = PatternLoads(*fabric_, pattern);

      ExpectSameLoads(*fabric_, loads, FlowLoads(*fabric_, flows));
      EXPECT_NEAR(ClassLoads(*fabric_, loads)[0].total, sent, kRounding);
      EXPECT_NEAR(ClassLoads(*fabric_, loads)[1].total, sent, kRounding);
    }
  }
}

// Paths of a flow are equally long: their shares add up to a whole number of hops.
TEST_P(EveryFabric, ARouteIsWholeAndNoLinkIsOnItTwice) {
  for (int to = 1; to < fabric_->nodes(); ++to) {
    const NicFlow flow{{0, 0}, {to, 0}};

    const std::vector<Hop> route = ExpandedRoute(*fabric_, flow);

    ASSERT_GE(route.size(), 2U);
    for (std::size_t i = 1; i < route.size(); ++i) EXPECT_LT(route[i - 1].link, route[i].link);
    for (const Hop& hop : route) {
      EXPECT_LE(hop.share, 1 + kRounding);
      EXPECT_GT(hop.share, 0);
      EXPECT_LT(hop.link, fabric_->num_links());
    }
    EXPECT_EQ(fabric_->LinkName(route[0].link), "node0.nic0 out");
    double hops = 0;
    for (const Hop& hop : route) hops += hop.share;
    // Also that of a split one, save in dragonflies, where one of the paths may be shorter.
    const bool uneven = std::holds_alternative<DragonflyLayout>(GetParam().layout.kind) &&
                        fabric_->routing() == Routing::kAdaptive;
    if (!uneven) {
      EXPECT_NEAR(hops, std::round(hops), kRounding);
    }
  }
}

TEST_P(EveryFabric, LinksHaveNamesOfTheirOwn) {
  const std::vector<ExpandedLink> links = Expand(*fabric_);

  std::vector<std::string> names;
  for (const ExpandedLink& link : links) names.push_back(link.name);
  std::sort(names.begin(), names.end());
  EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end())
      << *std::adjacent_find(names.begin(), names.end());
  EXPECT_EQ(static_cast<std::int64_t>(links.size()), fabric_->num_links());
  for (const ExpandedLink& link : links) EXPECT_GT(link.capacity, BytesPerSecond());
}

TEST_P(EveryFabric, AnExchangeOfOneIsEmpty) {
  const NodeGroups alone = AllGroups(fabric_->nodes(), 1, 1);

  EXPECT_THAT(ExchangeLoads(*fabric_, alone, nics_, ExchangeNics::kSame), testing::Each(0.0));
}

// A step is not faster than its bytes allow through any class of links as a whole.
TEST_P(EveryFabric, NoCutIsBeaten) {
  const NodeGroups all = AllGroups(fabric_->nodes(), fabric_->nodes(), 1);
  const std::vector<ClassLoad> loads =
      ClassLoads(*fabric_, ExchangeLoads(*fabric_, all, nics_, ExchangeNics::kSame));
  const Bytes bytes = Bytes::Count(1'000'000);

  const Seconds time = BusiestTime(*fabric_, loads, bytes);

  for (std::size_t i = 0; i < loads.size(); ++i) {
    const FabricLinkClass& links = fabric_->classes()[i];
    if (links.count == 0) continue;
    const Seconds even =
        loads[i].total / static_cast<double>(links.count) * (bytes / links.capacity);
    EXPECT_GE(time.seconds(), even.seconds() * (1 - kRounding)) << links.name;
  }
}

TEST_P(EveryFabric, LatencyOfAnExchangeIsTheMeanOfItsFlows) {
  const NodeGroups all = AllGroups(fabric_->nodes(), fabric_->nodes(), 1);
  const std::vector<NicFlow> flows = AllPairs(all, nics_, ExchangeNics::kSame);
  Seconds sum;
  for (const NicFlow& flow : flows) sum += LatencyOf(*fabric_, flow);

  const Seconds mean = MeanLatency(
      *fabric_, ClassLoads(*fabric_, ExchangeLoads(*fabric_, all, nics_, ExchangeNics::kSame)));

  EXPECT_NEAR(mean.seconds(), sum.seconds() / static_cast<double>(flows.size()), 1e-12);
}

INSTANTIATE_TEST_SUITE_P(Small, EveryFabric, testing::ValuesIn(SmallLayoutsWithRoutings()),
                         [](const auto& info) { return info.param.name; });

TEST(Fabric, RefusesFlowsThatHaveNoPath) {
  const auto fabric = MakeFabric(LayoutOf(4, 2, RailLayout{{{2, 1}}, 0, true}));
  const auto message = [&](const NicFlow& flow) -> std::string {
    try {
      FlowLoads(*fabric, {flow});
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "";
  };

  EXPECT_EQ(message({{0, 0}, {1, 1}}), "the fabric has no path from node0.nic0 to node1.nic1");
  EXPECT_EQ(message({{0, 0}, {0, 1}}), "the fabric has no path from node0.nic0 to node0.nic1");
  EXPECT_EQ(message({{0, 0}, {4, 0}}), "no node4.nic0 in a fabric of 4 nodes with 2 NICs");
  EXPECT_EQ(message({{0, 0}, {1, 0}}), "");
  EXPECT_THROW(PatternLoads(*fabric, {AllGroups(8, 8, 1), {0}, RingEdges(8)}),
               std::invalid_argument);
  EXPECT_THROW(PatternLoads(*fabric, {AllGroups(4, 2, 1), {0}, {{0, 2}}}), std::invalid_argument);
  EXPECT_THROW(ExchangeLoads(*fabric, AllGroups(4, 4, 1), {0, 1}, ExchangeNics::kAll),
               std::invalid_argument);
}

}  // namespace
}  // namespace zerosim
