// The schedules of the collective algorithms that libraries use.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/collectives/schedule.h"

namespace zerosim {

enum class CollectiveKind : std::uint8_t {
  kAllGather,
  kReduceScatter,
  kAllReduce,
  kBroadcast,  // from member 0
  kReduce,     // to member 0
  kAllToAll,
  kSendReceive,  // every member to the next
};

enum class Algorithm : std::uint8_t {
  kRing,              // one ring through all nodes, `channels` of them; broadcasts pass a chain
  kTree,              // double binary tree over the nodes, chains inside (NCCL 2.4)
  kHierarchicalRing,  // rings across the nodes, rings inside
  kHalvingDoubling,   // Thakur, Rabenseifner, Gropp, IJHPCA 19, 2005, section 4
  kPat,               // NCCL 2.23: reversed dissemination, log2 n steps
  kNvls,              // in-switch reduction and multicast in one node (NVLink SHARP)
  kNvlsTree,          // that in the nodes, and a double binary tree of each local place across
  kCollNet,           // reduction in the switches between the nodes (SHARP), rings inside
  kDirect,            // pairwise exchange
  kTwoHop,            // exchange in the nodes, then between members of equal place: qgZ
  kTorusRings,        // a ring in each dimension in turn ("bucket" algorithm)
};

inline constexpr CollectiveKind kCollectiveKinds[] = {
    CollectiveKind::kAllReduce,  CollectiveKind::kAllGather, CollectiveKind::kReduceScatter,
    CollectiveKind::kAllToAll,   CollectiveKind::kBroadcast, CollectiveKind::kReduce,
    CollectiveKind::kSendReceive};
inline constexpr Algorithm kAlgorithms[] = {Algorithm::kRing,
                                            Algorithm::kTree,
                                            Algorithm::kHierarchicalRing,
                                            Algorithm::kHalvingDoubling,
                                            Algorithm::kPat,
                                            Algorithm::kNvls,
                                            Algorithm::kNvlsTree,
                                            Algorithm::kCollNet,
                                            Algorithm::kDirect,
                                            Algorithm::kTwoHop,
                                            Algorithm::kTorusRings};

// "ring", "nvls_tree".
std::string_view NameOf(Algorithm algorithm);
std::string_view NameOf(CollectiveKind kind);

struct AlgorithmOptions {
  int channels = 1;
  std::vector<std::vector<int>> local_orders = {};  // as in Stage
  int chunks = 1;                                   // of trees and chains
  // Of kTorusRings: their product is the group's size; the first varies fastest over the members.
  std::vector<int> dimensions = {};
};

// Why `algorithm` cannot do `kind` in a group of that shape; empty if it can.
std::optional<std::string> WhyNot(Algorithm algorithm, CollectiveKind kind, const GroupShape& shape,
                                  const AlgorithmOptions& options = {});

// The stages. Throws std::invalid_argument with the text of WhyNot if there are none.
Schedule ScheduleOf(Algorithm algorithm, CollectiveKind kind, const GroupShape& shape,
                    const AlgorithmOptions& options = {});

}  // namespace zerosim
