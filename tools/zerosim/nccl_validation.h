// What `zerosim validate-nccl` prints.
#pragma once

#include <string>
#include <vector>

#include "validate/nccl_comparison.h"

namespace zerosim {

// A table of errors by cluster and number of nodes, then by fabric, each with medians by size, and
// NCCL's logged choices. `all` adds every row.
std::string NcclValidationText(const NcclComparison& comparison, bool all);

// What summaries put a row under: the fabric of several nodes, or the GPU of one ("one node,
// H100").
std::string NcclSummaryClass(const NcclPoint& point);

}  // namespace zerosim
