// The inputs of a scenario in a form to be hashed.
#pragma once

#include <string>

#include "models/scenario/document.h"

namespace zerosim {

// The tree as text that depends neither on layout nor on the order of keys: "a.b = \"value\"", one
// line a value, sorted. Two scenarios with the same text ask the same question.
std::string CanonicalText(const Node& root);

}  // namespace zerosim
