// What FSDP gathers as one, and when it runs: the units of a model and their spans of a trace.
#pragma once

#include <cstdint>
#include <vector>

#include "models/program/trace.h"
#include "models/scenario/scenario.h"
#include "models/transformer/transformer.h"

namespace zerosim {

// Weights of a unit that the same ranks share.
struct FsdpPiece {
  std::int64_t elements = 0;
  std::int64_t trainable = 0;  // of them
  std::int64_t quantized = 0;  // of them, frozen and kept in the unit's `bits`
};

struct FsdpUnit {
  FsdpPiece dense;
  FsdpPiece experts;  // that expert parallelism divides; all others are dense
  int bits = 16;      // of frozen weights that are quantised
  bool root = false;  // holds what lies outside of all units: never released in a step

  std::int64_t elements() const { return dense.elements + experts.elements; }
  std::int64_t trainable() const { return dense.trainable + experts.trainable; }
};

// Visits of one pass that belong to one unit: [first, last].
struct FsdpSpan {
  int unit = 0;
  int first = 0;
  int last = 0;
  bool backward = false;
};

class FsdpSpans {
 public:
  // Requires scenario.fsdp. The trace must outlive it.
  FsdpSpans(const Scenario& scenario, const ModelLayout& layout, const std::vector<Visit>& trace);

  const std::vector<FsdpUnit>& units() const { return units_; }
  int UnitOf(int visit) const { return unit_of_visit_[visit]; }
  const FsdpSpan& operator[](int span) const { return spans_[span]; }
  // The span that a visit starts or ends; -1 if it is inside of one.
  int From(int visit) const;
  int To(int visit) const;
  // Whether the span after `span` runs right after it: in a pipeline another stage may come
  // between.
  bool Follows(int span) const;
  // Whether a later span is of the same unit.
  bool Again(int span) const;

 private:
  void FindUnits(const Scenario& scenario, const ModelLayout& layout);
  void FindSpans();

  const std::vector<Visit>* trace_;
  std::vector<FsdpUnit> units_;
  std::vector<int> unit_of_visit_;
  std::vector<FsdpSpan> spans_;
};

}  // namespace zerosim
