// The sections of a scenario, each from its reader to its value. What they report goes to the
// reader's problems; a value with a problem keeps its default.
#pragma once

#include <optional>
#include <vector>

#include "models/scenario/scenario.h"
#include "models/scenario/section_reader.h"

namespace zerosim {

ClusterSpec ReadCluster(SectionReader section);
// A node that names the rate of its NICs gives the defaults.
FabricSpec ReadFabric(SectionReader section, const NodeSpec& node);
// The items of cluster.exceptions.
std::vector<NodeException> ReadExceptions(SectionReader* cluster);
TransformerSpec ReadModel(SectionReader section);
// What is trained of `*model` is written to it.
TrainingSpec ReadTraining(SectionReader section, TransformerSpec* model);
// MixZ++ makes the frozen weights of `*model` 8 bits wide.
ZeroConfig ReadZero(SectionReader section, int gpus_per_node, TransformerSpec* model);
// Empty unless the section is `given`.
std::optional<FsdpConfig> ReadFsdp(SectionReader section, bool given, int gpus_per_node);
ComputeSpec ReadCompute(SectionReader section);
ParallelSpec ReadParallelism(SectionReader section);

}  // namespace zerosim
