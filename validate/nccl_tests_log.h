// Reads what nccl-tests print: all_reduce_perf and its siblings, of any version since 2019.
//
//   # nThread 1 nGpus 8 minBytes 8 maxBytes 8589934592 step: 2(factor) warmup iters: 5 iters: 20
//   ... #  Rank  0 Group  0 Pid  36291 on node1 device  0 [0x07] NVIDIA A100-SXM4-40GB #       size
//   count      type   redop    root     time   algbw   busbw #wrong     time ...
//           1024           256     float     sum      -1    23.11    0.04    0.08      0    23.15
//           ...
//   # Avg bus bandwidth    : 42.784
//
// Two blocks of columns: out of place, in place. Operation, root and errors may be missing; times
// are microseconds, rates GB/s of 1e9 bytes. Lines of NCCL's own log may stand between, or in the
// midst of, rows; prefixes (srun -l, mpirun) before them. What is none of these is skipped.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/core/diagnostics.h"
#include "models/core/units.h"
#include "models/nccl/nccl.h"

namespace zerosim {

struct NcclTestsTimes {
  Seconds time;
  BytesPerSecond algbw;
  BytesPerSecond busbw;
  std::string wrong;  // "0", "N/A", "2e-07"; empty: no such column
};

struct NcclTestsRow {
  int line = 0;
  Bytes size;              // total: the larger of what is sent and received; 0 occurs
  std::int64_t count = 0;  // elements
  std::string type;
  std::string operation;    // "sum", "none"; empty: no such column
  std::optional<int> root;  // -1: none
  std::optional<NcclTestsTimes> out_of_place;
  std::optional<NcclTestsTimes> in_place;
};

struct NcclTestsRank {
  int rank = 0;
  std::string host;
  int device = 0;
  std::string bus_id;
  std::string gpu;
};

// From NCCL_DEBUG=INFO with the subsystem TUNING.
struct NcclLoggedChoice {
  int line = 0;
  NcclCollective collective = NcclCollective::kAllReduce;
  Bytes size;
  NcclAlgorithm algorithm = NcclAlgorithm::kRing;
  NcclProtocol protocol = NcclProtocol::kSimple;
  std::optional<int> channels;  // newer versions
};

// "24 coll channels, ... 32 p2p channels, 2 p2p channels per peer".
struct NcclLoggedChannels {
  int collective = 0;
  int point_to_point = 0;
  int per_peer = 0;
};

struct NcclTestsLog {
  std::optional<NcclVersion> version;  // of the library; as NCCL or the test prints it
  std::optional<NcclCollective> collective;
  std::vector<NcclTestsRank> ranks;  // in the order of the file
  std::optional<int> gpus_per_process;
  std::optional<int> warmup_iterations;
  std::optional<int> iterations;
  std::vector<NcclTestsRow> rows;
  std::vector<NcclLoggedChoice> choices;
  std::optional<NcclLoggedChannels> channels;
  std::optional<BytesPerSecond> average_busbw;  // as the last line says
  // Lines that are rows, ranks or choices and cannot be read: a row whose times another line has
  // overwritten. They are left out above.
  std::vector<Diagnostic> problems;

  int nodes() const;  // hosts of the ranks
};

// Never throws for the content of `source`.
NcclTestsLog ReadNcclTestsLog(const SourceText& source);

// What the last line of a log should say: the mean busbw of all rows and both placements. Nothing
// without rows. (As a bandwidth it is useless; as a checksum it is good.)
std::optional<BytesPerSecond> AverageBusbw(const NcclTestsLog& log);

// busbw / algbw on n ranks: 2(n-1)/n, (n-1)/n or 1.
double BusFactor(NcclCollective collective, int ranks);

}  // namespace zerosim
