#include "models/program/collective_kinds.h"

#include <array>
#include <cstddef>

namespace zerosim {

ProcessGroup CollectiveKinds::GroupOf(Communicator communicator) const {
  switch (communicator) {
    case Communicator::kSecondary:
      return {secondary_, 1};
    case Communicator::kNode:
      return {local_, 1};
    case Communicator::kAcrossNodes:
      return {world_ / local_, local_};
    case Communicator::kWorld:
      break;
  }
  return {world_, 1};
}

int CollectiveKinds::Kind(const std::string& name, CollectiveOp op, Communicator communicator,
                          ProgramWriter* writer) {
  const std::array<const char*, kNumCommunicators> names = {"world", "secondary", "node",
                                                            "across_nodes"};
  const ProcessGroup group = GroupOf(communicator);
  const std::string group_name = names[static_cast<std::size_t>(communicator)];
  const auto& kinds = writer->program().kinds;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    if (kinds[i].name == name && kinds[i].op == op && kinds[i].group_name == group_name) {
      return static_cast<int>(i);
    }
  }
  return writer->AddKind({name, op, group, group_name});
}

}  // namespace zerosim
