// What counting costs at 64 to 131,072 GPUs: the times are printed, and the slowest must stay far
// below what a prediction may take.
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <string>

#include <gtest/gtest.h>

#include "models/topology/fabric.h"
#include "models/topology/loads.h"
#include "tests/topology/layouts.h"

namespace zerosim {
namespace {

constexpr int kGpusPerNode = 8;
constexpr int kRuns = 5;
// Twice what the slowest takes on a busy machine of two cores.
constexpr double kLimit_ms = 100;

struct Case {
  std::string name;
  std::function<FabricLayout(int nodes)> layout;
};

// Powers of two as near to a cube as they come.
std::vector<int> Cube(int nodes) {
  std::vector<int> dimensions = {1, 1, 1};
  for (int i = 0; nodes > 1; nodes /= 2, i = (i + 1) % 3) dimensions[i] *= 2;
  return dimensions;
}

std::vector<Case> Cases() {
  const BytesPerSecond fast = BytesPerSecond::GigabitsPerSecond(400);
  return {{"Switch", [](int n) { return LayoutOf(n, kGpusPerNode, SwitchLayout{}); }},
          {"TwoLevels",
           [](int n) {
             return LayoutOf(n, kGpusPerNode, FatTreeLayout{{{8, 1}}});
           }},
          {"ThreeLevels",
           [](int n) {
             return LayoutOf(n, kGpusPerNode, FatTreeLayout{{{8, 1}, {16, 2}}});
           }},
          {"RailOptimized",
           [](int n) {
             return LayoutOf(n, kGpusPerNode, RailLayout{{{32, 1}, {64, 2}}});
           }},
          {"RailOnly",
           [](int n) {
             return LayoutOf(n, kGpusPerNode, RailLayout{{{32, 1}}, 0, true});
           }},
          {"Dragonfly",
           [fast](int n) {
             const int groups = std::max(1, n / 64);
             return LayoutOf(n, kGpusPerNode, DragonflyLayout{groups, 16, 4, 2, fast, fast});
           }},
          {"Torus3D", [fast](int n) {
             return LayoutOf(n, kGpusPerNode, TorusLayout{Cube(n), fast});
           }}};
}

bool Slowed() {
#if defined(NDEBUG) && !defined(__SANITIZE_ADDRESS__)
  return false;
#else
  return true;
#endif
}

// Of the processor: the machine may be busy with other work.
double Now_ms() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return 1e3 * static_cast<double>(now.tv_sec) + 1e-6 * static_cast<double>(now.tv_nsec);
}

double FastestMs(const std::function<void()>& work) {
  double fastest = 1e9;
  for (int run = 0; run < kRuns; ++run) {
    const double begin = Now_ms();
    work();
    fastest = std::min(fastest, Now_ms() - begin);
  }
  return fastest;
}

class Scale : public testing::TestWithParam<std::tuple<Case, Routing>> {};

TEST_P(Scale, CountingTakesMilliseconds) {
  const auto& [one, routing] = GetParam();
  const std::vector<int> nics = {0, 1, 2, 3, 4, 5, 6, 7};
  std::printf("  %-14s    GPUs    links  build   ring   tree  all-to-all, PXN  groups of 16 (ms)\n",
              one.name.c_str());
  for (const int gpus : {64, 1024, 16384, 131072}) {
    const int nodes = gpus / kGpusPerNode;
    FabricLayout layout = one.layout(nodes);
    layout.routing = routing;
    ASSERT_EQ(TextOf(CheckFabric(layout)), "");
    const NodeGroups all = AllGroups(nodes, nodes, 1);
    const NodeGroups part = AllGroups(nodes, std::min(nodes, 16), std::max(1, nodes / 16));
    const auto fabric = MakeFabric(layout);
    const bool joined = fabric->Connects({0, 0}, {1, 1});
    std::vector<double> loads;

    const double build = FastestMs([&] { MakeFabric(layout); });
    const double ring = FastestMs([&] {
      loads = PatternLoads(*fabric, {all, nics, RingEdges(nodes)});
    });
    const double tree = FastestMs([&] {
      loads = PatternLoads(*fabric, {all, nics, DoubleTreeEdges(nodes)});
    });
    const double to_all =
        !joined ? 0
                : FastestMs([&] { loads = ExchangeLoads(*fabric, all, nics, ExchangeNics::kAll); });
    const double pxn =
        FastestMs([&] { loads = ExchangeLoads(*fabric, all, nics, ExchangeNics::kSame); });
    const double groups =
        FastestMs([&] { loads = ExchangeLoads(*fabric, part, nics, ExchangeNics::kSame); });

    std::printf("  %18s%8d %8lld  %5.2f  %5.2f  %5.2f       %5.2f  %5.2f         %5.2f\n", "", gpus,
                static_cast<long long>(fabric->num_links()), build, ring, tree, to_all, pxn,
                groups);
    if (Slowed()) continue;
    for (const double time : {build, ring, tree, to_all, pxn, groups}) EXPECT_LE(time, kLimit_ms);
  }
}

std::string NameOf(const testing::TestParamInfo<std::tuple<Case, Routing>>& info) {
  const char* names[] = {"Static", "Ecmp", "Adaptive"};
  return std::get<0>(info.param).name + names[static_cast<int>(std::get<1>(info.param))];
}

INSTANTIATE_TEST_SUITE_P(Fabrics, Scale,
                         testing::Combine(testing::ValuesIn(Cases()),
                                          testing::Values(Routing::kStatic, Routing::kEcmp,
                                                          Routing::kAdaptive)),
                         NameOf);

}  // namespace
}  // namespace zerosim
