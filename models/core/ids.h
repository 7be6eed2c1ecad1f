// Small integers that must not be mixed up.
#pragma once

#include <compare>

namespace zerosim {

// A process of the job, 0 <= value < world size. One rank drives one GPU.
struct Rank {
  int value = 0;
  friend constexpr auto operator<=>(Rank, Rank) = default;
};

// An operation of a step program: its place in StepProgram::ops.
struct OpId {
  int value = -1;
  friend constexpr auto operator<=>(OpId, OpId) = default;
};

// A collective of a step program: its place in StepProgram::calls.
struct CallId {
  int value = -1;
  friend constexpr auto operator<=>(CallId, CallId) = default;
};

// A class of links that carry the same load: its place in NetworkModel::links.
struct LinkId {
  int value = -1;
  friend constexpr auto operator<=>(LinkId, LinkId) = default;
};

}  // namespace zerosim
