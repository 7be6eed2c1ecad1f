// One tree of sections put over another.
#pragma once

#include <string_view>

#include "models/scenario/document.h"

namespace zerosim {

// {base: name} for a name of the catalog, so that keys can be put beside it; {} for true. `path` is
// that of the value in a scenario.
void MakeSection(Node* node, std::string_view path);

// Puts the keys of `over` over those of `*base`, section by section. `path` is theirs in a
// scenario.
void Merge(Node* base, Node over, std::string_view path);

}  // namespace zerosim
