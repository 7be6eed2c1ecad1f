// The collectives of a ZeRO step: their names in reports, their groups and their communicators.
#pragma once

#include <string>

#include "models/program/program_writer.h"
#include "models/scenario/scenario.h"

namespace zerosim {

// Adds each kind the first time that a call of it is made, so that a report lists only what ran.
class CollectiveKinds {
 public:
  // `world` ranks, `local` of them a node; `secondary` ranks of an hpZ group.
  CollectiveKinds(int world, int local, int secondary)
      : world_(world), local_(local), secondary_(secondary) {}

  ProcessGroup GroupOf(Communicator communicator) const;
  int Kind(const std::string& name, CollectiveOp op, Communicator communicator,
           ProgramWriter* writer);

 private:
  int world_;
  int local_;
  int secondary_;
};

}  // namespace zerosim
