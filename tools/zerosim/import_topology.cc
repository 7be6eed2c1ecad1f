#include "tools/zerosim/import_topology.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "models/topology_files/gpu_kinds.h"
#include "models/topology_files/import_topology.h"

namespace zerosim {
namespace {

struct TopologyOptions {
  std::string file;
  std::string gpu;
  bool graph = false;
};

void Print(const std::string& file, const ImportedTopology& imported) {
  fmt::print("# From {}.\n", file);
  for (const std::string& warning : imported.warnings) fmt::print("# {}\n", warning);
  for (const std::string& note : imported.notes) fmt::print("# {}\n", note);
  fmt::print("{}", imported.yaml);
}

}  // namespace

std::function<bool()> AddTopologies(CLI::App* import) {
  const auto options = std::make_shared<TopologyOptions>();
  std::vector<std::pair<CLI::App*, TopologyFormat>> formats;
  const auto add = [&](const std::string& name, TopologyFormat format, const std::string& what,
                       const std::string& file) {
    CLI::App* app = import->add_subcommand(name, what);
    app->add_option("FILE", options->file, file)->required()->check(FilePath());
    formats.emplace_back(app, format);
    return app;
  };
  const auto add_node = [&](CLI::App* app) {
    app->add_option("--gpu", options->gpu, "The GPU, a file in scenarios/hardware/gpus")
        ->type_name("NAME")
        ->check(OneOf(GpuNames()));
    app->add_flag("--graph", options->graph,
                  "Write all links, also where cluster.node.in_node has a word for them");
  };
  add_node(add("nccl-topo", TopologyFormat::kNccl, "The node of a NCCL or RCCL topology file",
               "XML file"));
  add_node(add("nvidia-smi-topo", TopologyFormat::kNvidiaSmi,
               "The node of a matrix that nvidia-smi topo -m printed", "text file"));
  add("slurm-topology", TopologyFormat::kSlurm, "The fabric of Slurm's topology.conf",
      "topology.conf");
  add("simgrid", TopologyFormat::kSimgrid, "The fabric of a SimGrid platform", "XML file");
  return [=] {
    for (const auto& [app, format] : formats) {
      if (!app->parsed()) continue;
      const NodeForm form = options->graph ? NodeForm::kGraph : NodeForm::kNamedIfPossible;
      Print(options->file, ImportTopology(format, options->file, options->gpu, form, DiskFiles()));
      return true;
    }
    return false;
  };
}

}  // namespace zerosim
