// Predictions of models/nccl against logs of nccl-tests.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/core/units.h"
#include "models/nccl/physical_time.h"
#include "validate/nccl_clusters.h"
#include "validate/nccl_tests_log.h"

namespace zerosim {

// One row of a log. Measured is the faster of the two placements: single runs have spikes.
struct NcclPoint {
  const NcclCluster* cluster = nullptr;
  const NcclRun* run = nullptr;
  Bytes size;
  Seconds measured;
  NcclTime predicted;

  double error() const { return Ratio(predicted.total(), measured) - 1; }
};

// A choice that NCCL logged, beside ours.
struct NcclChoicePoint {
  const NcclRun* run = nullptr;
  NcclLoggedChoice logged;
  std::optional<NcclChoice> chosen;

  bool agrees() const;
};

struct NcclComparison {
  std::vector<NcclPoint> points;
  std::vector<NcclChoicePoint> choices;
};

// Appends the rows of a run's log. Rows of size 0 and of times that print as 0 are left out. One
// rank sends nothing and is left out too.
void CompareLog(const NcclCluster& cluster, const NcclRun& run, const NcclTestsLog& log,
                NcclComparison* comparison);

// Sizes that behave alike: below 4 KiB, 256 KiB, 8 MiB, 256 MiB, and above.
constexpr std::size_t kSizeClasses = 5;
constexpr std::array<std::string_view, kSizeClasses> kSizeClassNames{
    "< 4 KiB", "< 256 KiB", "< 8 MiB", "< 256 MiB", ">= 256 MiB"};
std::size_t SizeClassOf(Bytes size);

}  // namespace zerosim
