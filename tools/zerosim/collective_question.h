// What the arguments of zerosim collective ask of the model.
#pragma once

#include <string>
#include <vector>

#include "models/core/units.h"
#include "models/nccl/nccl.h"
#include "models/network/collective_sweep.h"
#include "validate/nccl_tests_log.h"

namespace zerosim {

inline constexpr const char* kNccl = "nccl";  // the algorithm that NCCL takes
inline constexpr const char* kBest = "best";  // the fastest of all

struct CollectiveOptions {
  std::vector<std::string> clusters;
  std::vector<std::string> set;
  std::string op = "all_reduce";
  bool op_given = false;
  bool nccl_given = false;
  int nodes = 0;          // 0: those of the cluster
  int gpus_per_node = 0;  // 0: all of the node
  std::string least = "8";
  std::string most = "8G";
  double factor = 2;
  std::vector<std::string> algorithms = {kNccl};
  std::string nccl = Name(NcclVersion());
  std::vector<std::string> env;
  int gpus_per_process = 1;
  std::string compare;
  std::string json;
  std::string csv;
  std::string plot;
  std::string dot;
  bool quiet = false;
};

std::vector<std::string> CollectiveNames();
std::vector<std::string> AlgorithmNames();  // kNccl and kBest first

// For one of options.algorithms, but for the nodes and GPUs, which the cluster says. Throws
// UsageError (command.h) for what cannot be asked.
CollectiveQuestion QuestionOf(const CollectiveOptions& options, const std::string& algorithm);

// The rows of a log that have a time: the faster placement of each, since single runs have spikes.
// What the log says of the run holds where no option does. Throws UsageError for a log without rows
// or, where it is needed, without the collective.
std::vector<Seconds> TakeLog(const CollectiveOptions& options, const NcclTestsLog& log,
                             CollectiveQuestion* question);

}  // namespace zerosim
