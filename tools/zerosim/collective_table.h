// The results of zerosim collective as text, CSV and JSON.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "models/network/collective_sweep.h"

namespace zerosim {

// What one run asked, beside its rows.
struct CollectiveAnswer {
  std::string cluster;  // its name
  std::string path;     // the file that it is from
  std::string sha256;   // of the cluster's text
  CollectiveQuestion question;
  std::vector<CollectiveRow> rows;
  std::vector<Seconds> measured;  // of each row, where a log is compared; else empty
};

// The columns of nccl-tests (out of place; size and count as it prints them, time in us, rates in
// GB/s), then algorithm, protocol, channels, the busbw that no algorithm exceeds, and what limits.
// Beside a log also what it measured and the error of the time, and below them the errors summed
// up.
std::string CollectiveTable(const CollectiveAnswer& answer);
std::string CollectiveCsv(const std::vector<CollectiveAnswer>& answers);
nlohmann::ordered_json CollectiveJson(const std::vector<CollectiveAnswer>& answers);

}  // namespace zerosim
