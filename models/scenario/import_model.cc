#include "models/scenario/import_model.h"

#include <optional>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "models/frameworks/huggingface.h"
#include "models/scenario/document.h"
#include "models/scenario/read_sections.h"
#include "models/transformer/transformer.h"

namespace zerosim {
namespace {

// As the validation of a scenario has it: beyond any model, and far below what overflows.
constexpr double kMostParameters = 1e14;

// Text that YAML reads back as it is.
std::string Scalar(const std::string& text) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./";
  const bool plain = !text.empty() && text.find_first_not_of(kPlain) == std::string::npos &&
                     text.front() != '-' && text != "null" && text != "~";
  if (plain) return text;
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
  return out + '"';
}

void Write(const Node& section, int indent, std::string* out) {
  for (const Entry& entry : section.entries) {
    *out += fmt::format("{:{}}{}:", "", indent, entry.key);
    if (entry.value.is_map()) {
      *out += '\n';
      Write(entry.value, indent + 2, out);
    } else {
      *out += ' ' + Scalar(entry.value.text) + '\n';
    }
  }
}

}  // namespace

ImportedModel ImportHuggingFace(const std::string& text, const std::string& file) {
  Problems problems;
  problems.AddSource(file, text);
  const std::optional<Node> config = ParseDocument(text, file, &problems, Syntax::kJson);
  std::optional<Node> section;
  if (config) section = ModelOfHuggingFace(*config, file, &problems);
  problems.ThrowIfAny();

  Node root;
  root.kind = Node::Kind::kMap;
  root.where = {file, 1, 1};
  root.entries.push_back({"model", root.where, std::move(*section)});
  ImportedModel imported;
  Write(root, 0, &imported.yaml);
  SectionReader top(root, &problems);
  const TransformerSpec spec = ReadModel(top.Section("model"));
  problems.ThrowIfAny();
  try {
    if (ApproximateParameters(spec) > kMostParameters) {
      throw std::invalid_argument(fmt::format("about {:.2g} parameters; expected at most {:.2g}",
                                              ApproximateParameters(spec), kMostParameters));
    }
    const ModelLayout layout = Layout(spec);
    imported.parameters = layout.parameters();
    imported.active_parameters = layout.active_parameters();
  } catch (const std::invalid_argument& e) {
    problems.Add(root.where, std::string("model: ") + e.what());
  }
  problems.ThrowIfAny();
  imported.warnings = problems.Warnings();
  return imported;
}

}  // namespace zerosim
