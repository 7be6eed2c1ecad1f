#include "models/frameworks/model_size.h"

#include <stdexcept>

#include <fmt/format.h>

#include "models/scenario/read_sections.h"
#include "models/transformer/transformer.h"

namespace zerosim {
namespace {

// As the validation of a scenario has it: beyond any model, and far below what overflows.
constexpr double kMostParameters = 1e14;

}  // namespace

ModelSize ModelSizeOf(const Node& root, Problems* problems) {
  const std::size_t before = problems->error_count();
  SectionReader top(root, problems);
  const TransformerSpec spec = ReadModel(top.Section("model"));
  if (problems->error_count() > before) return {};
  const double about = ApproximateParameters(spec);
  if (about > kMostParameters) {
    problems->Add(root.where, fmt::format("model: about {:.2g} parameters; expected at most {:.2g}",
                                          about, kMostParameters));
    return {};
  }
  try {
    const ModelLayout layout = Layout(spec);
    return {.parameters = layout.parameters(), .active_parameters = layout.active_parameters()};
  } catch (const std::invalid_argument& e) {
    problems->Add(root.where, fmt::format("model: {}", e.what()));
    return {};
  }
}

}  // namespace zerosim
