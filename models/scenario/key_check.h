// What checks between keys of a scenario have in common. Each first asks for the keys that it
// needs: the values of others may be anything.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "models/scenario/document.h"
#include "models/scenario/places.h"
#include "models/scenario/scenario.h"

namespace zerosim {

class KeyCheck {
 public:
  KeyCheck(const Node& root, Scenario* scenario, Problems* problems)
      : places_(root), s_(*scenario), problems_(problems) {}

 protected:
  // Whether the values of those keys are what was meant.
  bool Know(std::initializer_list<std::string_view> paths) const;
  bool KnowRanks() const;
  bool KnowParallelism() const;
  bool KnowPositions() const;  // max_positions, which may come from the sequence

  // At the value of `path`.
  void Report(std::string_view path, const std::string& what);
  std::string Mention(std::string_view path, std::string_view from) const;

  std::int64_t Ranks() const;
  std::int64_t ModelRanks() const;
  std::int64_t SampleRanks() const { return Ranks() / ModelRanks(); }
  std::int64_t DataRanks() const { return SampleRanks() * s_.parallel.context; }

  static constexpr std::int64_t kMostRanks = 16'777'216;

  const Places places_;
  Scenario& s_;
  Problems* const problems_;
};

// The machine: its size, and whether its links make a network.
void CheckCluster(const Node& root, Scenario* scenario, Problems* problems);
// Sizes of the model and the batch.
void CheckSizes(const Node& root, Scenario* scenario, Problems* problems);
// What the ranks divide, and the groups that they form.
void CheckGroups(const Node& root, Scenario* scenario, Problems* problems);

}  // namespace zerosim
