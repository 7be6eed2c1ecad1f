// Any bytes as a file that describes a machine: it is read, into YAML that can be read, or refused
// with a ScenarioError. Whatever else happens (a crash, another exception, a hang) is a fault.
//
// The first byte chooses the format: '@' and 'A' NCCL, 'B' and 'C' nvidia-smi, the first of each as
// a graph; 'D' Slurm, 'F' SimGrid. The rest is the file.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <string>

#include "models/core/diagnostics.h"
#include "models/scenario/document.h"
#include "models/topology_files/import_topology.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string text(reinterpret_cast<const char*>(data + 1), size - 1);
  const zerosim::NodeForm form =
      data[0] % 2 == 0 ? zerosim::NodeForm::kGraph : zerosim::NodeForm::kNamedIfPossible;
  const zerosim::TopologyFormat formats[] = {
      zerosim::TopologyFormat::kNccl, zerosim::TopologyFormat::kNvidiaSmi,
      zerosim::TopologyFormat::kSlurm, zerosim::TopologyFormat::kSimgrid};
  try {
    const zerosim::ImportedTopology imported =
        zerosim::ImportTopology(formats[data[0] / 2 % std::size(formats)], "t", "", form,
                                zerosim::MemoryFiles({{"t", text}}));
    zerosim::Problems problems;
    zerosim::ParseDocument(imported.yaml, "t.yaml", &problems);
    if (problems.has_errors() && imported.yaml.size() <= zerosim::kMaxFileBytes) std::abort();
  } catch (const zerosim::ScenarioError&) {
  }
  return 0;
}
