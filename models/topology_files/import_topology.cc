#include "models/topology_files/import_topology.h"

#include <optional>
#include <stdexcept>
#include <utility>

#include "models/scenario/document.h"
#include "models/topology_files/gpu_kinds.h"
#include "models/topology_files/nccl_topology.h"
#include "models/topology_files/nvidia_smi_topology.h"

namespace zerosim {

ImportedTopology ImportTopology(TopologyFormat format, const std::string& path,
                                const std::string& gpu, NodeForm form, const Files& files) {
  const GpuKind* kind = gpu.empty() ? nullptr : GpuNamed(gpu);
  if (!gpu.empty() && kind == nullptr) throw std::invalid_argument("unknown GPU " + gpu);
  Problems problems;
  const Files::Content content = files.Read(path);
  if (!content.text) throw ScenarioError({{{path, 0, 0}, content.problem}}, {});
  problems.AddSource(path, *content.text);
  ImportedTopology imported;
  const std::optional<NodeTopology> node =
      format == TopologyFormat::kNccl ? ReadNcclTopology(*content.text, path, kind, &problems)
                                      : ReadNvidiaSmiTopology(*content.text, path, kind, &problems);
  problems.ThrowIfAny();
  imported.yaml = NodeYaml(node.value(), form);
  imported.warnings = problems.Warnings();
  imported.notes = problems.Notes();
  return imported;
}

}  // namespace zerosim
