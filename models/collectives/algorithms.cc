#include "models/collectives/algorithms.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <numeric>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

namespace zerosim {
namespace {

using Kind = CollectiveKind;

bool Gathers(Kind kind) {
  return kind == Kind::kAllGather || kind == Kind::kAllReduce;
}
bool Reduces(Kind kind) {
  return kind == Kind::kReduceScatter || kind == Kind::kAllReduce;
}

// A reduce-scatter over `dimensions` in turn, an all-gather over them in the other order, or both.
std::vector<Stage> Nested(Kind kind, const std::vector<Stage>& dimensions) {
  std::vector<Stage> stages;
  const auto add = [&](Stage stage, Motion motion) {
    stage.motion = motion;
    if (stage.among.size > 1) stages.push_back(std::move(stage));
  };
  if (Reduces(kind)) {
    for (const Stage& stage : dimensions) add(stage, Motion::kReduce);
  }
  if (Gathers(kind)) {
    for (auto it = dimensions.rbegin(); it != dimensions.rend(); ++it) add(*it, Motion::kGather);
  }
  return stages;
}

Stage Tree(ProcessGroup among, int channels, const AlgorithmOptions& options) {
  Stage stage{.pattern = StagePattern::kTree, .among = among, .channels = channels};
  if (channels == options.channels) stage.local_orders = options.local_orders;
  stage.chunks = options.chunks;
  return stage;
}

std::vector<Stage> RingStages(Kind kind, const GroupShape& shape, const AlgorithmOptions& options) {
  const ProcessGroup all{shape.size(), 1};
  if (kind == Kind::kBroadcast || kind == Kind::kReduce) {
    Stage chain = Tree(all, options.channels, options);
    chain.tree = TreeKind::kChain;
    chain.up = kind == Kind::kReduce;
    chain.down = kind == Kind::kBroadcast;
    return {chain};
  }
  return Nested(kind, {{.pattern = StagePattern::kRing,
                        .among = all,
                        .channels = options.channels,
                        .local_orders = options.local_orders}});
}

// Inside of the nodes, and between the members of equal local place.
std::vector<Stage> TwoLevels(Kind kind, const GroupShape& shape, StagePattern in_node,
                             StagePattern across) {
  return Nested(kind, {{.pattern = in_node, .among = {shape.local, 1}},
                       {.pattern = across, .among = {shape.nodes, shape.local}}});
}

std::vector<Stage> NvlsTreeStages(const GroupShape& shape, const AlgorithmOptions& options) {
  const Stage in_node{.pattern = StagePattern::kSwitch, .among = {shape.local, 1}};
  std::vector<Stage> stages = Nested(Kind::kReduceScatter, {in_node});
  stages.push_back(Tree({shape.nodes, shape.local}, 1, options));
  for (Stage& stage : Nested(Kind::kAllGather, {in_node})) stages.push_back(std::move(stage));
  return stages;
}

std::vector<Stage> TorusStages(Kind kind, const std::vector<int>& dimensions) {
  std::vector<Stage> rings;
  int stride = 1;
  for (const int size : dimensions) {
    rings.push_back({.pattern = StagePattern::kRing, .among = {size, stride}});
    stride *= size;
  }
  return Nested(kind, rings);
}

std::vector<Stage> Exchanges(Kind kind, const std::vector<ProcessGroup>& groups) {
  const Motion motion = kind == Kind::kAllToAll        ? Motion::kPersonal
                        : kind == Kind::kReduceScatter ? Motion::kReduce
                                                       : Motion::kGather;
  std::vector<Stage> stages;
  for (const ProcessGroup& group : groups) {
    if (group.size == 1) continue;
    stages.push_back({.pattern = StagePattern::kExchange, .among = group, .motion = motion});
  }
  return stages;
}

constexpr std::pair<Algorithm, std::string_view> kAlgorithmNames[] = {
    {Algorithm::kRing, "ring"},
    {Algorithm::kTree, "tree"},
    {Algorithm::kHierarchicalRing, "hierarchical_ring"},
    {Algorithm::kHalvingDoubling, "halving_doubling"},
    {Algorithm::kPat, "pat"},
    {Algorithm::kNvls, "nvls"},
    {Algorithm::kNvlsTree, "nvls_tree"},
    {Algorithm::kCollNet, "collnet"},
    {Algorithm::kDirect, "direct"},
    {Algorithm::kTwoHop, "two_hop"},
    {Algorithm::kTorusRings, "torus_rings"},
};

constexpr std::pair<Kind, std::string_view> kKindNames[] = {
    {Kind::kAllGather, "all_gather"},
    {Kind::kReduceScatter, "reduce_scatter"},
    {Kind::kAllReduce, "all_reduce"},
    {Kind::kBroadcast, "broadcast"},
    {Kind::kReduce, "reduce"},
    {Kind::kAllToAll, "all_to_all"},
    {Kind::kSendReceive, "send_receive"},
};

}  // namespace

std::string_view NameOf(Algorithm algorithm) {
  const auto* found =
      std::ranges::find(kAlgorithmNames, algorithm, &std::pair<Algorithm, std::string_view>::first);
  return found->second;
}

std::string_view NameOf(CollectiveKind kind) {
  return std::ranges::find(kKindNames, kind, &std::pair<Kind, std::string_view>::first)->second;
}

std::optional<std::string> WhyNot(Algorithm algorithm, CollectiveKind kind, const GroupShape& shape,
                                  const AlgorithmOptions& options) {
  const auto no = [&](std::string_view reason) {
    return fmt::format("{} can't do {}: {}", NameOf(algorithm), NameOf(kind), reason);
  };
  if (shape.size() == 1) return std::nullopt;
  const bool direct = algorithm == Algorithm::kDirect;
  if (kind == Kind::kSendReceive && !direct) return no("it is one message; use direct");
  if (kind == Kind::kAllToAll && !direct && algorithm != Algorithm::kTwoHop) {
    return no("use direct or two_hop");
  }
  switch (algorithm) {
    case Algorithm::kRing:
      return std::nullopt;
    case Algorithm::kTree:
    case Algorithm::kNvlsTree:
      if (kind != Kind::kAllReduce) return no("trees all-reduce only");
      if (algorithm == Algorithm::kNvlsTree && shape.nodes == 1) {
        return no("it needs two nodes or more; use nvls");
      }
      return std::nullopt;
    case Algorithm::kDirect:
    case Algorithm::kTwoHop:
      if (kind == Kind::kAllReduce) return no("it is a reduce-scatter and an all-gather");
      break;
    case Algorithm::kHalvingDoubling:
      if (!std::has_single_bit(static_cast<unsigned>(shape.size()))) {
        return no(fmt::format("{} ranks are no power of two; use pat", shape.size()));
      }
      break;
    case Algorithm::kNvls:
      if (shape.nodes > 1) return no("the switches of a node reach its own GPUs alone");
      break;
    case Algorithm::kCollNet:
      if (shape.nodes == 1) return no("it needs two nodes or more");
      break;
    case Algorithm::kTorusRings: {
      const int product = std::accumulate(options.dimensions.begin(), options.dimensions.end(), 1,
                                          std::multiplies<>());
      if (product != shape.size()) {
        return no(fmt::format("its dimensions hold {} ranks, the group {}", product, shape.size()));
      }
      break;
    }
    case Algorithm::kHierarchicalRing:
    case Algorithm::kPat:
      break;
  }
  if (kind == Kind::kBroadcast || kind == Kind::kReduce) return no("use ring");
  return std::nullopt;
}

Schedule ScheduleOf(Algorithm algorithm, CollectiveKind kind, const GroupShape& shape,
                    const AlgorithmOptions& options) {
  if (const auto reason = WhyNot(algorithm, kind, shape, options)) {
    throw std::invalid_argument(*reason);
  }
  Schedule schedule{.shape = shape, .stages = {}};
  if (shape.size() == 1) return schedule;
  const ProcessGroup all{shape.size(), 1};
  std::vector<Stage>& stages = schedule.stages;
  switch (algorithm) {
    case Algorithm::kRing:
      stages = RingStages(kind, shape, options);
      break;
    case Algorithm::kTree:
      stages = {Tree(all, options.channels, options)};
      break;
    case Algorithm::kHierarchicalRing:
      stages = TwoLevels(kind, shape, StagePattern::kRing, StagePattern::kRing);
      break;
    case Algorithm::kHalvingDoubling:
      stages = Nested(kind, {{.pattern = StagePattern::kHalving, .among = all}});
      break;
    case Algorithm::kPat:
      stages = Nested(kind, {{.pattern = StagePattern::kDissemination, .among = all}});
      break;
    case Algorithm::kNvls:
      stages = Nested(kind, {{.pattern = StagePattern::kSwitch, .among = all}});
      break;
    case Algorithm::kNvlsTree:
      stages = NvlsTreeStages(shape, options);
      break;
    case Algorithm::kCollNet:
      stages = TwoLevels(kind, shape, StagePattern::kRing, StagePattern::kSwitch);
      break;
    case Algorithm::kDirect:
      if (kind == Kind::kSendReceive) {
        stages = {{.pattern = StagePattern::kShift, .among = all}};
      } else {
        stages = Exchanges(kind, {all});
      }
      break;
    case Algorithm::kTwoHop:
      stages = Exchanges(kind, {{shape.local, 1}, {shape.nodes, shape.local}});
      if (kind == Kind::kAllGather) std::ranges::reverse(stages);
      break;
    case Algorithm::kTorusRings:
      stages = TorusStages(kind, options.dimensions);
      break;
  }
  return schedule;
}

}  // namespace zerosim
