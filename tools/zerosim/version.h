#pragma once

#include <string_view>

namespace zerosim {

// "0.1.0", or "0.1.0 (1a2b3c4)" with the commit if it was built in a git checkout.
std::string_view Version();

}  // namespace zerosim
