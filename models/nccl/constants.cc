#include "models/nccl/constants.h"

#include <limits>

namespace zerosim {
namespace {

using Micros = ByAlgorithm<double>;  // Tree, Ring, CollNetDirect, CollNetChain, NVLS, NVLSTree, PAT
using Rates = std::array<std::array<double, 3>, kGpuGenerations>;  // GB/s

constexpr double kNoCap = std::numeric_limits<double>::infinity();

constexpr Micros kBase{{{6.8, 14.0, 8.4}, {6.6, 14.0, 8.4}, {}, {}, {}, {}, {8.0, 8.0, 8.0}}};
constexpr Micros kNvlink{{{0.6, 1.25, 4.0},
                          {0.6, 1.9, 3.4},
                          {0, 0, 3.7},
                          {0, 0, 2.8},
                          {0, 0, 25},
                          {0, 0, 25},
                          {0, 0, 4.0}}};
constexpr Micros kPcie{
    {{1.0, 1.9, 4.0}, {1.0, 2.5, 5.7}, {0, 0, 3.7}, {0, 0, 2.8}, {}, {}, {0, 0, 4.0}}};
constexpr Micros kNetwork{{{5.0, 8.5, 14.0},
                           {2.7, 4.0, 14.0},
                           {0, 0, 31.0},
                           {0, 0, 30.0},
                           {0, 0, 18.0},
                           {0, 0, 20.9},
                           {0, 0, 14.0}}};

constexpr Rates kLl{{{39.0, 39.0, 20.4}, {87.7, 22.5, 19.0}, {141, 45, 35}, {282, 90, 70}}};
constexpr Rates kRingLl128{{{20, 20, 20}, {20, 20, 20}, {36.7, 36.7, 36.7}, {40, 40, 40}}};
constexpr Rates kTreeLl128{{{20, 20, 20}, {20, 20, 20}, {36.7, 36.7, 29.0}, {55.6, 31.67, 20.0}}};
constexpr Rates kTree{
    {{26.5, 18.5, 10.0}, {24.0, 23.6, 17.8}, {38.7, 41.4, 36.0}, {70.0, 42.8, 24.0}}};
constexpr Rates kNvlsTree{{{26.5, 18.5, 10.0}, {24.0, 23.6, 17.8}, {0, 57.7, 45.5}, {0, 96, 80}}};

constexpr ByProtocol<std::array<double, 24>> kTreeCorrection{
    {{1, 1, 1, 1, .9, .8, .7, .7, .7, .7, .6, .5, .4, .4, .5, .6, .7, .8, .9, 1, 1, 1, 1, 1},
     {1, 1, 1, 1, 1, .9, .8, .8, .8, .7, .6, .6, .6, .6, .6, .6, .8, .9, .9, .9, .9, 1, 1, 1},
     {.9, .9, .9, .9, .9, .9, .9, .8, .7, .6, .6, .5,
      .5, .5, .5, .6, .7, .8, .7, .7, .8, .9, .9, .9}}};
constexpr ByProtocol<std::array<double, 24>> kTreeCorrection28{
    {{1, 1, 1, 1, .9, .8, .7, .7, .7, .7, .6, .5, .4, .4, .5, .6, .7, .8, .9, 1, 1, 1, 1, 1},
     {1, 1, 1, 1, 1, .9, .8, .8, .8, .7, .6, .6, .6, .5, .6, .6, .7, .7, .8, .9, .9, 1, 1, 1},
     {.9, .9, .9, .9, .9, .9, .9, .8, .7, .6, .6, .5,
      .5, .5, .5, .5, .5, .6, .6, .7, .8, .9, 1,  1}}};

ByAlgorithm<Seconds> Times(const Micros& micros) {
  ByAlgorithm<Seconds> times;
  for (std::size_t a = 0; a < kNcclAlgorithms; ++a) {
    for (std::size_t p = 0; p < kNcclProtocols; ++p) {
      times[a][p] = Seconds::Micros(micros[a][p]);
    }
  }
  return times;
}

constexpr BytesPerSecond Rate(double gigabytes_per_second) {
  return BytesPerSecond::GigabytesPerSecond(gigabytes_per_second);
}

ByGeneration Caps(const Rates& rates) {
  ByGeneration caps;
  for (std::size_t g = 0; g < kGpuGenerations; ++g) {
    for (std::size_t n = 0; n < 3; ++n) caps[g][n] = Rate(rates[g][n]);
  }
  return caps;
}

constexpr Rates Same(const std::array<double, 3>& row) {
  return {row, row, row, row};
}

Seconds& Of(ByAlgorithm<Seconds>* table, NcclAlgorithm algorithm, NcclProtocol protocol) {
  return (*table)[Index(algorithm)][Index(protocol)];
}

TunerConstants Newest() {
  TunerConstants c;
  c.base = Times(kBase);
  c.nvlink = Times(kNvlink);
  c.pcie = Times(kPcie);
  c.network = Times(kNetwork);
  c.rings_cross_once = true;
  c.one_gpu_pays_tree = true;
  c.ll = Caps(kLl);
  c.tree_bus = Caps(Same({kNoCap, kNoCap, kNoCap}));
  c.tree_ll128_bus = c.tree_bus;
  c.ring_ll128_channel = Caps(kRingLl128);
  c.ring_ll128_collective_channel.fill(Rate(kNoCap));
  c.tree_channel = Caps(kTree);
  c.tree_ll128_channel = Caps(kTreeLl128);
  c.nvls_tree_channel = Caps(kNvlsTree);
  c.nvls_efficiency = {0, 0, 0.85, 0.74};
  c.tree_correction = kTreeCorrection;
  return c;
}

void BackTo2283(TunerConstants* c) {
  const std::size_t blackwell = Index(GpuGeneration::kBlackwell);
  Of(&c->network, NcclAlgorithm::kNvlsTree, NcclProtocol::kSimple) = Seconds::Micros(14);
  c->nvls_tree_channel[blackwell] = {Rate(0), Rate(96), Rate(43.1)};
  c->ring_ll128_channel[blackwell].fill(Rate(73.4));
}

void BackTo227(TunerConstants* c) {
  const std::size_t hopper = Index(GpuGeneration::kHopper);
  const std::size_t blackwell = Index(GpuGeneration::kBlackwell);
  for (ByGeneration* caps : {&c->tree_channel, &c->tree_ll128_channel}) {
    for (std::size_t n = 0; n < 3; ++n) (*caps)[blackwell][n] = 2 * (*caps)[hopper][n];
  }
  c->nvls_tree_channel = Caps(Same({kNoCap, kNoCap, kNoCap}));
  c->nvls_efficiency = {};
}

void BackTo222(TunerConstants* c) {
  using enum NcclAlgorithm;
  Of(&c->base, kTree, NcclProtocol::kSimple) = Seconds();
  for (ByAlgorithm<Seconds>* table : {&c->nvlink, &c->pcie, &c->network}) {
    Of(table, kTree, NcclProtocol::kSimple) = Seconds::Micros(28);
  }
  c->rings_cross_once = false;
  c->one_gpu_pays_tree = false;
  c->ring_ll_reducing = 1.0 / 4;
  c->ring_ll_copying = 1.0 / 3;
  c->ring_ll128_one_gpu = 0.7;
  c->ll[Index(GpuGeneration::kHopper)] = c->ll[Index(GpuGeneration::kAmpere)];
}

void BackTo220(TunerConstants* c) {
  for (const NcclAlgorithm a : {NcclAlgorithm::kNvls, NcclAlgorithm::kNvlsTree}) {
    Of(&c->nvlink, a, NcclProtocol::kSimple) = Seconds::Micros(23);
  }
}

void BackTo28(TunerConstants* c) {
  const std::size_t tree = Index(NcclAlgorithm::kTree);
  const std::size_t ring = Index(NcclAlgorithm::kRing);
  const auto set = [](ByProtocol<Seconds>* row, double ll, double ll128, double simple) {
    *row = {Seconds::Micros(ll), Seconds::Micros(ll128), Seconds::Micros(simple)};
  };
  set(&c->base[tree], 4.4, 4.4, 0);
  set(&c->base[ring], 3.6, 10.0, 8.4);
  set(&c->nvlink[tree], 0.52, 1.2, 28);
  set(&c->nvlink[ring], 0.47, 1.9, 3.4);
  set(&c->network[tree], 5.0, 8.5, 50);
  set(&c->network[ring], 2.7, 4.0, 9.6);
  c->ll_in_node_factor = 1.8;
  c->rings_cross_once = true;
  c->plateau = 1.9;
  c->tree = 0.9;
  c->tree_ll128_between_nodes = 0.915;
  c->ll = Caps(Same({kNoCap, kNoCap, kNoCap}));
  c->tree_bus = Caps(Same({110, 110, 80}));
  c->tree_ll128_bus = c->tree_bus;
  c->tree_ll128_bus[Index(GpuGeneration::kAmpere)] = {Rate(130), Rate(130), Rate(105)};
  c->ring_ll128_channel = Caps(Same({kNoCap, kNoCap, kNoCap}));
  c->ring_ll128_collective_channel = {Rate(18.8), Rate(12.0), Rate(18.3), Rate(15.2), Rate(16.7)};
  c->tree_channel = Caps(Same({kNoCap, kNoCap, kNoCap}));
  c->tree_ll128_channel = Caps(Same({16.7 * 7 / 9, 16.7 * 7 / 9, 16.7 * 7 / 9}));
  c->tree_correction = kTreeCorrection28;
}

}  // namespace

GpuGeneration GenerationOf(int compute_capability) {
  if (compute_capability >= 100) return GpuGeneration::kBlackwell;
  if (compute_capability >= 90) return GpuGeneration::kHopper;
  if (compute_capability >= 80) return GpuGeneration::kAmpere;
  return GpuGeneration::kVolta;
}

TunerConstants ConstantsOf(const NcclVersion& version) {
  TunerConstants constants = Newest();
  if (version < NcclVersion{2, 28, 4}) BackTo2283(&constants);
  if (version < NcclVersion{2, 28, 0}) BackTo227(&constants);
  if (version < NcclVersion{2, 23, 0}) BackTo222(&constants);
  if (version < NcclVersion{2, 21, 0}) BackTo220(&constants);
  if (version < NcclVersion{2, 12, 0}) BackTo28(&constants);
  return constants;
}

}  // namespace zerosim
