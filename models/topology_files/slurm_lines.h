// The lines of a Slurm configuration as keys and values with their places.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "models/core/diagnostics.h"
#include "models/scenario/document.h"

namespace zerosim {

struct SlurmValue {
  std::string key;  // in lower case, as Slurm compares keys without it
  std::string value;
  Location where;  // of the value
};

// The lines that hold keys, with comments after # gone and lines that end in \ joined. Nothing
// after reporting what is none.
std::vector<std::vector<SlurmValue>> ReadSlurmLines(const std::string& text,
                                                    const std::string& file, Problems* problems);

}  // namespace zerosim
