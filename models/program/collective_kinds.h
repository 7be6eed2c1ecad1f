// The collectives of a step: their names in reports, their groups and their communicators.
#pragma once

#include <string>

#include "models/parallel/groups.h"
#include "models/program/program_writer.h"

namespace zerosim {

// Adds each kind the first time that a call of it is made, so that a report lists only what ran.
class CollectiveKinds {
 public:
  // Groups of a job of `world` ranks.
  CollectiveKinds(const ProcessGroups& groups, int world) : groups_(groups), world_(world) {}

  const ProcessGroups& groups() const { return groups_; }
  ProcessGroup GroupOf(Communicator communicator) const;
  int Kind(const std::string& name, CollectiveOp op, Communicator communicator,
           ProgramWriter* writer);

  // Sends from the ranks of stage `from` to those of stage `to`.
  int SendKind(const std::string& name, int from, int to, ProgramWriter* writer) const;

 private:
  std::string NameOf(Communicator communicator) const;

  ProcessGroups groups_;
  int world_;
};

}  // namespace zerosim
