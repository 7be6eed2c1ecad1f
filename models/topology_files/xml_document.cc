#include "models/topology_files/xml_document.h"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>
#include <pugixml.hpp>

#include "models/core/units_text.h"
#include "models/topology_files/source_lines.h"

namespace zerosim {
namespace {

// Copies pugixml's tree, which knows bytes and not places.
class Copier {
 public:
  Copier(const SourceLines& lines, Problems* problems) : lines_(lines), problems_(problems) {}

  // `depth` of the root is 1. Returns false after reporting that the tree is too deep.
  bool Copy(const pugi::xml_node& node, int depth, XmlElement* element) {
    const auto byte = static_cast<std::size_t>(std::max<std::ptrdiff_t>(node.offset_debug(), 1));
    element->where = lines_.At(byte - 1);
    element->name = node.name();
    if (depth > kMaxDepth) {
      problems_->Add(element->where, fmt::format("nested deeper than {} levels", kMaxDepth));
      return false;
    }
    for (const pugi::xml_attribute& attribute : node.attributes()) {
      if (element->Find(attribute.name())) {
        problems_->Add(element->where, fmt::format("<{}>: the attribute {} is given twice",
                                                   Plain(element->name), Plain(attribute.name())));
        continue;
      }
      element->attributes.emplace_back(attribute.name(), attribute.value());
    }
    for (const pugi::xml_node& child : node.children()) {
      if (child.type() != pugi::node_element) continue;
      if (!Copy(child, depth + 1, &element->children.emplace_back())) return false;
    }
    return true;
  }

 private:
  const SourceLines& lines_;
  Problems* const problems_;
};

}  // namespace

std::optional<std::string_view> XmlElement::Find(std::string_view attribute) const {
  const auto found =
      std::ranges::find(attributes, attribute, &std::pair<std::string, std::string>::first);
  return found == attributes.end() ? std::nullopt : std::optional<std::string_view>(found->second);
}

std::optional<XmlElement> ParseXml(const std::string& text, const std::string& file,
                                   std::string_view root, Problems* problems) {
  const SourceLines lines(text, file);
  if (!CheckTextBytes(text, lines, file, "", problems)) return std::nullopt;
  pugi::xml_document document;
  const pugi::xml_parse_result result =
      document.load_buffer(text.data(), text.size(), pugi::parse_default, pugi::encoding_utf8);
  if (result.status == pugi::status_no_document_element) {
    problems->Add({file, 1, 1}, fmt::format("expected XML that starts with <{}>, got none", root));
    return std::nullopt;
  }
  if (!result) {
    const auto byte = static_cast<std::size_t>(std::max<std::ptrdiff_t>(result.offset, 0));
    problems->Add(lines.At(std::min(byte, text.size())),
                  fmt::format("expected XML; {}", result.description()));
    return std::nullopt;
  }
  XmlElement element;
  Copier copier(lines, problems);
  for (const pugi::xml_node& child : document.children()) {
    if (child.type() != pugi::node_element) continue;
    if (element.name.empty()) {
      if (!copier.Copy(child, 1, &element)) return std::nullopt;
      continue;
    }
    XmlElement second;
    if (copier.Copy(child, 1, &second)) {
      problems->Add(second.where, fmt::format("expected one <{}>, got a second element", root));
    }
    return std::nullopt;
  }
  if (element.name != root) {
    problems->Add(element.where, fmt::format("expected <{}>, got <{}>", root, Plain(element.name)));
    return std::nullopt;
  }
  return element;
}

std::optional<int> IntegerAttribute(const XmlElement& element, std::string_view attribute, int low,
                                    int high, Problems* problems) {
  const auto text = element.Find(attribute);
  if (!text || text->empty()) return std::nullopt;
  const auto value = ParseInteger(*text);
  if (value && *value >= low && *value <= high) return static_cast<int>(*value);
  problems->Add(element.where,
                fmt::format("<{}>: {}: expected a whole number from {} to {}, got {}", element.name,
                            attribute, low, high, Quoted(*text)));
  return std::nullopt;
}

}  // namespace zerosim
