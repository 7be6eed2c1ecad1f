// Sections of a scenario as the YAML that a user would write.
#pragma once

#include <string>

#include "models/scenario/document.h"

namespace zerosim {

// `sections`, a map, as block YAML that reads back as the same tree, but for places.
std::string SectionsYaml(const Node& sections);

}  // namespace zerosim
