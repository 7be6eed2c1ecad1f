// What one question about a collective of 1 GiB costs, by number of GPUs: from the description of
// the cluster to the answer. The complexity that is printed is in ranks.
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "models/network/collective_sweep.h"
#include "models/scenario/read_scenario.h"
#include "tests/benchmarks/clusters.h"

namespace zerosim {
namespace {

constexpr CollectiveKind kOps[] = {CollectiveKind::kAllReduce, CollectiveKind::kAllGather,
                                   CollectiveKind::kAllToAll};

void Collective(benchmark::State& state, const char* fabric, CollectiveKind kind) {
  const auto gpus = static_cast<int>(state.range(0));
  std::vector<Override> set;
  for (const auto& [path, value] : ClusterKeys(fabric, gpus)) set.push_back({path, value});
  const ClusterSpec cluster =
      ReadClusterOf(kCollectiveScenario, set, Catalog{{ZEROSIM_SOURCE_DIR "/scenarios"}}).cluster;
  CollectiveQuestion question;
  question.kind = kind;
  question.nodes = cluster.nodes;
  question.gpus_per_node = cluster.node.gpus;
  question.sizes = {Bytes::Count(std::int64_t{1} << 30)};
  for (auto _ : state) benchmark::DoNotOptimize(SweepCollective(cluster, question));
  state.SetComplexityN(gpus);
}

const bool kRegistered = [] {
  for (const char* const fabric : kCollectiveFabrics) {
    for (const CollectiveKind kind : kOps) {
      auto* const one = benchmark::RegisterBenchmark(
          fmt::format("{}/{}", NameOf(kind), fabric).c_str(), Collective, fabric, kind);
      for (const int gpus : kCollectiveGpus) one->Arg(gpus);
      one->Unit(benchmark::kMillisecond)->Complexity();
    }
  }
  return true;
}();

}  // namespace
}  // namespace zerosim
