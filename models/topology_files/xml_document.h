// An XML text as a tree in which every element knows its place.
//
// The only user of pugixml, which expands no entities but the five of XML itself and reads no other
// file, so that no text grows. Refused here: more than kMaxFileBytes, nesting deeper than
// kMaxDepth, bytes that are not UTF-8, attributes given twice. Text between elements, comments,
// processing instructions and the document type are skipped.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/core/diagnostics.h"
#include "models/scenario/document.h"

namespace zerosim {

struct XmlElement {
  std::string name;
  Location where;  // of "<"
  std::vector<std::pair<std::string, std::string>> attributes;
  std::vector<XmlElement> children;

  // The value of an attribute, or nothing.
  std::optional<std::string_view> Find(std::string_view attribute) const;
};

// Parses `text`, whose problems are reported at `file`. Returns nothing if it cannot be read at all
// or its root is not `root`.
std::optional<XmlElement> ParseXml(const std::string& text, const std::string& file,
                                   std::string_view root, Problems* problems);

// The attribute as a whole number from `low` to `high`; reports another one. Nothing if the element
// lacks it or it is empty.
std::optional<int> IntegerAttribute(const XmlElement& element, std::string_view attribute, int low,
                                    int high, Problems* problems);

}  // namespace zerosim
