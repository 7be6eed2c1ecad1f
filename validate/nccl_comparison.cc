#include "validate/nccl_comparison.h"

#include <algorithm>

namespace zerosim {
namespace {

constexpr std::array<std::int64_t, kSizeClasses - 1> kEnds{4'096, 262'144, 8'388'608, 268'435'456};

}  // namespace

bool NcclChoicePoint::agrees() const {
  return chosen && chosen->algorithm == logged.algorithm && chosen->protocol == logged.protocol &&
         (!logged.channels || chosen->channels == *logged.channels);
}

void CompareLog(const NcclCluster& cluster, const NcclRun& run, const NcclTestsLog& log,
                NcclComparison* comparison) {
  if (run.group.ranks() == 1) return;
  const NcclCommunicator communicator =
      MakeCommunicator(cluster.topology, run.group, run.version, run.overrides);
  const NcclAchieved achieved = AchievedOn(cluster.topology);
  for (const NcclTestsRow& row : log.rows) {
    if (row.size == Bytes()) continue;
    const Seconds out = row.out_of_place ? row.out_of_place->time : row.in_place->time;
    const Seconds in = row.in_place ? row.in_place->time : out;
    const Seconds measured = std::min(out, in);
    if (measured == Seconds()) continue;
    const NcclCall call{run.collective, row.size, log.gpus_per_process.value_or(1)};
    if (const auto time = TimeOf(communicator, call, achieved)) {
      comparison->points.push_back({&cluster, &run, row.size, measured, *time});
    }
  }
  for (const NcclLoggedChoice& logged : log.choices) {
    comparison->choices.push_back(
        {&run, logged, Choose(communicator, logged.collective, logged.size)});
  }
}

std::size_t SizeClassOf(Bytes size) {
  const auto* const end = std::ranges::upper_bound(kEnds, size.count());
  return static_cast<std::size_t>(end - kEnds.begin());
}

}  // namespace zerosim
