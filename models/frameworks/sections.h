// Small operations on sections of a scenario in the making.
#pragma once

#include <string>
#include <string_view>

#include "models/scenario/document.h"

namespace zerosim {

Node TextNode(std::string text, Location where);
Node MapNode(Location where);

// Puts `key` with `text` at the end of `section`.
void PutText(Node* section, std::string_view key, std::string text, const Entry& from);

// The value at "training.micro_batch_size" below `root`, or null. `root` may be null.
const Node* FindPath(const Node* root, std::string_view path);

// The place of that value (of a section, its key), or of the nearest section around it that is
// given.
Location PlaceOf(const Node& root, std::string_view path);

// Puts the keys of `base` into `section` where it has none of its own, section by section.
void FillIn(Node* section, Node base);

}  // namespace zerosim
