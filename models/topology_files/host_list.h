// Names as Slurm writes many of them: "node[001-004,007],login", "rack[0-1]n[0-3]".
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zerosim {

// Why a list cannot be read: "expected ...", at a byte of it.
struct HostListProblem {
  std::size_t byte = 0;
  std::string what;
};

// Appends the names to `names`, with the zeros that a range is written with, or returns why that
// cannot be done. At most `most` names in all.
std::optional<HostListProblem> ExpandHostList(std::string_view list, std::size_t most,
                                              std::vector<std::string>* names);

}  // namespace zerosim
