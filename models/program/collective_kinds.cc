#include "models/program/collective_kinds.h"

#include <cstddef>

namespace zerosim {

ProcessGroup CollectiveKinds::GroupOf(Communicator communicator) const {
  switch (communicator) {
    case Communicator::kShard:
      return groups_.shard;
    case Communicator::kData:
      return groups_.data;
    case Communicator::kReplicas:
      return groups_.replicas;
    case Communicator::kSecondary:
      return groups_.secondary;
    case Communicator::kNode:
      return groups_.in_node;
    case Communicator::kAcrossNodes:
      return groups_.across;
    case Communicator::kTensor:
      return groups_.tensor;
    case Communicator::kContext:
      return groups_.context;
    case Communicator::kExpert:
      return groups_.expert;
    case Communicator::kExpertData:
      return groups_.expert_data;
    case Communicator::kNextStage:
    case Communicator::kPreviousStage:
    case Communicator::kTiedStages:
      return groups_.pipeline;
    case Communicator::kToHost:
    case Communicator::kFromHost:
      return {};
  }
  return groups_.shard;
}

std::string CollectiveKinds::NameOf(Communicator communicator) const {
  switch (communicator) {
    case Communicator::kShard:
    case Communicator::kData: {
      const ProcessGroup group = GroupOf(communicator);
      if (group.size == world_) return "world";
      return group == groups_.data ? "data" : "shard";
    }
    case Communicator::kReplicas:
      return "replicas";
    case Communicator::kSecondary:
      return "secondary";
    case Communicator::kNode:
      return "node";
    case Communicator::kAcrossNodes:
      return "across_nodes";
    case Communicator::kTensor:
      return "tensor";
    case Communicator::kContext:
      return "context";
    case Communicator::kExpert:
      return "expert";
    case Communicator::kExpertData:
      return "expert_data";
    case Communicator::kNextStage:
    case Communicator::kPreviousStage:
    case Communicator::kTiedStages:
      return "pipeline";
    case Communicator::kToHost:
    case Communicator::kFromHost:
      return "host";
  }
  return "?";
}

int CollectiveKinds::Kind(const std::string& name, CollectiveOp op, Communicator communicator,
                          ProgramWriter* writer) {
  const ProcessGroup group = GroupOf(communicator);
  const std::string group_name = NameOf(communicator);
  const auto& kinds = writer->program().kinds;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    if (kinds[i].name == name && kinds[i].op == op && kinds[i].group_name == group_name) {
      return static_cast<int>(i);
    }
  }
  return writer->AddKind({name, op, group, group_name, 0, 0});
}

int CollectiveKinds::SendKind(const std::string& name, int from, int to,
                              ProgramWriter* writer) const {
  const auto& kinds = writer->program().kinds;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    if (kinds[i].name == name && kinds[i].from_class == from && kinds[i].to_class == to) {
      return static_cast<int>(i);
    }
  }
  return writer->AddKind({name, CollectiveOp::kSend, groups_.pipeline, "pipeline", from, to});
}

}  // namespace zerosim
