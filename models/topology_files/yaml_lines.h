// Lines of block YAML with comments in one column.
#pragma once

#include <string>
#include <string_view>

#include "models/core/units.h"

namespace zerosim {

class YamlLines {
 public:
  void Add(int indent, std::string_view text, std::string_view comment = "");
  std::string Take();

 private:
  std::string text_;
};

// "47.5 GB/s", with six digits, as a scenario has it.
std::string RateText(BytesPerSecond rate);
// "400 Gbps".
std::string LineRateText(BytesPerSecond rate);
// "0.5 us".
std::string DurationText(Seconds time);

}  // namespace zerosim
