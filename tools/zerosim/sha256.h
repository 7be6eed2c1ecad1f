#pragma once

#include <string>
#include <string_view>

namespace zerosim {

// The SHA-256 of `text` in 64 lower-case hexadecimal digits.
std::string Sha256Hex(std::string_view text);

}  // namespace zerosim
