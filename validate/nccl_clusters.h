// Which cluster a log of nccl-tests comes from, and what NCCL would see there.
//
// A file names clusters, each with its topology, fabric and version, and the logs that were taken
// on it; the format is in validate/README.md. Reading is strict, as for scenarios. The logs
// themselves are not read here.
#pragma once

#include <string>
#include <vector>

#include "models/nccl/nccl.h"
#include "models/nccl/overrides.h"
#include "models/nccl/topology.h"
#include "models/scenario/files.h"

namespace zerosim {

struct NcclRun {
  std::string log;  // name of the file
  NcclCollective collective = NcclCollective::kAllReduce;
  NcclGroup group;
  NcclVersion version;
  NcclOverrides overrides;
};

struct NcclCluster {
  std::string name;
  std::string about;
  std::string gpu;     // "H100"
  std::string fabric;  // "InfiniBand", "Slingshot", "TCP", ...: what summaries group by
  std::string source;
  std::string assumed;
  NcclTopology topology;
  std::vector<NcclRun> runs;
};

struct SkippedLog {
  std::string log;
  std::string reason;
};

struct NcclClusters {
  std::vector<NcclCluster> clusters;
  std::vector<SkippedLog> skipped;
};

// Throws ScenarioError with every problem in the file.
NcclClusters ReadNcclClusters(const std::string& path, const Files& files);

}  // namespace zerosim
