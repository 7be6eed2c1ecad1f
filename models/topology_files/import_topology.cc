#include "models/topology_files/import_topology.h"

#include <stdexcept>
#include <utility>

#include "models/scenario/document.h"
#include "models/topology_files/fabric_yaml.h"
#include "models/topology_files/gpu_kinds.h"
#include "models/topology_files/nccl_topology.h"
#include "models/topology_files/nvidia_smi_topology.h"
#include "models/topology_files/simgrid_platform.h"
#include "models/topology_files/slurm_topology.h"

namespace zerosim {

ImportedTopology ImportTopology(TopologyFormat format, const std::string& path,
                                const std::string& gpu, NodeForm form, const Files& files) {
  const CatalogGpu* kind = gpu.empty() ? nullptr : GpuNamed(gpu);
  if (!gpu.empty() && kind == nullptr) throw std::invalid_argument("unknown GPU " + gpu);
  Problems problems;
  const Files::Content content = files.Read(path);
  if (!content.text) throw ScenarioError({{{path, 0, 0}, content.problem}}, {});
  problems.AddSource(path, *content.text);
  ImportedTopology imported;
  const std::string& text = *content.text;
  switch (format) {
    case TopologyFormat::kNccl:
      if (const auto node = ReadNcclTopology(text, path, kind, &problems)) {
        imported.yaml = NodeYaml(*node, form);
      }
      break;
    case TopologyFormat::kNvidiaSmi:
      if (const auto node = ReadNvidiaSmiTopology(text, path, kind, &problems)) {
        imported.yaml = NodeYaml(*node, form);
      }
      break;
    case TopologyFormat::kSlurm:
      if (const auto fabric = ReadSlurmTopology(text, path, &problems)) {
        imported.yaml = FabricYaml(*fabric);
      }
      break;
    case TopologyFormat::kSimgrid:
      if (const auto fabric = ReadSimgridPlatform(text, path, &problems)) {
        imported.yaml = FabricYaml(*fabric);
      }
      break;
  }
  problems.ThrowIfAny();
  imported.warnings = problems.Warnings();
  imported.notes = problems.Notes();
  return imported;
}

}  // namespace zerosim
