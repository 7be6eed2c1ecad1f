// Lines of the planted kernels, by the marks in their sources.
#pragma once

#include <string>

namespace zerosim::kernels {

// Returns "file:line" of the only line of tests/kernels/executor/<file> that holds "// <mark>";
// fails the test if there is no such line.
std::string PlaceOf(const std::string& file, const std::string& mark);

}  // namespace zerosim::kernels
