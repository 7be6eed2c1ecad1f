// Which operations of a program may start once others are done.
#pragma once

#include <cstddef>
#include <vector>

#include "models/program/step_program.h"

namespace zerosim {

// The successors of every operation, computed once a program.
class Successors {
 public:
  explicit Successors(const StepProgram& program);

  // Operations without dependencies, in the order of launch.
  const std::vector<int>& roots() const { return roots_; }
  int num_deps(int op) const { return num_deps_[op]; }
  const int* begin(int op) const { return targets_.data() + offsets_[op]; }
  const int* end(int op) const { return targets_.data() + offsets_[op + 1]; }
  int num_ops() const { return static_cast<int>(num_deps_.size()); }

 private:
  std::vector<int> roots_;
  std::vector<int> num_deps_;
  std::vector<std::size_t> offsets_;
  std::vector<int> targets_;
};

// What one rank still waits for.
class Dependencies {
 public:
  explicit Dependencies(const Successors& successors);

  // Calls start(op) for each operation that waited for `done` alone.
  template <typename Start>
  void Complete(int done, Start start) {
    for (const int* op = successors_->begin(done); op != successors_->end(done); ++op) {
      if (--missing_[*op] == 0) start(*op);
    }
  }

 private:
  const Successors* successors_;
  std::vector<int> missing_;
};

}  // namespace zerosim
