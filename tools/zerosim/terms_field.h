// The words of the field, in two lists of alphabetical order that FieldTerms() (terms.h) merges.
#pragma once

#include <span>

#include "tools/zerosim/terms.h"

namespace zerosim {

std::span<const Term> NetworkTerms();
std::span<const Term> TrainingTerms();

}  // namespace zerosim
