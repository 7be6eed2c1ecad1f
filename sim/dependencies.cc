#include "sim/dependencies.h"

namespace zerosim {

Successors::Successors(const StepProgram& program)
    : num_deps_(program.ops.size()), offsets_(program.ops.size() + 1, 0) {
  for (std::size_t i = 0; i < program.ops.size(); ++i) {
    const std::vector<OpId>& deps = program.ops[i].deps;
    num_deps_[i] = static_cast<int>(deps.size());
    if (deps.empty()) roots_.push_back(static_cast<int>(i));
    for (const OpId dep : deps) ++offsets_[static_cast<std::size_t>(dep.value) + 1];
  }
  for (std::size_t i = 1; i < offsets_.size(); ++i) offsets_[i] += offsets_[i - 1];
  targets_.resize(offsets_.back());
  std::vector<std::size_t> next(offsets_.begin(), offsets_.end() - 1);
  for (std::size_t i = 0; i < program.ops.size(); ++i) {
    for (const OpId dep : program.ops[i].deps) targets_[next[dep.value]++] = static_cast<int>(i);
  }
}

Dependencies::Dependencies(const Successors& successors) : successors_(&successors) {
  missing_.reserve(static_cast<std::size_t>(successors.num_ops()));
  for (int op = 0; op < successors.num_ops(); ++op) missing_.push_back(successors.num_deps(op));
}

}  // namespace zerosim
