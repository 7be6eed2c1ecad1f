// The table of keys, written for editors and for readers.
#pragma once

#include <string>

namespace zerosim {

// scenarios/scenario.schema.json: JSON Schema draft-07. It knows keys, types, ranges and choices.
// It requires no key, because an included file or a base may give it.
std::string SchemaJson();

// The part "Keys" of scenarios/README.md: one table a section.
std::string KeysMarkdown();

}  // namespace zerosim
