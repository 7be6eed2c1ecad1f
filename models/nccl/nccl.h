// The words of NCCL: collectives, algorithms, protocols, versions.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace zerosim {

// The first five have a cost table in NCCL; the last two are made of sends and receives.
enum class NcclCollective : std::uint8_t {
  kBroadcast,
  kReduce,
  kAllGather,
  kReduceScatter,
  kAllReduce,
  kAllToAll,
  kSendReceive,  // every rank to the next one, as sendrecv_perf does
};
constexpr std::size_t kNcclTunedCollectives = 5;

// In NCCL's order: of two entries with the same cost the first is taken.
enum class NcclAlgorithm : std::uint8_t {
  kTree,
  kRing,
  kCollNetDirect,
  kCollNetChain,
  kNvls,
  kNvlsTree,
  kPat,
};
constexpr std::size_t kNcclAlgorithms = 7;

enum class NcclProtocol : std::uint8_t { kLl, kLl128, kSimple };
constexpr std::size_t kNcclProtocols = 3;

template <typename T>
using ByProtocol = std::array<T, kNcclProtocols>;
template <typename T>
using ByAlgorithm = std::array<ByProtocol<T>, kNcclAlgorithms>;

template <typename Enum>
constexpr std::size_t Index(Enum value) {
  return static_cast<std::size_t>(value);
}

// "all_reduce", as in the names of nccl-tests: all_reduce_perf.
std::string_view Name(NcclCollective collective);
// "Ring", "NVLSTree", as NCCL_ALGO writes them; "LL", "LL128", "Simple".
std::string_view Name(NcclAlgorithm algorithm);
std::string_view Name(NcclProtocol protocol);

// Read a name without regard to case and underscores: NCCL_ALGO has "nvlstree", logs "NVLS_TREE".
// A collective also by NCCL's own name ("AllReduce") and that of its test ("alltoall").
std::optional<NcclCollective> ParseNcclCollective(std::string_view text);
std::optional<NcclAlgorithm> ParseNcclAlgorithm(std::string_view text);
std::optional<NcclProtocol> ParseNcclProtocol(std::string_view text);

struct NcclVersion {
  int major = 2;
  int minor = 30;
  int patch = 7;

  friend constexpr auto operator<=>(const NcclVersion&, const NcclVersion&) = default;
};

// Reads "2.26.2+cuda12.8", "2.21.5" or "2.18" (then the patch is 99: the last of its line).
std::optional<NcclVersion> ParseNcclVersion(std::string_view text);
// From the number that ncclGetVersion gives: 22902 is 2.29.2, and 2604 (before 2.9) 2.6.4.
NcclVersion NcclVersionOf(int code);
std::string Name(const NcclVersion& version);  // "2.29.2"

}  // namespace zerosim
