// A JSON text as the tree that a scenario is read from, so that every value knows its place.
//
// JSON is a subset of YAML's flow style, so ParseDocument (models/scenario/document.h) reads it,
// with its limits on size, depth and bytes. What JSON has and a scenario may not have is allowed
// here: tabs between values. As in the hjson that DeepSpeed reads with, comments after # and a
// comma after the last item do no harm.
#pragma once

#include <optional>
#include <string>

#include "models/scenario/document.h"

namespace zerosim {

// Parses `text`, one JSON object, whose problems are reported at `file`. Returns nothing if it
// cannot be read at all.
std::optional<Node> ParseJsonDocument(const std::string& text, const std::string& file,
                                      Problems* problems);

}  // namespace zerosim
