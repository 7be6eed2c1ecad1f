// What a user forces on NCCL through its environment.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "models/nccl/nccl.h"

namespace zerosim {

// By collective: what NCCL_ALGO or NCCL_PROTO leaves enabled. Nothing: the variable is not set for
// that collective. A protocol that is named is enabled even where NCCL would not trust it (LL128).
struct NcclOverrides {
  std::array<std::optional<std::array<bool, kNcclAlgorithms>>, kNcclTunedCollectives> algorithms;
  std::array<std::optional<std::array<bool, kNcclProtocols>>, kNcclTunedCollectives> protocols;
  int min_channels = 0;           // NCCL_MIN_CTAS, NCCL_MIN_NCHANNELS; 0: not set
  int max_channels = 0;           // NCCL_MAX_CTAS, NCCL_MAX_NCHANNELS
  int threads = 0;                // NCCL_NTHREADS, of Ring and Tree with LL and Simple
  int channels_per_net_peer = 0;  // NCCL_NCHANNELS_PER_NET_PEER, of sends and receives
};

// Set what a variable's text says: "Ring", "ring,tree", "^NVLS" (all but that), and since 2.24 by
// collective, "ring;allreduce:tree,nvls". Return what is wrong with the text, in the form "expected
// ..., got ...", and change nothing then.
std::optional<std::string> SetAlgorithms(std::string_view text, NcclOverrides* overrides);
std::optional<std::string> SetProtocols(std::string_view text, NcclOverrides* overrides);

// Sets what "NCCL_ALGO=Ring" and the like say, each variable as NCCL reads it. Returns what is
// wrong: "NAME: expected ..., got ...", or "expected NAME=VALUE, got ...".
std::optional<std::string> SetVariable(std::string_view text, NcclOverrides* overrides);

}  // namespace zerosim
